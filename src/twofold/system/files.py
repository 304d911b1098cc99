"""Files as this system opens, flushes and locks them: links are refused, and nobody is kept from renaming or deleting.

On Windows a file that is mapped into memory can be neither replaced nor deleted all the same, a lock is held on one
byte, and the list of names in a folder is flushed by the system alone.
"""

import errno
import os
import stat
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

BINARY = getattr(os, "O_BINARY", 0)
"""The flag of `os.open` without which Windows turns new lines around."""
_POLL_SECONDS = 0.01

try:
    import fcntl
except ImportError:
    if sys.platform == "win32" or not TYPE_CHECKING:
        import _winapi
        import msvcrt

        _SHARED = 7  # others may read, write, rename and delete it
        _LINK_ITSELF = 0x0020_0000  # FILE_FLAG_OPEN_REPARSE_POINT
        _NORMAL = 0x80
        _JUNCTION = 0xA000_0003
        _ACCESS = {os.O_RDONLY: 0x8000_0000, os.O_WRONLY: 0x4000_0000, os.O_RDWR: 0xC000_0000}
        _DISPOSITIONS = {
            0: 3,
            os.O_TRUNC: 5,
            os.O_CREAT: 4,
            os.O_CREAT | os.O_TRUNC: 2,
            os.O_CREAT | os.O_EXCL: 1,
        }
        _LOCKED_AT = 0x7FFF_FFFE  # no file of ours reaches it: nobody else may read what is locked

        def open_plain(path: str | Path, flags: int, _mode: int = 0o600) -> int:
            """Open a file as bytes, for this process alone. Raises OSError, also where a link stands.

            `flags` are those of `os.open`. Who may read a new file, its folder says.
            """
            access = _ACCESS[flags & (os.O_WRONLY | os.O_RDWR)]
            how = _DISPOSITIONS[flags & (os.O_CREAT | os.O_EXCL | os.O_TRUNC)]
            opened = _winapi.CreateFile(str(path), access, _SHARED, 0, how, _LINK_ITSELF | _NORMAL, 0)
            handle = msvcrt.open_osfhandle(opened, flags & os.O_APPEND | BINARY)
            if stat.S_ISLNK(os.lstat(path).st_mode):
                os.close(handle)
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
            return handle

        def is_junction(entry: os.DirEntry[str]) -> bool:
            """Return whether an entry of a folder is a link to a folder that is not called a link there."""
            return getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0) == _JUNCTION

        def flush_folder(_folder: Path) -> None:
            """Do nothing: the system keeps a folder's list of names in a journal of its own."""

        def try_lock(handle: int) -> bool:
            """Take the lock of an open file; False where another handle holds it. It ends with its process."""
            os.lseek(handle, _LOCKED_AT, os.SEEK_SET)
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            except PermissionError:
                return False
            finally:
                os.lseek(handle, 0, os.SEEK_SET)
            return True

        def unlock(handle: int) -> None:
            """Let go of the lock of an open file."""
            os.lseek(handle, _LOCKED_AT, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:

    def open_plain(path: str | Path, flags: int, mode: int = 0o600) -> int:
        """Open a file as bytes, for this process alone, waiting for nobody. Raises OSError, also where a link stands.

        `flags` are those of `os.open`. A new file has the permissions `mode`.
        """
        return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, mode)

    def is_junction(_entry: os.DirEntry[str]) -> bool:
        """Return False: only Windows has links to folders that are not called links."""
        return False

    def flush_folder(folder: Path) -> None:
        """Make a folder's list of names survive a power cut."""
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def try_lock(handle: int) -> bool:
        """Take the lock of an open file; False where another handle holds it. It ends with its process."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(handle: int) -> None:
        """Let go of the lock of an open file, also where a forked child still holds a copy of the handle."""
        fcntl.flock(handle, fcntl.LOCK_UN)


def lock(handle: int) -> None:
    """Wait for the lock of an open file, for ever. Raises OSError where the file system has no locks."""
    while not try_lock(handle):
        time.sleep(_POLL_SECONDS)


def replace_durably(finished: Path, target: Path) -> Path:
    """Flush `finished` to disk and rename it to `target` on the same file system; `flush_folder` makes the name stay.

    A reader, or a power cut, sees the old file or the new one whole.
    """
    with finished.open("r+b") as content:
        os.fsync(content.fileno())
    return finished.replace(target)
