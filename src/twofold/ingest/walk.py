"""Walking folders: which files there are to read, and which are left out and why. It opens ignore files only."""

import os
import stat
from collections.abc import Iterator, Sequence

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import NotFoundError, ReadError, check_path
from twofold.ingest.ignore import Rule, Rules, read_rules, verdict
from twofold.ingest.readers.types import DEFAULT_LIMITS, Limits, Source
from twofold.system.files import is_junction, open_plain
from twofold.system.paths import real_path, slashed

IGNORE_FILES = (".gitignore", ".twofoldignore")
ACCESS_FILE = ".twofoldaccess"
"""Says who may read a folder's documents, and is no document itself; see `twofold.ingest.access_file`."""
NEVER_WALKED = frozenset({ACCESS_FILE, ".git", ".hg", ".svn", ".bzr", "CVS", "_darcs", "node_modules", "__pycache__"})
_MAX_IGNORE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read. `path` opens it, `source` shows it to people; the rest tells whether it has changed."""

    path: str
    source: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was left out for a reason its owner may not know. Nothing is known of what is below it."""

    path: str
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Rules:
    """The ignore rules of one folder; `base` is the length of the folder's path in bytes, with the slash after it."""

    base: int
    rules: Rules


def source_name(path: str) -> str:
    r"""Write a path so that it can be shown and stored: bytes that are not UTF-8 become `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def check_there(roots: Sequence[str | os.PathLike[str]]) -> None:
    """Raise NotFoundError for the first of some files and folders that is not there."""
    for root in roots:
        _status(root)


def _status(root: str | os.PathLike[str]) -> os.stat_result:
    check_path("A path", root, "Name a file or a folder.")
    try:
        return os.stat(os.path.realpath(root))  # noqa: PTH116 paths stay text here: pathlib is slower for bytes' names
    except OSError as error:
        where = source_name(os.fspath(root))
        raise NotFoundError(
            f"There is no file or folder {where}.", "Check the path, and that its disk is there."
        ) from error


def walk(root: str | os.PathLike[str], limits: Limits = DEFAULT_LIMITS) -> Iterator[Found | Skipped]:
    """Go through a folder, or give the one file that `root` is, in the order of the paths' bytes.

    Files that `.gitignore` and `.twofoldignore` name, hidden files and the folders of version control
    are left out silently. Links are not followed: what they lead to inside of `root` is found in its own place, what
    is outside stays outside; `root` may be one.
    Raises NotFoundError if `root` is not there, ReadError if it cannot be listed.
    """
    status = _status(root)
    start = real_path(root)
    if not stat.S_ISDIR(status.st_mode):
        yield _judge(start, status, limits)
        return
    try:
        entries = _listed(start)
    except OSError as error:
        reason = error.strerror or "cannot be listed"
        raise ReadError(f"{source_name(start)}: {reason}", "Check its permissions.", "unreadable") from error
    yield from _Walk(start, limits).folder(entries)


def load(found: Found, limits: Limits = DEFAULT_LIMITS) -> Source:
    """Read a found file's bytes, without following a link that has taken its place.

    Raises ReadError of kind `unreadable`, or `limit` if it has grown too large.
    """
    try:
        descriptor = open_plain(found.path, os.O_RDONLY)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ReadError("it is not a regular file", "Leave it out with .twofoldignore.", "unreadable")
            data = file.read(limits.file_bytes + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ReadError(
            f"it cannot be opened: {reason}", "Check that it is there and its permissions.", "unreadable"
        ) from error
    if len(data) > limits.file_bytes:
        raise ReadError(_too_large(limits), "Split it, or raise the limit.", "limit")
    return Source(found.source, data, limits)


class _Walk:
    """One walk: the root, and what holds for all of it."""

    def __init__(self, root: str, limits: Limits) -> None:
        self._root = root
        self._limits = limits

    def folder(self, entries: Sequence[os.DirEntry[str]]) -> Iterator[Found | Skipped]:
        """Walk down from the root's entries, without recursion, however deep the folders are."""
        rules: tuple[_Rules, ...] = ()
        waiting = [(iter(entries), (*rules, *_rules_of(self._root)))]
        while waiting:
            rest, rules = waiting[-1]
            entry = next(rest, None)
            if entry is None:
                waiting.pop()
            elif self._is_wanted(entry, rules):
                if not _is_folder(entry):
                    yield self._file(entry)
                    continue
                path = slashed(entry.path)
                try:
                    waiting.append((iter(_listed(path)), (*rules, *_rules_of(path))))
                except OSError as error:
                    yield _skipped(path, error.strerror or "it cannot be listed")

    def _is_wanted(self, entry: os.DirEntry[str], rules: Sequence[_Rules]) -> bool:
        if entry.name in NEVER_WALKED or entry.name.startswith("."):
            return False
        return not _is_ignored(os.fsencode(slashed(entry.path)), rules, is_folder=_is_folder(entry))

    def _file(self, entry: os.DirEntry[str]) -> Found | Skipped:
        path = slashed(entry.path)
        try:
            if entry.is_symlink() or is_junction(entry):
                return self._link(path)
            return _judge(path, entry.stat(follow_symlinks=False), self._limits)
        except OSError as error:
            return _skipped(path, error.strerror or "it cannot be examined")

    def _link(self, path: str) -> Skipped:
        target = real_path(path)
        if target != self._root and not target.startswith(self._root.rstrip("/") + "/"):
            return _skipped(path, "a link that leads out of the folder")
        if not os.path.exists(target):  # noqa: PTH110 as above
            return _skipped(path, "a link that leads nowhere")
        return _skipped(path, "a link to what is found in its own place")


def _listed(folder: str) -> list[os.DirEntry[str]]:
    """List a folder in the order of the paths' bytes, folders sorted as if they ended in a slash."""
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: os.fsencode(entry.name) + b"/" * _is_folder(entry))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether it is a folder itself, and no link to one."""
    return entry.is_dir(follow_symlinks=False) and not is_junction(entry)


def _judge(path: str, status: os.stat_result, limits: Limits) -> Found | Skipped:
    if path.endswith(f"/{ACCESS_FILE}"):
        return _skipped(path, "it says who may read, and is no document")
    if not stat.S_ISREG(status.st_mode):
        return _skipped(path, "it is not a regular file")
    if status.st_size > limits.file_bytes:
        return _skipped(path, _too_large(limits))
    return Found(path, source_name(path), status.st_size, status.st_mtime_ns)


def _too_large(limits: Limits) -> str:
    return f"it is larger than the {limits.file_bytes:,} bytes allowed"


def _skipped(path: str, reason: str) -> Skipped:
    return Skipped(path, source_name(path), reason)


def _rules_of(folder: str) -> Iterator[_Rules]:
    """Read a folder's ignore files; later rules win over earlier ones."""
    rules: tuple[Rule, ...] = ()
    for name in IGNORE_FILES:
        try:
            descriptor = open_plain(f"{folder}/{name}", os.O_RDONLY)
            with os.fdopen(descriptor, "rb") as file:
                rules += read_rules(file.read(_MAX_IGNORE_BYTES))
        except OSError:
            continue  # it does not exist, or it is a link or a folder
    if rules:
        yield _Rules(len(os.fsencode(folder.rstrip("/"))) + 1, Rules.of(rules))


def _is_ignored(path: bytes, rules: Sequence[_Rules], *, is_folder: bool) -> bool:
    """Ask the nearest folder first; one without an opinion leaves it to those above."""
    for held in reversed(rules):
        answer = verdict(held.rules, path[held.base :], is_folder=is_folder)
        if answer is not None:
            return answer
    return False
