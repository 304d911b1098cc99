"""An index that is not there yet: the first change makes it, and looking into it leaves nothing behind."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from twofold.domain.access import Readers, Viewer
from twofold.domain.ports import EmbedderIdentity, Finding, IndexFingerprint, Remake, Snapshot, Store, StoreInfo
from twofold.domain.snapshots import SnapshotInfo, SnapshotStore
from twofold.domain.types import Entry, Metadata, Vector
from twofold.stores.past import with_snapshots


class MissingStore:
    """Stands for a store until something is written to it.

    `opener` opens the real one and is given whether to create it; without, it raises NotFoundError if it does not
    exist. Another process may make the index meanwhile: then this is that index.
    """

    def __init__(self, opener: Callable[[bool], Store]) -> None:
        self._opener = opener
        self._made: Store | None = None
        self._opening = threading.Lock()

    def view(self, viewer: Viewer | None = None, *, rows_only: bool = False) -> AbstractContextManager[Snapshot]:
        """Open one consistent state. Raises NotFoundError, as all that reads does."""
        return self._there().view(viewer, rows_only=rows_only)

    def ensure_fingerprint(self, fingerprint: IndexFingerprint) -> None:
        """Make the index, and say by which recipe passages are made."""
        self._there(create=True).ensure_fingerprint(fingerprint)

    def upsert(self, entries: Sequence[Entry]) -> None:
        """Make the index, and add documents."""
        self._there(create=True).upsert(entries)

    def update_vectors(self, embedder: EmbedderIdentity, vectors: Mapping[str, Vector]) -> int:
        """Store vectors of passages."""
        return self._there().update_vectors(embedder, vectors)

    def set_settings(self, values: Mapping[str, str]) -> None:
        """Make the index, and let it keep settings."""
        self._there(create=True).set_settings(values)

    def set_synonyms(self, rules: str) -> None:
        """Replace the collection's synonyms."""
        self._there().set_synonyms(rules)

    def set_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Replace the metadata of documents."""
        self._there().set_metadata(changes)

    def set_readers(self, changes: Mapping[str, Readers | None]) -> None:
        """Set who may read documents."""
        self._there().set_readers(changes)

    def note_roots(self, roots: Mapping[str, int]) -> None:
        """Make the index, and note what it was synced from."""
        self._there(create=True).note_roots(roots)

    def delete(self, documents: Sequence[str]) -> int:
        """Delete documents by id."""
        return self._there().delete(documents)

    def rebuild(self, fingerprint: IndexFingerprint, remake: Remake) -> None:
        """Make all passages again."""
        self._there().rebuild(fingerprint, remake)

    def info(self) -> StoreInfo:
        """Describe the collection."""
        return self._there().info()

    def fingerprint(self) -> IndexFingerprint | None:
        """Return how the collection was made."""
        return self._there().fingerprint()

    def verify(self) -> Sequence[Finding]:
        """Recompute every checksum."""
        return self._there().verify()

    def get_settings(self) -> Mapping[str, str]:
        """Return the collection's own settings."""
        return self._there().get_settings()

    def compact(self) -> None:
        """Merge what can be merged."""
        self._there().compact()

    def create_snapshot(self, name: str, created: int) -> None:
        """Name the present state."""
        self._with_snapshots().create_snapshot(name, created)

    def snapshots(self) -> Sequence[SnapshotInfo]:
        """List the snapshots."""
        return self._with_snapshots().snapshots()

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot."""
        self._with_snapshots().delete_snapshot(name)

    def at(self, name: str) -> Store:
        """Return the collection as it was."""
        return self._with_snapshots().at(name)

    def _with_snapshots(self) -> SnapshotStore:
        return with_snapshots(self._there())

    def close(self) -> None:
        """Close what was opened."""
        if self._made is not None:
            self._made.close()

    def _there(self, *, create: bool = False) -> Store:
        with self._opening:
            if self._made is None:
                self._made = self._opener(create)
            return self._made
