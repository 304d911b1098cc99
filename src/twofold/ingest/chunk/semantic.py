"""Sections cut once more where their subject changes, as an embedder sees it."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from twofold.domain.ports import Chunker, Measure
from twofold.domain.types import Chunk, Document, Vectors
from twofold.ingest.chunk.draft import Draft, Group, read_draft, runs, write_chunks
from twofold.ingest.chunk.plan import ChunkPlan
from twofold.ingest.chunk.structure import in_other_section, merge_tiny, sentence_cut

Embed = Callable[[Sequence[str]], Vectors]

_WINDOW = 3
_PERCENTILE = 10


def semantic(measure: Measure, plan: ChunkPlan, embed: Embed) -> Chunker:
    """Cut as `structure` does, and also where the cosine of the three sentences before and after a place is lowest.

    Lowest means below the tenth percentile of all such places in the document. Parts below `plan.minimum` are merged
    as tiny sections are. Every sentence is embedded, all in one call: a document costs twice the embedding.
    """

    def chunk(document: Document) -> tuple[Chunk, ...]:
        draft = read_draft(document, sentence_cut(document, measure), plan, measure)
        sections = _cut_at(runs(draft, in_other_section), _drops(draft, embed))
        return write_chunks(draft, merge_tiny(draft, sections, plan), plan)

    return chunk


def neighbour_similarity(vectors: Vectors, window: int) -> NDArray[np.float64]:
    """Give, for each place between two sentences, the cosine of the mean vectors of `window` sentences on each side.

    `vectors` is (n, dimensions); the answer is (n - 1,), in [-1, 1]; fewer sentences are taken at the ends. Two equal
    vectors and then an orthogonal one, window 1, give [1.0, 0.0].
    """
    count = len(vectors)
    sums = np.concatenate([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0, dtype=np.float64)])
    places = np.arange(1, count)
    before = sums[places] - sums[np.maximum(places - window, 0)]
    after = sums[np.minimum(places + window, count)] - sums[places]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    products: NDArray[np.float64] = np.sum(before * after, axis=1)
    return products / np.where(lengths > 0, lengths, 1.0)


def _drops(draft: Draft, embed: Embed) -> set[int]:
    """Give the pieces that begin a new subject."""
    if len(draft.pieces) <= 2 * _WINDOW:
        return set()
    text = draft.document.text
    similarity = neighbour_similarity(embed([text[piece.start : piece.end] for piece in draft.pieces]), _WINDOW)
    below = similarity < np.percentile(similarity, _PERCENTILE)
    return {int(place) + 1 for place in np.flatnonzero(below)}


def _cut_at(groups: Iterable[Group], places: set[int]) -> Iterator[Group]:
    for first, stop in groups:
        start = first
        for place in range(first + 1, stop):
            if place in places:
                yield start, place
                start = place
        yield start, stop
