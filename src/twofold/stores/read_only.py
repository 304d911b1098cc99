"""What several collections together refuse: to be written as one."""

from collections.abc import Mapping, Sequence
from typing import NoReturn

from twofold.domain.access import Readers
from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import EmbedderIdentity, IndexFingerprint, Remake
from twofold.domain.types import Entry, Metadata, Vector


class ReadOnlyStore:
    """The half of a store that writes, refused."""

    def ensure_fingerprint(self, fingerprint: IndexFingerprint) -> None:
        """Refuse to write."""
        _refuse(fingerprint)

    def upsert(self, entries: Sequence[Entry]) -> None:
        """Refuse to write."""
        _refuse(entries)

    def update_vectors(self, embedder: EmbedderIdentity, vectors: Mapping[str, Vector]) -> int:
        """Refuse to write."""
        _refuse(embedder, vectors)

    def delete(self, documents: Sequence[str]) -> int:
        """Refuse to write."""
        _refuse(documents)

    def rebuild(self, fingerprint: IndexFingerprint, remake: Remake) -> None:
        """Refuse to write."""
        _refuse(fingerprint, remake)

    def set_settings(self, values: Mapping[str, str]) -> None:
        """Refuse to write."""
        _refuse(values)

    def set_synonyms(self, rules: str) -> None:
        """Refuse to write."""
        _refuse(rules)

    def set_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Refuse to write."""
        _refuse(changes)

    def set_readers(self, changes: Mapping[str, Readers | None]) -> None:
        """Refuse to write."""
        _refuse(changes)

    def note_roots(self, roots: Mapping[str, int]) -> None:
        """Refuse to write."""
        _refuse(roots)

    def compact(self) -> None:
        """Refuse to write."""
        _refuse()


def _refuse(*_: object) -> NoReturn:
    raise InvalidInputError("Several collections cannot be written as one.", "Write each by itself.")
