"""Whether the documents bear out what was written: each sentence against the span that supports it best.

    words(s, u)   = Σ weight(t) [t in u] / Σ weight(t) over the sentence's terms, weight(t) = 1 + ln(N / n(t))
    support(s, u) = WORDS · words + (1 - WORDS) · clip((cosine - FLOOR) / (CEILING - FLOOR), 0, 1)

N spans are compared, n(t) of which hold the term; a span is a sentence of a source, or two neighboring ones. Without
a model support is `words` alone. A sentence is supported from `ENOUGH` on, unless it names a number, or within the
sentence a name, that its source does not: these are what is made up most and noticed least. Where a span has `NEAR` of
a sentence's words they speak of the same thing, and what they say otherwise counts too (`answer.discrepancies`).
Worked: words .8, cosine .85: .6 · .8 + .4 · .7 = .76. How well it tells what is borne out: docs/answers.md.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from twofold.answer.discrepancies import discrepancy
from twofold.answer.sentences import SentenceUnit, units_of, without_bullet
from twofold.answer.types import Source, TextTools
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.types import Scores, Vector, Vectors

WORDS = 0.6
FLOOR = 0.5
CEILING = 1.0
ENOUGH = 0.5
NEAR = 0.7
"""From what share of words on a span says the same as a sentence or something else of the same."""

NEXT = 0.1
"""How much less of the words another span may have that bears the sentence out where the best one does not."""

PREFERRED = 0.05
"""How much less support a source that the model itself named may give and still be the one that is cited."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"(?<=[^\W_A-Z][,;]\s|[^\W_][^\W_]\s)([A-Z][^\W\d_A-Z]+)")
_HEADING = re.compile(r"\s*(?:#{1,6}\s[^\n]{0,60}\Z|[-=*_|:\s]+\Z|```)")
_LEAD_IN = re.compile(r"[^.!?]{1,120}:\s*\Z")
_ROW = re.compile(r"\s*\|.*\|\s*", re.DOTALL)
_TELLS = re.compile(r"[^\W\d_]{2}|[\u2e80-\uffff]")
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Span:
    """Stretch of a source that may support a sentence: `document_text[start:end]`."""

    source: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found for a sentence: its best span, None for none at all, how far it supports it, and the verdict."""

    span: Span | None
    support: float
    supported: bool | None


class GroundednessChecker:
    """Holds sentences against some sources, which it reads once. Not for several threads.

    Where its model fails shared terms alone decide from then on, and `failure` says why.
    """

    def __init__(self, sources: Sequence[Source], reading: TextTools) -> None:
        self._reading = reading
        units = units_of(sources, reading)
        self._spans = spans_of(units)
        self._is_single = [at < len(units) for at in range(len(self._spans))]
        self._terms = [frozenset(reading.terms(one.text)) for one in self._spans]
        self._spread = Counter(term for terms in self._terms for term in terms)
        self._known = {one.number: _words(one.text) for one in sources}
        self._vectors: Vectors | None = None
        self.failure: ModelError | None = None

    def check(self, sentence: str, hints: Sequence[int] = ()) -> Finding:
        """Find what supports a sentence; sources in `hints` are preferred where they support it as well."""
        terms = self._reading.terms(sentence)
        if not claims(sentence, terms):
            return Finding(None, 0.0, None)
        if not self._spans:
            return Finding(None, 0.0, supported=False)
        words = self._words(terms)
        support = self._support(sentence, words)
        hinted = np.array([PREFERRED if one.source in hints else 0.0 for one in self._spans])
        lengths = np.array([len(one.text) for one in self._spans])
        place = int(np.lexsort((lengths, -np.round(support + hinted, 6)))[0])
        best, found = self._spans[place], float(support[place])
        bare = sentence[without_bullet(sentence) :]
        supported = found >= ENOUGH and _particulars(bare) <= self._known[best.source]
        return Finding(best, found, supported and not self._differs(bare, words))

    def _differs(self, sentence: str, words: Scores) -> bool:
        """Return whether every span that a sentence is nearly a copy of says something else; false without any."""
        least = max(NEAR, float(words.max()) - NEXT)
        near = np.flatnonzero(words >= least).tolist()
        single = [at for at in near if self._is_single[at]]
        return bool(near) and all(discrepancy(sentence, self._spans[at].text) for at in single or near)

    def _words(self, terms: Mapping[str, int]) -> Scores:
        weights = {term: 1.0 + math.log(len(self._spans) / max(1, self._spread[term])) for term in terms}
        total = sum(weights.values())
        words = np.array([sum(weights[term] for term in terms if term in held) for held in self._terms])
        return words / total if total else words

    def _support(self, sentence: str, words: Scores) -> Scores:
        cosines = self._cosines(sentence)
        if cosines is None:
            return words
        meaning = np.clip((cosines - FLOOR) / (CEILING - FLOOR), 0.0, 1.0)
        return np.asarray(WORDS * words + (1.0 - WORDS) * meaning, dtype=np.float64)

    def _cosines(self, sentence: str) -> Vector | None:
        embed = self._reading.embed
        if embed is None or self.failure is not None:
            return None
        try:
            if self._vectors is None:
                self._vectors = embed([one.text for one in self._spans])
            cosines: Vector = self._vectors @ embed([sentence])[0]
        except ModelError as error:
            self.failure = error
            return None
        return cosines


def spans_of(units: Sequence[SentenceUnit]) -> tuple[Span, ...]:
    """Return each sentence, and each with the one after it where both are of one source and near each other."""
    found = [Span(one.source, one.start, one.end, one.text) for one in units]
    for one, after in pairwise(units):
        if one.source == after.source and 0 <= after.start - one.end <= _PAIR:
            between = " " * (after.start - one.end)
            found.append(Span(one.source, one.start, after.end, one.text + between + after.text))
    return tuple(found)


def claims(sentence: str, terms: Mapping[str, int]) -> bool:
    """Return whether a sentence claims anything: a heading, a rule or a line that leads in a list does not.

    Neither does a row of a table that holds letters and numbers alone: any passage with these would bear it out.
    """
    if not terms or _HEADING.match(sentence) or _LEAD_IN.fullmatch(sentence):
        return False
    return bool(_TELLS.search(sentence)) or not _ROW.fullmatch(sentence)


def _words(text: str) -> frozenset[str]:
    """Return the numbers and words of a source, folded."""
    return frozenset(map(_plain, _NUMBER.findall(text))) | frozenset(map(str.casefold, _WORD.findall(text)))


def _particulars(sentence: str) -> frozenset[str]:
    """Return a sentence's numbers and names: words with a capital, except the first word of a sentence."""
    names = frozenset(found.casefold() for found in _NAME.findall(sentence))
    return frozenset(map(_plain, _NUMBER.findall(sentence))) | names


def _plain(number: str) -> str:
    """Write a number without what groups its digits: 24,000 and 24000 are one."""
    return re.sub(r"[.,](?=\d{3}(?!\d))", "", number)
