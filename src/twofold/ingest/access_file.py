"""`.twofoldaccess`: who may read the documents of a folder, as the folder itself says it.

One principal a line, `#` begins a comment. In place of principals `nobody` may stand, or `default` for the index's
default; `posix-group` is the group that owns each file. The nearest folder with such a file decides alone, up to the
folder that is synced. A file that is not plain and readable ends the sync before anything is changed.
"""

import os
import stat
from collections.abc import Sequence

from twofold.domain.access import NOBODY, Readers, readers_of
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.ingest.walk import ACCESS_FILE, source_name
from twofold.system.files import open_plain

DEFAULT = "default"
POSIX_GROUP = "posix-group"
_MAX_BYTES = 1 << 20
_MAX_DEPTH = 1_000


@dataclass(frozen=True, slots=True)
class AccessRule:
    """What one file says: the readers, None for the index's default, and whether a file's own group is among them."""

    readers: Readers | None
    posix_group: bool = False

    def readers_of(self, path: str) -> Readers | None:
        """Return who may read the document of a file. Raises InvalidInputError where its group has no name."""
        if not self.posix_group:
            return self.readers
        return readers_of((*(self.readers or ()), f"group:{_group_of(path)}"))


class AccessFiles:
    """The access files below one root, each read once."""

    def __init__(self, root: str) -> None:
        self._root = root if os.path.isdir(root) else os.path.dirname(root)  # noqa: PTH112, PTH120  # as in `walk`
        self._known: dict[str, AccessRule | None] = {}

    def rule_for(self, path: str) -> AccessRule | None:
        """Return the rule of the nearest folder that has one; None where none has. Raises InvalidInputError."""
        folder = os.path.dirname(path)  # noqa: PTH120
        passed: list[str] = []
        while folder not in self._known:
            passed.append(folder)
            found = read_rule(folder)
            if found is not None or folder == self._root or len(passed) > _MAX_DEPTH:
                self._known[folder] = found
            else:
                folder = os.path.dirname(folder)  # noqa: PTH120
        rule = self._known[folder]
        self._known.update(dict.fromkeys(passed, rule))
        return rule


def read_rule(folder: str) -> AccessRule | None:
    """Read a folder's access file; None without one. Raises InvalidInputError for anything else than a plain file."""
    path = f"{folder.rstrip('/')}/{ACCESS_FILE}"
    try:
        descriptor = open_plain(path, os.O_RDONLY)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _refused(path, "it is no regular file")
            data = file.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _refused(path, error.strerror or "it cannot be opened") from error
    if len(data) > _MAX_BYTES:
        raise _refused(path, "it is too long")
    try:
        return parse_rule(data.decode("utf-8-sig").splitlines())
    except UnicodeDecodeError as error:
        raise _refused(path, "it is not UTF-8") from error
    except InvalidInputError as error:
        raise _refused(path, error.message.rstrip(".")) from error


def parse_rule(lines: Sequence[str]) -> AccessRule:
    """Read the lines of an access file. Raises InvalidInputError.

    >>> parse_rule(["# the legal team", "group:legal", "user:ann  # the secretary"]).readers
    ('group:legal', 'user:ann')
    """
    said = [line.partition("#")[0].strip() for line in lines]
    words = [word for word in said if word]
    for alone in (NOBODY, DEFAULT):
        if alone in words:
            if len(set(words)) > 1:
                raise InvalidInputError(f"{alone!r} stands alone.", "Remove it, or all the other lines.")
            return AccessRule(() if alone == NOBODY else None)
    if not words:
        raise InvalidInputError("It names no principal.", "Write a principal, `nobody` or `default`.")
    named = [word for word in words if word != POSIX_GROUP]
    return AccessRule(readers_of(named), len(named) < len(words))


def _group_of(path: str) -> str:
    try:
        import grp

        return grp.getgrgid(os.stat(path, follow_symlinks=False).st_gid).gr_name  # noqa: PTH116
    except (ImportError, KeyError, OSError) as error:
        raise _refused(path, "the group that owns it has no name here") from error


def _refused(path: str, why: str) -> InvalidInputError:
    return InvalidInputError(
        f"{source_name(path)} does not say who may read: {why}.", "Correct it and sync again; nothing was changed."
    )
