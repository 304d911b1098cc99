"""Disks that remember what reached them, and disks that fail: file system layers to put under a store."""

import errno
import itertools
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import pytest

SECTOR_BYTES = 512
NAMES = itertools.count()


@dataclass(frozen=True)
class Event:
    """Something a disk was told: `write`, `truncate`, `sync` or `delete`; or `step`, when a step had returned."""

    kind: str
    file: str = ""
    offset: int = 0
    data: bytes = b""


class RecordingVFS(apsw.VFS):
    """Passes everything through and writes it down."""

    def __init__(self) -> None:
        self.name = f"recording-{next(NAMES)}"
        self.events: list[Event] = []
        super().__init__(self.name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return RecordingFile(self.events, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802
        super().xDelete(filename, syncdir)
        self.events.append(Event("delete", Path(filename).name))


class RecordingFile(apsw.VFSFile):
    def __init__(self, events: list[Event], name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._events = events
        self._name = Path(str(name.filename() if isinstance(name, apsw.URIFilename) else name)).name

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._events.append(Event("write", self._name, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._events.append(Event("truncate", self._name, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._events.append(Event("sync", self._name))


@dataclass
class Platter:
    """One file of a simulated disk: what is safe, and what was told since the last sync."""

    safe: bytearray = field(default_factory=bytearray)
    pending: list[Event] = field(default_factory=list)

    def sync(self) -> None:
        for event in self.pending:
            apply(self.safe, event)
        self.pending.clear()

    def after_a_cut(self, random_: random.Random) -> bytes:
        """Keep what is safe, and of the rest what chance, which may tear a write at any sector, let through."""
        through = random_.choice([0.0, 0.5, 0.9, 1.0])
        for event in self.pending:
            for part in sectors(event) if random_.random() < 0.5 else [event]:
                if random_.random() < through:
                    apply(self.safe, part)
        return bytes(self.safe)


def sectors(event: Event) -> Iterator[Event]:
    """Split a write at the disk's sectors."""
    if event.kind != "write":
        yield event
        return
    at = event.offset
    while at < event.offset + len(event.data):
        end = min(at - at % SECTOR_BYTES + SECTOR_BYTES, event.offset + len(event.data))
        yield Event("write", event.file, at, event.data[at - event.offset : end - event.offset])
        at = end


def apply(content: bytearray, event: Event) -> None:
    if event.kind == "truncate":
        del content[event.offset :]
        content.extend(bytes(event.offset - len(content)))
    else:
        content.extend(bytes(max(0, event.offset - len(content))))
        content[event.offset : event.offset + len(event.data)] = event.data


def after_a_power_cut(
    first: Mapping[str, bytes], events: Sequence[Event], random_: random.Random
) -> Mapping[str, bytes]:
    """Give the files that a power cut after these events may leave."""
    platters = {name: Platter(bytearray(content)) for name, content in first.items()}
    for event in events:
        platter = platters.setdefault(event.file, Platter())
        if event.kind == "sync":
            platter.sync()
        elif event.kind == "delete":
            del platters[event.file]
        elif event.kind != "step":
            platter.pending.append(event)
    platters.pop("", None)
    return {name: platter.after_a_cut(random_) for name, platter in platters.items()}


class Faults:
    """Counts calls to the disk and fails at one of them; `lasting` faults fail all that come after it as well."""

    def __init__(self, at: int, *, lasting: bool) -> None:
        self.calls = 0
        self.tripped = False
        self.healed = False
        self._at = at
        self._lasting = lasting

    def strike(self) -> bool:
        """Count a call and say whether it fails."""
        if self.healed:
            return False
        self.calls += 1
        first = self.calls == self._at
        self.tripped = self.tripped or first
        return first or (self.tripped and self._lasting)


class FaultyVFS(apsw.VFS):
    """Fails where its faults say so. A write that fails has written a part of itself."""

    def __init__(self, faults: Faults) -> None:
        self.name = f"faulty-{next(NAMES)}"
        self._faults = faults
        super().__init__(self.name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        if self._faults.strike():
            raise apsw.CantOpenError("an injected fault")
        return FaultyFile(self._faults, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802
        strike(self._faults, apsw.SQLITE_IOERR_DELETE)
        super().xDelete(filename, syncdir)


class FaultyFile(apsw.VFSFile):
    def __init__(self, faults: Faults, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._faults = faults

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        strike(self._faults, apsw.SQLITE_IOERR_READ)
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        was = self._faults.tripped
        if self._faults.strike():
            if not was:
                super().xWrite(bytes(data)[: len(data) // 3], offset)
            raise io_error(apsw.SQLITE_IOERR_WRITE)
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        strike(self._faults, apsw.SQLITE_IOERR_TRUNCATE)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        strike(self._faults, apsw.SQLITE_IOERR_FSYNC)
        super().xSync(flags)


def strike(faults: Faults, code: int) -> None:
    if faults.strike():
        raise io_error(code)


def io_error(code: int) -> apsw.IOError:
    error = apsw.IOError("an injected fault")
    error.extendedresult = code  # type: ignore[attr-defined]
    return error


@contextmanager
def faulty_system(faults: Faults) -> Iterator[None]:
    """Let the system's own calls fail where the faults say so, for files that SQLite does not write."""

    def failing(call: Callable[..., object]) -> Callable[..., object]:
        def called(*arguments: object, **named: object) -> object:
            if faults.strike():
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return call(*arguments, **named)

        return called

    with pytest.MonkeyPatch.context() as patch:
        for name in ("open", "fsync", "replace", "unlink"):
            patch.setattr(os, name, failing(getattr(os, name)))
        yield
