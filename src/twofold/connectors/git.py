"""A git repository at a revision: its files as they are committed, whatever the working copy holds."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from stat import S_ISREG
from typing import TYPE_CHECKING

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import MissingExtraError, NotFoundError, ReadError
from twofold.domain.types import DocumentInfo
from twofold.ingest.connector import VERSION, Item
from twofold.ingest.readers.types import Limits, Source
from twofold.ingest.walk import Skipped, source_name
from twofold.system.paths import real_path

if TYPE_CHECKING:
    from dulwich.objects import ObjectID
    from dulwich.repo import Repo


@dataclass(frozen=True, slots=True)
class GitConnector:
    """The files below `folder` (empty for all) of the repository at `path`, at a branch, tag or commit."""

    path: str
    revision: str = "HEAD"
    folder: str = ""

    @property
    def root(self) -> str:
        """The repository and the folder, without the revision: another one updates the same documents."""
        below = f"/{self.folder.strip('/')}" if self.folder.strip("/") else ""
        return f"git+{source_name(real_path(self.path))}{below}"

    @property
    def origin(self) -> str:
        """`git`."""
        return "git"

    def items(self, known: Mapping[str, DocumentInfo], limits: Limits) -> Iterator[Item | Skipped]:
        """Yield the files of the revision; a file's version is the id of its blob.

        Raises NotFoundError for a repository, a revision or a folder that is not there.
        """
        with closing(_opened(self.path)) as repository:
            commit, entries = _tree(repository, self.revision, self.folder)
            for name, mode, blob in entries:
                if any(part.startswith(b".") for part in name.split(b"/")):
                    continue  # as in a folder: hidden files are left out, and access files say nothing here
                source = f"{self.root}/{source_name(name.decode('utf-8', 'surrogateescape'))}"
                item = Item(source, blob.decode(), {"commit": commit})
                if not S_ISREG(mode):
                    continue
                if source in known and known[source].metadata.get(VERSION) == item.version:
                    yield item  # its size was looked at when it was read
                elif len(repository[blob].as_raw_string()) > limits.file_bytes:
                    yield Skipped(source, source, f"it is larger than the {limits.file_bytes:,} bytes allowed")
                else:
                    yield item

    def load(self, item: Item, limits: Limits) -> Source:
        """Read a file's bytes as they are committed. Raises ReadError."""
        with closing(_opened(self.path)) as repository:
            try:
                data = repository[item.version.encode()].as_raw_string()
            except KeyError as error:
                raise ReadError("its blob is not in the repository", "Run `git fsck`.", "unreadable") from error
        return Source(item.source, data, limits)


def _opened(path: str) -> "Repo":
    try:
        from dulwich.errors import NotGitRepository
        from dulwich.repo import Repo
    except ModuleNotFoundError as error:
        raise MissingExtraError("Reading a git repository needs dulwich.", "pip install 'twofold[git]'") from error
    try:
        return Repo(path)
    except NotGitRepository as error:
        raise NotFoundError(f"{path} is no git repository.", "Name its folder: git+/path/to/repository.") from error


def _tree(repository: "Repo", revision: str, folder: str) -> tuple[str, list[tuple[bytes, int, "ObjectID"]]]:
    """Return the commit's id, and the name, mode and blob of each file below a folder."""
    from dulwich.object_store import iter_tree_contents, tree_lookup_path
    from dulwich.objectspec import parse_commit

    try:
        commit = parse_commit(repository, revision.encode())
    except (KeyError, ValueError) as error:
        raise NotFoundError(
            f"{revision!r} is no revision of the repository.", "Name a branch, a tag or a commit."
        ) from error
    tree = commit.tree
    if folder.strip("/"):
        try:
            _, tree = tree_lookup_path(repository.__getitem__, tree, folder.strip("/").encode())
        except KeyError as error:
            raise NotFoundError(f"{folder!r} is no folder of that revision.", "Name one that is committed.") from error
    entries = [(one.path, one.mode, one.sha) for one in iter_tree_contents(repository.object_store, tree)]
    return commit.id.decode(), entries
