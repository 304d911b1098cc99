"""A collection as it was when a snapshot of it was made: read as any other, and never changed."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from twofold.domain.access import Readers, Viewer
from twofold.domain.errors import InvalidInputError, NotFoundError, check_kind
from twofold.domain.ports import EmbedderIdentity, Finding, IndexFingerprint, Remake, Snapshot, Store, StoreInfo
from twofold.domain.snapshots import SnapshotInfo, SnapshotStore
from twofold.domain.types import Entry, Metadata, Vector
from twofold.kernels import are_unicode

NOW = "now"
ACCESS = "acl"
SNAPSHOT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
DATE_LENGTH = len("2026-11-22")


class PastStore:
    """One snapshot of a collection as a store: `view` and `info` read it, and whatever would change it is refused."""

    def __init__(
        self,
        name: str,
        view: Callable[[Viewer | None], AbstractContextManager[Snapshot]],
        info: Callable[[], StoreInfo],
        settings: Mapping[str, str],
    ) -> None:
        self._name = name
        self._view = view
        self._info = info
        self._settings = settings

    def view(self, viewer: Viewer | None = None, *, rows_only: bool = False) -> AbstractContextManager[Snapshot]:  # noqa: ARG002  # loaded once
        """Open the state. Who may read a document is what it is today: of one that was deleted, what it was then.

        Raises NotFoundError when the snapshot was deleted meanwhile.
        """
        return self._view(viewer)

    def info(self) -> StoreInfo:
        """Describe the collection as it was."""
        return self._info()

    def fingerprint(self) -> IndexFingerprint | None:
        """Return how the collection was made then."""
        return self._info().fingerprint

    def get_settings(self) -> Mapping[str, str]:
        """Return the settings that the collection kept then."""
        return self._settings

    def with_access(self, now: Mapping[str, str]) -> "PastStore":
        """Return the same with what the settings of today say of who may read."""
        kept = {name: value for name, value in self._settings.items() if name.partition(".")[0] != ACCESS}
        kept |= {name: value for name, value in now.items() if name.partition(".")[0] == ACCESS}
        return PastStore(self._name, self._view, self._info, kept)

    def verify(self) -> Sequence[Finding]:
        """Return nothing: the collection itself verifies what it keeps for its snapshots."""
        return []

    def ensure_fingerprint(self, fingerprint: IndexFingerprint) -> None:
        """Do nothing for the recipe that it has; refuse another one."""
        if fingerprint != self.fingerprint():
            self._refuse()

    def upsert(self, entries: Sequence[Entry]) -> None:
        """Refuse to change."""
        self._refuse(entries)

    def update_vectors(self, embedder: EmbedderIdentity, vectors: Mapping[str, Vector]) -> int:
        """Refuse to change."""
        self._refuse(embedder, vectors)

    def set_synonyms(self, rules: str) -> None:
        """Refuse to change."""
        self._refuse(rules)

    def set_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Refuse to change."""
        self._refuse(changes)

    def set_readers(self, changes: Mapping[str, Readers | None]) -> None:
        """Refuse to change."""
        self._refuse(changes)

    def delete(self, documents: Sequence[str]) -> int:
        """Refuse to change."""
        self._refuse(documents)

    def rebuild(self, fingerprint: IndexFingerprint, remake: Remake) -> None:
        """Refuse to change."""
        self._refuse(fingerprint, remake)

    def set_settings(self, values: Mapping[str, str]) -> None:
        """Refuse to change."""
        self._refuse(values)

    def note_roots(self, roots: Mapping[str, int]) -> None:
        """Refuse to change."""
        self._refuse(roots)

    def compact(self) -> None:
        """Refuse to change."""
        self._refuse()

    def close(self) -> None:
        """There is nothing to close: it belongs to the store that it was opened from."""

    def _refuse(self, *_: object) -> NoReturn:
        raise InvalidInputError(
            f"The snapshot {self._name} cannot be changed.",
            f"Make an index of it: `twofold index branch {self._name} NEW`.",
        )


def with_snapshots(store: Store) -> SnapshotStore:
    """Return a store that keeps snapshots. Raises InvalidInputError for one that does not."""
    if not isinstance(store, SnapshotStore):
        raise InvalidInputError(
            "Snapshots are not kept here.",
            "Open an index that is kept in a folder, a database or a bucket, and not at a snapshot.",
        )
    return store


def past_store(store: Store, when: str) -> Store:
    """Return a collection as it was; `when` as for `snapshot_at`. Raises NotFoundError, InvalidInputError."""
    held = with_snapshots(store)
    check_kind("A snapshot", when, str, "Name it, or give a date: '2026-11-16'.")
    if not are_unicode([when]):
        raise unknown(when)
    try:
        found = held.at(when)
    except NotFoundError:
        found = held.at(snapshot_at(held.snapshots(), when).name)
    return found.with_access(held.get_settings()) if isinstance(found, PastStore) else found


def check_name(name: str) -> None:
    """Raise InvalidInputError for what cannot be the name of a snapshot."""
    check_kind("The name of a snapshot", name, str, "Name it by a text, such as 'before'.")
    if not SNAPSHOT_NAME.fullmatch(name) or name == NOW:
        raise InvalidInputError(
            f"{name!r} cannot be the name of a snapshot.",
            f"Use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or a digit; not `{NOW}`.",
        )


def snapshot_at(snapshots: Sequence[SnapshotInfo], when: str) -> SnapshotInfo:
    """Return the snapshot of this name, or the last one that was made by a date or a time in ISO 8601.

    A date lasts until its end; without a zone times are in UTC. Raises NotFoundError, InvalidInputError for what is
    neither a name nor a time.

    >>> monday = SnapshotInfo("monday", "2026-11-16T09:00:00+00:00", 1, 1, 1)
    >>> snapshot_at([monday], "2026-11-16").name, snapshot_at([monday], "2026-11-16T11:00:00+02:00").name
    ('monday', 'monday')
    """
    for one in snapshots:
        if one.name == when:
            return one
    try:
        moment = datetime.fromisoformat(when)
    except ValueError:
        raise unknown(when) from None
    if len(when) <= DATE_LENGTH:
        moment += timedelta(days=1, microseconds=-1)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    found = [one for one in snapshots if datetime.fromisoformat(one.created) <= moment]
    if not found:
        raise NotFoundError(f"There is no snapshot from {when} or before.", "`twofold index snapshots` lists them.")
    return max(found, key=lambda one: datetime.fromisoformat(one.created))


def unknown(name: str) -> NotFoundError:
    """Return the error for a snapshot that is not there."""
    return NotFoundError(f"There is no snapshot {name!r}.", "`twofold index snapshots` lists those there are.")


def name_taken(name: str) -> InvalidInputError:
    """Return the error for a name that another snapshot has."""
    return InvalidInputError(
        f"There is a snapshot {name} already.", f"Choose another name, or delete it: `--delete {name}`."
    )


def utc(seconds: int) -> str:
    """Return a time in seconds since 1970 as text.

    >>> utc(1795305600)
    '2026-11-22T00:00:00+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat()
