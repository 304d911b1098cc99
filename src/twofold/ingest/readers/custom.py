"""Readers of the user's own, by suffix or media type, tried before the built-in ones, in the same limited process.

A reading process is a fresh interpreter, so a reader must be a function that it can import: `module:function`.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any, cast

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, ReadError
from twofold.ingest.readers.types import Extract, Reader, Source

HINT = "Define it with `def` at the top of a module that can be imported."


@dataclass(frozen=True, slots=True)
class CustomReader:
    """A reader of the user's own: `read` takes the files that end in one of `suffixes`, or are of `media_type`.

    `media_type` is also what its documents are said to be. Suffixes are in small letters, with their dot: `.log`.
    """

    read: Reader
    media_type: str
    suffixes: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        """Where a new process finds the function: `module:function`. Raises InvalidInputError where it cannot."""
        module, name = getattr(self.read, "__module__", ""), getattr(self.read, "__qualname__", "")
        if module in {"", "__main__"} or not name.replace(".", "").isidentifier():
            raise InvalidInputError(f"The reader {name or self.read!r} cannot be found by another process.", HINT)
        if _found(module, name) is not self.read:
            raise InvalidInputError(f"The reader {module}:{name} is another function than the one given.", HINT)
        return f"{module}:{name}"


def packed(readers: Sequence[CustomReader]) -> list[dict[str, object]]:
    """Write readers as values of JSON, for the command of a reading process. Errors as for `CustomReader.address`."""
    return [
        {"read": one.address, "media_type": one.media_type, "suffixes": [suffix.lower() for suffix in one.suffixes]}
        for one in readers
    ]


def unpacked(held: Sequence[Mapping[str, Any]]) -> tuple[CustomReader, ...]:
    """Import what `packed` wrote; the parent that wrote it is trusted."""
    found = []
    for one in held:
        module, _, name = one["read"].partition(":")
        read = cast("Reader", _found(module, name))
        found.append(CustomReader(read, one["media_type"], tuple(one["suffixes"])))
    return tuple(found)


def reader_by_suffix(readers: Sequence[CustomReader], source: Source) -> CustomReader | None:
    """Return the first reader that takes files with this ending; it sees them before anything looks inside."""
    suffix = PurePosixPath(source.name.replace("\\", "/")).suffix.lower()
    return next((one for one in readers if suffix and suffix in one.suffixes), None)


def reader_by_type(readers: Sequence[CustomReader], media_type: str) -> CustomReader | None:
    """Return the first reader that takes files of this media type."""
    return next((one for one in readers if one.media_type == media_type), None)


def read_custom(reader: CustomReader, source: Source) -> Extract:
    """Read a file by a reader of the user's own. Raises ReadError, of kind `empty` if there is no text in it."""
    extract = reader.read(source)
    if not isinstance(extract, Extract):
        raise ReadError(f"its reader gave a {type(extract).__name__}, no Extract", "Correct the reader.", "crashed")
    if not extract.blocks:
        raise ReadError("there is no text in the file", "There is nothing to find in it.", "empty")
    return extract


def _found(module: str, name: str) -> object:
    found: object = import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
