"""Sections cut once more where their subject changes, as an embedder sees it."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from twofold.domain.ports import Chunker, Measure
from twofold.domain.types import Chunk, Document, Vectors
from twofold.ingest.chunking.layout import Draft, Group, read_draft, runs, write_chunks
from twofold.ingest.chunking.plan import ChunkPlan
from twofold.ingest.chunking.structure import fits, in_other_section, merge_tiny, sentence_cut

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
        drops = _drops(draft, [(0, len(draft.pieces))], embed)
        sections = _cut_at(runs(draft, in_other_section), drops)
        return write_chunks(draft, merge_tiny(draft, sections, plan), plan)

    return chunk


def hybrid(measure: Measure, plan: ChunkPlan, embed: Embed) -> Chunker:
    """Cut as `structure` does, and sections that do not fit one passage as `semantic` does, each for itself.

    A section that fits stays whole. In a longer one a subject ends where the cosine is below the tenth percentile of
    the places in that section. Only the sentences of long sections are embedded, all in one call.
    """

    def chunk(document: Document) -> tuple[Chunk, ...]:
        draft = read_draft(document, sentence_cut(document, measure), plan, measure)
        sections = list(runs(draft, in_other_section))
        drops = _drops(draft, [one for one in sections if not fits(draft, one, plan)], embed)
        return write_chunks(draft, merge_tiny(draft, _cut_at(sections, drops), plan), plan)

    return chunk


def neighbor_similarity(vectors: Vectors, window: int) -> NDArray[np.float64]:
    """Return, for each place between two sentences, the cosine of the mean vectors of `window` sentences on each side.

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


def _drops(draft: Draft, groups: Sequence[Group], embed: Embed) -> set[int]:
    """Return the pieces that begin a new subject; each group has a percentile of its own."""
    long = [(first, stop) for first, stop in groups if stop - first > 2 * _WINDOW]
    if not long:
        return set()
    text = draft.document.text
    sentences = [draft.pieces[at] for first, stop in long for at in range(first, stop)]
    vectors = embed([text[piece.start : piece.end] for piece in sentences])
    found: set[int] = set()
    row = 0
    for first, stop in long:
        similarity = neighbor_similarity(vectors[row : row + stop - first], _WINDOW)
        below = similarity < np.percentile(similarity, _PERCENTILE)
        found.update(first + 1 + int(place) for place in np.flatnonzero(below))
        row += stop - first
    return found


def _cut_at(groups: Iterable[Group], places: set[int]) -> Iterator[Group]:
    for first, stop in groups:
        start = first
        for place in range(first + 1, stop):
            if place in places:
                yield start, place
                start = place
        yield start, stop
