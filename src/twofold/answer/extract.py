"""An answer without a language model: the sentences of the best passages that say most of what was asked.

    value(s) = MEANING · cosine(question, s) + WORDS · Σ weight(t) new(t, s) / Σ weight(t) + RANK · score / best score

`new(t, s)` is 1 where the sentence holds term t and none chosen before did, else KNOWN; sentences are chosen one after
the other, so that two halves of a question find a sentence each. Worked: cosine .7, half of the weight in new terms,
the best passage: .7 · 1.0 + .5 · .6 + 1 · .1 = 1.1. The weights were chosen on one half of the questions of three
collections: docs/answers.md. Headings say nothing and are left out; what asks rather than tells is worth ASKING less.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from twofold.answer.events import ChunkEvent, CitationEvent
from twofold.answer.plan import AnswerPlan, Question
from twofold.answer.sanitize_output import OutputSanitizer, addresses_in
from twofold.answer.sentences import SentenceUnit, units_of
from twofold.answer.sources import weights_of
from twofold.answer.types import AnswerSentence, Citation, Source, TextTools, citation_of
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.types import Scores
from twofold.domain.warning import StageWarning, warning_of
from twofold.search.result import SearchResult

MEANING = 1.0
WORDS = 0.6
RANK = 0.1
KNOWN = 0.5
ASKING = 0.6
PASSAGES = 6
EMBEDDED = 16
"""How many sentences are embedded: those that words and rank speak for. It bounds the time that an answer takes."""

_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_CLOSING = " \t*_#`\"')\u201d\u2019"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A sentence chosen, its value when it was, and its place among those to choose from."""

    unit: SentenceUnit
    value: float
    place: int = 0


def extract(
    question: str, weights: Mapping[str, float], sources: Sequence[Source], reading: TextTools, sentences: int
) -> tuple[Chosen, ...]:
    """Choose at most `count` sentences; they come in reading order, best passage first.

    `weights` are the question's terms, each with how much it counts, such as its idf. Raises ModelError where the
    model fails.
    """
    best = sources[:PASSAGES]
    units = _telling(units_of(best, reading), best)
    if not units:
        return ()
    held = _held(units, weights, reading)
    ranks = _ranks(units, best)
    base = _meaning(question, units, held.mean_new, ranks, reading) + RANK * ranks
    base -= ASKING * np.array([one.text.rstrip(_CLOSING).endswith(_QUESTION_MARKS) for one in units])
    chosen: list[Chosen] = []
    fresh = np.ones(held.terms.shape[1])
    for _ in range(min(sentences, len(units))):
        values = base + WORDS * (held.terms @ (held.weights * fresh))
        values[[one.place for one in chosen]] = -np.inf
        place = int(values.argmax())
        chosen.append(Chosen(units[place], float(values[place]), place))
        fresh = np.where(held.terms[place] > 0.0, KNOWN, fresh)
    return tuple(sorted(chosen, key=lambda one: one.unit.order))


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """Which of the question's terms each sentence holds, (sentences, terms), and each term's weight, adding to 1."""

    terms: Scores
    weights: Scores

    @property
    def mean_new(self) -> Scores:
        return self.terms @ self.weights


def _telling(units: Sequence[SentenceUnit], sources: Sequence[Source]) -> Sequence[SentenceUnit]:
    """Leave out headings and titles, unless there is nothing else."""
    names = {one.number: {one.title, *(name for part in one.parts for name in part.heading)} for one in sources}
    telling = [one for one in units if one.text.strip(_CLOSING) not in names[one.source]]
    return telling or units


def _held(units: Sequence[SentenceUnit], weights: Mapping[str, float], reading: TextTools) -> _Held:
    names = list(weights)
    counted = [reading.terms(one.text) for one in units]
    terms = np.array([[float(name in one) for name in names] for one in counted]).reshape(len(units), len(names))
    share = np.array([weights[name] for name in names], dtype=np.float64)
    return _Held(terms, share / share.sum() if share.sum() > 0 else share)


def _ranks(units: Sequence[SentenceUnit], sources: Sequence[Source]) -> Scores:
    best = max((one.score for one in sources), default=0.0)
    share = {one.number: max(0.0, one.score) / best if best > 0 else 1.0 / one.number for one in sources}
    return np.array([share[one.source] for one in units])


def _meaning(question: str, units: Sequence[SentenceUnit], words: Scores, ranks: Scores, reading: TextTools) -> Scores:
    """Return each sentence's cosine times its weight; those that were not embedded have that of the least."""
    if reading.embed is None or reading.embed_question is None:
        return np.zeros(len(units))
    first = np.argsort(-(WORDS * words + RANK * ranks), kind="stable")[:EMBEDDED]
    vectors = reading.embed([units[at].text for at in first])
    cosines = (vectors @ reading.embed_question([question])[0]).astype(np.float64)
    meaning = np.full(len(units), float(cosines.min()))
    meaning[first] = cosines
    return MEANING * meaning


APART = "\n\n"
_NEAR = 2


@dataclass(frozen=True, slots=True)
class Extracts:
    """What was extracted, and how to tell it."""

    text: str
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    events: tuple[ChunkEvent | CitationEvent, ...]
    warnings: tuple[StageWarning, ...] = ()


def extracted(
    question: Question, plan: AnswerPlan, found: SearchResult, sources: tuple[Source, ...], reading: TextTools
) -> Extracts:
    """Extract; where the model fails, by shared terms alone, with a warning."""
    weights = weights_of(found.hits, question.terms)
    try:
        return _laid_out(extract(question.meant or question.text, weights, sources, reading, plan.sentences), sources)
    except ModelError as error:
        by_words = replace(reading, embed=None, embed_question=None)
        made = _laid_out(extract(question.meant or question.text, weights, sources, by_words, plan.sentences), sources)
        return replace(made, warnings=(warning_of("extract", error),))


def _laid_out(chosen: tuple[Chosen, ...], sources: tuple[Source, ...]) -> Extracts:
    """Put sentences behind one another, those of another passage apart, each with its marker."""
    by_number = {one.number: one for one in sources}
    text, before = "", None
    sentences: list[AnswerSentence] = []
    citations: list[Citation] = []
    events: list[ChunkEvent | CitationEvent] = []
    for one in chosen:
        unit = one.unit
        citation = citation_of(by_number[unit.source], unit.start, unit.end)
        shown = _shown(citation)
        if not shown:
            continue
        if before is not None:
            near = before.number == citation.number and 0 <= citation.start - before.end <= _NEAR
            text += " " if near else " … " if before.number == citation.number else APART
        start = len(text)
        text += f"{shown} [{citation.number}]"
        sentences.append(AnswerSentence(shown, start, start + len(shown), (len(citations),), 1.0, supported=True))
        events += [
            ChunkEvent(text[sum(len(each.content) for each in events if isinstance(each, ChunkEvent)) :]),
            CitationEvent(len(citations), citation),
        ]
        citations.append(citation)
        before = citation
    return Extracts(text, tuple(sentences), tuple(citations), tuple(events))


def _shown(citation: Citation) -> str:
    """Return a quotation as it may be shown: no markers, pictures or tags of the document's, on one line."""
    own = addresses_in(citation.quote)
    guard = OutputSanitizer(lambda _: (), own.__contains__)
    parts = [*guard.feed(citation.quote), *guard.finish()]
    return " ".join("".join(part for part in parts if isinstance(part, str)).split())
