"""The reindex: every passage made again by other parts, while searches go on with the old ones."""

from collections.abc import Sequence

from twofold.domain.types import Document, IndexedChunk
from twofold.indexing.components import IndexingComponents
from twofold.indexing.prepare import prepare
from twofold.indexing.sync import OnProgress
from twofold.indexing.types import Phase, SyncProgress


def reindex(parts: IndexingComponents, on_progress: OnProgress) -> None:
    """Make all passages again by the parts' recipe, then switch over. Interrupted, it goes on where it stopped."""
    total = parts.store.info().documents
    done = embedded = 0

    def count(passages: int) -> None:
        nonlocal embedded
        embedded += passages
        on_progress(SyncProgress(Phase.EMBED, done, total, "", embedded))

    def remake(documents: Sequence[Document]) -> Sequence[tuple[IndexedChunk, ...]]:
        nonlocal done
        prepared = prepare(documents, parts, None, count)
        done += len(documents)
        on_progress(SyncProgress(Phase.WRITE, done, total, documents[-1].source, embedded))
        return [entry.chunks for entry in prepared.entries]

    parts.store.rebuild(parts.fingerprint, remake)
