"""Vectors that follow: passages stored without a vector are embedded, those that queries found first."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import CorruptError, ModelError
from twofold.domain.types import Vector
from twofold.indexing.components import IndexingComponents
from twofold.indexing.prepare import count_truncated

OnVectors = Callable[[int, int], None]
"""Called with how many passages more got their vector, and how many are still without one."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """How many texts were embedded, how many of them the embedder had to cut short, how many passages still wait."""

    embedded: int = 0
    truncated: int = 0
    pending: int = 0


def embed_pending(
    parts: IndexingComponents, on_vectors: OnVectors, goes_on: Callable[[], bool] = lambda: True
) -> Embedded:
    """Embed passages without a vector, a batch in each transaction, while `goes_on` says so.

    What queries made on the spot is stored as it is, what they wanted comes next, the rest in the order of writing. It
    may be stopped at any moment and called again. Raises ModelError, MismatchError where the index was made again by
    another embedder meanwhile, WriterBusyError, StorageFullError.
    """
    embedded = truncated = 0
    pending = _store_made(parts, on_vectors)
    while pending and goes_on():
        texts = _next_texts(parts)
        if not texts:  # another sync has embedded the rest meanwhile
            pending = parts.store.info().pending
            break
        fresh = _embedded(parts, texts, pending)
        given = parts.store.update_vectors(parts.fingerprint.embedder, fresh)
        if not given and texts == _oldest(parts):
            raise CorruptError(
                f"{len(texts)} passages do not match what is stored of them, so their vectors were not stored.",
                "Run `twofold index verify`.",
            )
        embedded, truncated = embedded + len(texts), truncated + count_truncated(parts.embedder, texts)
        pending = parts.store.info().pending
        on_vectors(given, pending)
        parts.models.memory.look()
        if parts.models.pending.has_made():
            pending = _store_made(parts, on_vectors)
    return Embedded(embedded, truncated, pending)


def _store_made(parts: IndexingComponents, on_vectors: OnVectors) -> int:
    """Store what queries embedded; return how many passages are still without a vector."""
    given = parts.store.update_vectors(parts.fingerprint.embedder, parts.models.pending.take_made())
    pending = parts.store.info().pending
    if given:
        on_vectors(given, pending)
    return pending


def _next_texts(parts: IndexingComponents) -> Sequence[str]:
    """Return the texts to embed next: those that queries wanted and nobody has embedded, then the oldest."""
    wanted = parts.models.pending.take_requested(parts.batch)
    if wanted:
        with parts.store.view(rows_only=True) as view:
            known = view.vectors_for(wanted)
        wanted = [text for text in wanted if text not in known]
    return wanted or _oldest(parts)


def _oldest(parts: IndexingComponents) -> Sequence[str]:
    with parts.store.view(rows_only=True) as view:
        return view.pending_texts(parts.batch)


def _embedded(parts: IndexingComponents, texts: Sequence[str], pending: int) -> Mapping[str, Vector]:
    try:
        made = parts.embed_passages(texts)
    except ModelError as error:
        raise ModelError(
            f"{error.message} {pending:,} passages have no vector yet; their words are found.", error.hint
        ) from error
    return {text: np.asarray(vector) for text, vector in zip(texts, made, strict=True)}
