"""Files that are complete or absent, also after a power cut: write a new file, flush, rename, flush the folder."""

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from twofold.domain.errors import StorageFullError, StoreError
from twofold.system.files import flush_folder, open_plain

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def write_durably(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a new file with mode 0600 and make it survive a power cut.

    Raises StorageFullError when there is no room, StoreError for any other refusal; then no file is left behind.
    """
    beside = path.with_name(path.name + ".new")
    try:
        with os.fdopen(open_plain(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        flush_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise refusal(error, path.name) from error


def make_folder(folder: Path) -> None:
    """Make a folder that only its owner may enter, and what is missing above it, so that it survives a power cut.

    Raises StorageFullError or StoreError.
    """
    try:
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        for one in reversed(missing):
            one.mkdir(mode=0o700, exist_ok=True)
            flush_folder(one.parent)
        folder.mkdir(mode=0o700, exist_ok=True)  # refuses a file of that name
    except OSError as error:
        raise refusal(error, str(folder)) from error


def refusal(error: OSError, name: str) -> StorageFullError | StoreError:
    """Turn the system's refusal into ours."""
    if error.errno in NO_ROOM:
        return no_room(name)
    return StoreError(f"Cannot write {name}: {error.strerror}.", "Check the folder's permissions and the disk.")


def no_room(name: str) -> StorageFullError:
    """Return the error of a full disk, a quota or a limit on files."""
    return StorageFullError(f"There is no room to write {name}.", "Free some space and run the command again.")
