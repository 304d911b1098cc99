"""Conversations kept in a folder: one small file for each, written whole, named by a hash of what it is called.

A name never becomes a path. The turns are limited in number and length, so that no conversation grows forever.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

from twofold.domain.errors import CorruptError, InvalidInputError, StoreError, WriterBusyError, check_kind
from twofold.query.history import Turn
from twofold.stores.local.durable import make_folder, write_durably
from twofold.stores.local.lock import WriterLock

MAX_NAME_LENGTH = 256  # characters
MAX_TURNS = 200
MAX_TURN_LENGTH = 16_000  # characters
WAIT_SECONDS = 10.0
_SUFFIX = ".jsonl"
_LOCK_NAME = "writer.lock"


class Sessions:
    """The conversations with one collection. With no folder they are kept in memory alone.

    Safe to use from several threads and processes: of two turns that are added at once none is lost.
    """

    def __init__(self, folder: Path | None, viewer: str = "") -> None:
        self._folder = folder
        self._viewer = viewer
        self._turn = threading.Lock()
        self._held: dict[str, tuple[Turn, ...]] = {}

    def of(self, viewer: str) -> "Sessions":
        """Return the conversations of one viewer: none of another's, whatever it is called."""
        return Sessions(self._folder, viewer)

    def turns(self, name: str) -> tuple[Turn, ...]:
        """Return the turns, oldest first; none for a new conversation.

        Raises InvalidInputError for an invalid name, CorruptError for a file that is not ours.
        """
        key = self._key(name)
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
        key = self._key(name)
        new = [Turn(one.role, one.text[:MAX_TURN_LENGTH]) for one in turns]
        if self._folder is None:
            with self._turn:
                self._held[key] = (*self._held.get(key, ()), *new)[-MAX_TURNS:]
            return
        make_folder(self._folder)
        with _alone(self._folder):
            kept = (*self.turns(name), *new)[-MAX_TURNS:]
            lines = (json.dumps({"role": one.role, "text": one.text}).encode() + b"\n" for one in kept)
            write_durably(self._folder / (key + _SUFFIX), lines)

    def drop(self, name: str) -> None:
        """Delete one conversation; one that is not there is gone already."""
        key = self._key(name)
        with self._turn:
            self._held.pop(key, None)
        if self._folder is not None and (path := self._folder / (key + _SUFFIX)).exists():
            with _alone(self._folder):
                path.unlink(missing_ok=True)

    def _key(self, name: str) -> str:
        return _key(name, self._viewer)

    def forget(self) -> None:
        """Delete all conversations with the collection, alone or with others, and their folders."""
        self._held.clear()
        if self._folder is None:
            return
        for found in sorted(self._folder.parent.rglob(self._folder.name)):
            _empty(found)


def sessions_folder(home: Path, *index_folders: Path) -> Path:
    """Return the folder in which conversations with an index are kept: next to the indexes, never within one.

    A conversation with several indexes has one folder within another, in whatever order they are named; so the name of
    each stands in its path, and deleting any of them deletes it.
    """
    named = sorted(
        blake2b(str(one).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest() for one in index_folders
    )
    return home.joinpath("sessions", *named)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let nobody else change the conversations of a folder. Raises StoreError where somebody does for long."""
    try:
        with WriterLock(folder / _LOCK_NAME, WAIT_SECONDS).locked():
            yield
    except WriterBusyError as error:
        raise StoreError("Conversations are being written by another process.", "Ask again after a moment.") from error


def _empty(folder: Path) -> None:
    """Delete the conversations in a folder and below, and the folders."""
    for path in (*folder.rglob("*" + _SUFFIX), *folder.rglob(_LOCK_NAME)):
        path.unlink(missing_ok=True)
    for below in (*sorted((one for one in folder.rglob("*") if one.is_dir()), reverse=True), folder):
        with suppress(OSError):
            below.rmdir()


def _key(name: str, viewer: str) -> str:
    check_kind("A conversation's name", name, str, "Name it by a text.")
    if not 0 < len(name) <= MAX_NAME_LENGTH:
        raise InvalidInputError("That cannot be a conversation's name.", f"Use 1 to {MAX_NAME_LENGTH} characters.")
    identity = f"{viewer}\n{name}" if viewer else name  # a viewer's name is hexadecimal: the first line feed ends it
    return blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _read(text: str) -> Iterator[Turn]:
    for line in text.splitlines():
        held = json.loads(line)
        if held["role"] not in {"user", "assistant"} or not isinstance(held["text"], str):
            message = "no turn"
            raise ValueError(message)
        yield Turn(held["role"], held["text"])
