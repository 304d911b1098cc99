"""Sentences of passages that say nothing about the question, left out before a model reads them.

    score(s) = ½ · clip((cosine(question, s) - FLOOR) / (CEILING - FLOOR), 0, 1) + ½ · BM25(question, s) / the best BM25

A sentence stays where its score is at least `prune` times the best one of all passages given; the best of each passage
always stays, and so does what stands between two that stay in a row. Worked, `prune` .5: scores .9, .5, .2 leave the
first two, since .5 · .9 = .45. Passages with tables or code are left whole: a row says nothing without its header.
What is left keeps its places in the document, so that quotations stay true.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from twofold.answer.sentences import SentenceUnit, units_of
from twofold.answer.types import Part, Source, TextTools
from twofold.domain.dataclass import dataclass
from twofold.domain.ports import SentencePruner
from twofold.domain.types import Scores
from twofold.text.bm25 import inverse_document_frequency, length_norm, saturation

FLOOR = 0.4
CEILING = 0.9
K1 = 1.2
B = 0.75
APART = " … "
_WHOLE = re.compile(r"^\s*\||```|^(?: {4}|\t)\S|\t", re.MULTILINE)


@dataclass(frozen=True, slots=True, eq=False)
class HybridPruner:
    """Scores sentences by the collection's own embedder and by BM25 among each other; without a model by BM25 alone."""

    reading: TextTools

    def score(self, question: str, sentences: Sequence[str]) -> Scores:
        """Return scores in [0, 1], (len(sentences),). Raises ModelError."""
        words = _bm25(self.reading.terms(question), [self.reading.terms(one) for one in sentences])
        words = words / words.max() if words.max() > 0.0 else words
        if self.reading.embed is None or self.reading.embed_question is None:
            return words
        cosines = self.reading.embed(list(sentences)) @ self.reading.embed_question([question])[0]
        return np.asarray(0.5 * np.clip((cosines - FLOOR) / (CEILING - FLOOR), 0.0, 1.0) + 0.5 * words)


def pruned(
    question: str, sources: Sequence[Source], prune: float, reading: TextTools, pruner: SentencePruner
) -> tuple[Source, ...]:
    """Return the sources with the sentences that stay. Raises ModelError where the pruner fails."""
    units = [one for one in units_of(sources, reading) if not _stays_whole(sources[one.source - 1])]
    if not units:
        return tuple(sources)
    scores = pruner.score(question, [one.text for one in units])
    enough = prune * float(scores.max())
    kept: dict[int, list[SentenceUnit]] = {}
    best: dict[int, tuple[float, SentenceUnit]] = {}
    for unit, score in zip(units, scores.tolist(), strict=True):
        if unit.source not in best or score > best[unit.source][0]:
            best[unit.source] = (score, unit)
        if score >= enough:
            kept.setdefault(unit.source, []).append(unit)
    left = {number: kept.get(number) or [unit] for number, (_, unit) in best.items()}
    return tuple(_cut(one, left[one.number], units) if one.number in left else one for one in sources)


def _stays_whole(source: Source) -> bool:
    return bool(_WHOLE.search(source.text))


def _cut(source: Source, kept: Sequence[SentenceUnit], units: Sequence[SentenceUnit]) -> Source:
    """Return a source of the sentences that are kept; those in a row are one stretch of the document."""
    following = {one.order: after for one, after in pairwise(units)}
    runs: list[tuple[SentenceUnit, SentenceUnit]] = []
    for unit in kept:
        before = runs[-1][1] if runs else None
        if before and following.get(before.order) is unit and _part_of(source, before) is _part_of(source, unit):
            runs[-1] = (runs[-1][0], unit)
        else:
            runs.append((unit, unit))
    text, parts = "", []
    for first, last in runs:
        part = _part_of(source, first)
        begin = part.at + first.start - part.start
        text += APART if text else ""
        parts.append(replace(part, start=first.start, end=last.end, at=len(text)))
        text += source.text[begin : begin + last.end - first.start]
    return replace(source, text=text, parts=tuple(parts))


def _part_of(source: Source, unit: SentenceUnit) -> Part:
    return next(one for one in source.parts if one.start <= unit.start and unit.end <= one.end)


def _bm25(asked: Mapping[str, int], sentences: Sequence[Mapping[str, int]]) -> Scores:
    """Return BM25 of each sentence, the sentences being the whole collection."""
    lengths = [sum(one.values()) for one in sentences]
    average = sum(lengths) / len(lengths) or 1.0
    spread = {term: sum(term in one for one in sentences) for term in asked}
    weights = {term: inverse_document_frequency(len(sentences), count) for term, count in spread.items() if count}
    return np.array(
        [
            sum(
                weight * saturation(one[term], length_norm(length, average, K1, B), K1)
                for term, weight in weights.items()
                if term in one
            )
            for one, length in zip(sentences, lengths, strict=True)
        ]
    )
