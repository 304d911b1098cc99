"""Conversations kept in a folder: one small file for each, written whole, named by a hash of what it is called.

A name never becomes a path. What was said is cut to bounds, so that no conversation grows for ever.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from twofold.domain.errors import CorruptError, InvalidInputError, StoreError
from twofold.query.history import Turn
from twofold.stores.local.durable import make_folder, write_durably

LONGEST_NAME = 256  # characters
MOST_TURNS = 200
LONGEST_TURN = 16_000  # characters
_SUFFIX = ".jsonl"


class Sessions:
    """The conversations with one collection. With no folder they are kept in memory alone."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._held: dict[str, tuple[Turn, ...]] = {}

    def turns(self, name: str) -> tuple[Turn, ...]:
        """Give what was said, oldest first; nothing for a conversation that is new.

        Raises InvalidInputError for a name that is none, CorruptError for a file that is none of ours.
        """
        key = _key(name)
        if self._folder is None:
            return self._held.get(key, ())
        path = self._folder / (key + _SUFFIX)
        try:
            return tuple(_read(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise StoreError(f"The conversation {name[:40]!r} cannot be read: {error.strerror}.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptError(f"The conversation {name[:40]!r} is damaged.", "Begin a new one.") from error

    def append(self, name: str, turns: Sequence[Turn]) -> None:
        """Add to a conversation, durable when it returns. Raises StorageFullError or StoreError."""
        kept = (*self.turns(name), *(Turn(one.role, one.text[:LONGEST_TURN]) for one in turns))[-MOST_TURNS:]
        key = _key(name)
        if self._folder is None:
            self._held[key] = kept
            return
        make_folder(self._folder)
        lines = (json.dumps({"role": one.role, "text": one.text}).encode() + b"\n" for one in kept)
        write_durably(self._folder / (key + _SUFFIX), lines)

    def drop(self, name: str) -> None:
        """Delete one conversation; one that is not there is gone already."""
        key = _key(name)
        self._held.pop(key, None)
        if self._folder is not None:
            (self._folder / (key + _SUFFIX)).unlink(missing_ok=True)

    def forget(self) -> None:
        """Delete all conversations with the collection, and their folder."""
        self._held.clear()
        if self._folder is not None and self._folder.is_dir():
            for path in self._folder.glob("*" + _SUFFIX):
                path.unlink(missing_ok=True)
            with suppress(OSError):
                self._folder.rmdir()


def sessions_folder(home: Path, index_folder: Path) -> Path:
    """Give the folder in which conversations with an index are kept: beside the indexes, never within one."""
    return home / "sessions" / blake2b(str(index_folder).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _key(name: str) -> str:
    if not 0 < len(name) <= LONGEST_NAME:
        raise InvalidInputError("That cannot be a conversation's name.", f"Use 1 to {LONGEST_NAME} characters.")
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _read(text: str) -> Iterator[Turn]:
    for line in text.splitlines():
        held = json.loads(line)
        if held["role"] not in {"user", "assistant"} or not isinstance(held["text"], str):
            message = "no turn"
            raise ValueError(message)
        yield Turn(held["role"], held["text"])
