"""Readers of the user's own, by suffix or media type, tried before the built-in ones, in the same limited process.

A reading process is a fresh interpreter, so a reader must be a function that it can import: `module:function`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
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
    `read` may be a `functools.partial` of strings. One that `is_slow` calls `Source.on_page`, which it is given for
    files of its suffixes, as it goes on, and gets as much time and memory for each call as a picture does.
    """

    read: Reader
    media_type: str
    suffixes: tuple[str, ...] = ()
    is_slow: bool = False

    @property
    def address(self) -> str:
        """Where a new process finds the function: `module:function`. Raises InvalidInputError where it cannot."""
        read: object = self.read.func if isinstance(self.read, partial) else self.read
        module, name = getattr(read, "__module__", ""), getattr(read, "__qualname__", "")
        if module in {"", "__main__"} or not name.replace(".", "").isidentifier():
            raise InvalidInputError(f"The reader {name or read!r} cannot be found by another process.", HINT)
        if _found(module, name) is not read:
            raise InvalidInputError(f"The reader {module}:{name} is another function than the one given.", HINT)
        return f"{module}:{name}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the function is called with before the file. Raises InvalidInputError for what is no text."""
        if not isinstance(self.read, partial):
            return ()
        if self.read.keywords or not all(isinstance(one, str) for one in self.read.args):
            raise InvalidInputError(f"The reader {self.address} is given more than text.", "Give it strings alone.")
        return self.read.args


def packed(readers: Sequence[CustomReader]) -> list[dict[str, object]]:
    """Write readers as values of JSON, for the command of a reading process. Errors as for `CustomReader.address`."""
    return [
        {
            "read": one.address,
            "arguments": one.arguments,
            "media_type": one.media_type,
            "suffixes": [suffix.lower() for suffix in one.suffixes],
            "is_slow": one.is_slow,
        }
        for one in readers
    ]


def unpacked(held: Sequence[Mapping[str, Any]]) -> tuple[CustomReader, ...]:
    """Import what `packed` wrote; the parent that wrote it is trusted."""
    found = []
    for one in held:
        module, _, name = one["read"].partition(":")
        read = cast("Reader", partial(cast("Callable[..., Extract]", _found(module, name)), *one["arguments"]))
        found.append(CustomReader(read, one["media_type"], tuple(one["suffixes"]), one["is_slow"]))
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
        raise ReadError("there is no text in the file", "Leave it out with .twofoldignore.", "empty")
    return extract


def _found(module: str, name: str) -> object:
    found: object = import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
