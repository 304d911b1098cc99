"""A store as one viewer may use it: nothing that they may not read is there, to be read, changed or counted."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NoReturn, TypeVar

from twofold.domain.access import Readers, Viewer
from twofold.domain.errors import InvalidInputError, NotAllowedError
from twofold.domain.ports import EmbedderIdentity, Finding, IndexFingerprint, Remake, Snapshot, Store, StoreInfo
from twofold.domain.types import Document, Entry, Metadata, Vector, document_id

Change = TypeVar("Change")
UNGUESSABLE = re.compile(r"file-[0-9a-f]{24,}")
"""Ids of files that a server was sent: no two are alike, and nobody finds another's by trying."""


class ViewerStore:
    """Passes on to a store what one viewer may do. Its views, and what it says of itself, are theirs.

    They write documents that they may read, and no others; what concerns all documents is the owner's.
    """

    def __init__(self, store: Store, viewer: Viewer) -> None:
        self._store = store
        self._viewer = viewer

    def view(self, viewer: Viewer | None = None, *, rows_only: bool = False) -> AbstractContextManager[Snapshot]:
        """Open one consistent state as this viewer may see it; another one that is named is ignored."""
        del viewer
        return self._store.view(self._viewer, rows_only=rows_only)

    def info(self) -> StoreInfo:
        """Describe what the viewer may see. What tells of changes by others and of the disk is left at 0."""
        with self.view() as view:
            sizes = view.sizes()
            return StoreInfo(view.fingerprint, sizes.documents, sizes.chunks, 0, 0, 0, {}, view.pending)

    def fingerprint(self) -> IndexFingerprint | None:
        """Return how the collection was made."""
        return self._store.fingerprint()

    def get_settings(self) -> Mapping[str, str]:
        """Return the collection's own settings."""
        return self._store.get_settings()

    def ensure_fingerprint(self, fingerprint: IndexFingerprint) -> None:
        """Record the recipe of the passages."""
        self._store.ensure_fingerprint(fingerprint)

    def upsert(self, entries: Sequence[Entry]) -> None:
        """Add or replace documents. Raises InvalidInputError for one that the viewer could not read afterwards."""
        with self.view() as view, self._store.view() as whole:
            names = [entry.document.id for entry in entries]
            seen, there = view.describe(names), whole.describe(names)
        for entry in entries:
            held = seen.get(entry.document.id)
            readers = entry.document.readers
            if readers is None and held is not None:
                readers = held.readers
            if not self._viewer.may_read(readers):
                raise InvalidInputError(
                    "You could not read this document yourself.", "Name readers, and yourself or a group among them."
                )
            if held is None and entry.document.id in there:
                raise InvalidInputError("This document cannot be written.", "Use another id.")
        self._store.upsert(entries)

    def update_vectors(self, embedder: EmbedderIdentity, vectors: Mapping[str, Vector]) -> int:
        """Store vectors of passages."""
        return self._store.update_vectors(embedder, vectors)

    def set_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Replace the metadata of documents that the viewer may read."""
        self._store.set_metadata(self._visible_changes(changes))

    def set_readers(self, changes: Mapping[str, Readers | None]) -> None:
        """Set who may read documents that the viewer may read."""
        self._store.set_readers(self._visible_changes(changes))

    def delete(self, documents: Sequence[str]) -> int:
        """Delete documents that the viewer may read."""
        return self._store.delete(list(self._visible_changes(dict.fromkeys(documents, None))))

    def _visible_changes(self, changes: Mapping[str, Change]) -> Mapping[str, Change]:
        with self.view() as view:
            there = view.describe(list(changes))
        return {name: change for name, change in changes.items() if name in there}

    def rebuild(self, fingerprint: IndexFingerprint, remake: Remake) -> None:
        """Refuse: it concerns all documents."""
        _refuse(fingerprint, remake)

    def verify(self) -> Sequence[Finding]:
        """Refuse: it concerns all documents."""
        _refuse()

    def set_settings(self, values: Mapping[str, str]) -> None:
        """Refuse: it concerns all documents."""
        _refuse(values)

    def set_synonyms(self, rules: str) -> None:
        """Refuse: it concerns all documents."""
        _refuse(rules)

    def note_roots(self, roots: Mapping[str, int]) -> None:
        """Refuse: it concerns all documents."""
        _refuse(roots)

    def compact(self) -> None:
        """Refuse: it concerns all documents."""
        _refuse()

    def close(self) -> None:
        """There is nothing to close: the store belongs to its opener."""


def _refuse(*_: object) -> NoReturn:
    raise NotAllowedError("This concerns all documents of the index.", "Only who may read all of them can do it.")


def named_for(view: Snapshot, viewer: Viewer, document: Document) -> Document:
    """Return a document with the id under which a viewer may write it.

    It is the one of the document of this source that they see. A new one has an id of its own readers, so that it meets
    no document of the same source that others have: neither replaces the other, and neither hears of it.
    """
    if document.id in view.describe([document.id]) or UNGUESSABLE.fullmatch(document.id):
        return document
    seen = next((info.id for info in view.documents() if info.source == document.source), None)
    readers = viewer.default if document.readers is None else document.readers
    return replace(document, id=seen or document_id("\n".join((document.source, *readers))))
