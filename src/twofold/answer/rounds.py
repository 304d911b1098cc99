"""Searching again for what the sentences chosen leave open, as much as the effort of a question allows.

A further search asks for the names that the last sentence chosen brought, and the words of the question that no
sentence shown holds; where a name of the question is among these, for those words alone. The cross-encoder reads the
likeliest sentences of what it finds, outside of the passages shown, against the same words, and the best one is added.

It ends after the rounds of the effort, where the sentences hold nine in ten of the question's words,
where a search finds nothing else, or where the best sentence is unlikely (a logit below -4). Without a cross-encoder
there is no further search.
"""

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from twofold.answer.complete import lead_of
from twofold.answer.events import StageEvent
from twofold.answer.plan import AnswerComponents, AnswerPlan, Question
from twofold.answer.sentence_scores import likely, scored
from twofold.answer.sentences import SentenceUnit, units_of
from twofold.answer.sources import sources_of, weights_of
from twofold.answer.telling import telling
from twofold.answer.types import Round, Source, TextTools
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import CorruptError, ModelError, StoreError
from twofold.domain.warning import StageWarning, WarningCode, warning_of
from twofold.query.two_parts import has_two_parts
from twofold.search.result import SearchResult

ROUNDS: Mapping[str, int] = MappingProxyType({"low": 0, "medium": 1, "high": 3})
"""How many further searches an answer may take; `medium` takes its one for questions with two parts only."""
LEAST = -4.0
"""The least logit of a sentence that is added: of 21 sentences above it 18 were needed."""
OPEN = 0.1
"""What share of the question's words must be left open for a further search."""
PASSAGES = 10
STAGE = "search_again"
NO_READER = StageWarning(
    STAGE, WarningCode.UNAVAILABLE, "no cross-encoder is at hand that could choose among what further searches find."
)
_LONGEST = 600  # characters of a query
_NAME = re.compile(r"[^\W\d_a-z][\w.'\u2019-]*(?: (?:of |the |and )?[^\W\d_a-z][\w.'\u2019-]*)*")
_WORD = re.compile(r"[\w.'\u2019-]*\w")
_PLAIN = frozenset({"who", "what", "which", "when", "where", "how", "why", "name", "a", "an", "the", "he", "she", "it"})


@dataclass(frozen=True, slots=True)
class Shown:
    """A sentence chosen, its logit, the words it is understood by, and whether the sentence before is of these."""

    unit: SentenceUnit
    value: float
    above: str = ""
    led: bool = False


@dataclass(frozen=True, slots=True)
class Gathered:
    """What further searches brought: all sources, the sentences to add, each search, and what went wrong."""

    sources: tuple[Source, ...]
    added: tuple[Shown, ...] = ()
    rounds: tuple[Round, ...] = ()
    warnings: tuple[StageWarning, ...] = ()


def rounds_of(question: Question, plan: AnswerPlan) -> int:
    """Return how many further searches a question may take."""
    asked = question.meant or question.text
    return 0 if plan.effort == "medium" and not has_two_parts(asked) else ROUNDS[plan.effort]


def gathered(
    question: Question,
    chosen: Sequence[Shown],
    draft: Gathered,
    parts: AnswerComponents,
    most: int,
) -> Generator[StageEvent, None, Gathered]:
    """Search again, at most `most` times, and return what that brought; yield an event before each search.

    What fails ends it, with a warning.
    """
    known, asked, shown = draft, question.meant or question.text, list(chosen)
    if most and parts.reading.relevance is None:
        return replace(known, warnings=(NO_READER,))
    while shown and len(known.rounds) < most:
        query = open_words(asked, question.terms, [f"{one.above} {one.unit.text}" for one in shown], parts.reading)
        if not query or parts.look_again is None:
            break
        yield StageEvent(STAGE)
        try:
            found = parts.look_again(query)
            known, added = _with_best(known, query, found, shown, parts.reading)
        except (ModelError, StoreError, CorruptError) as error:
            return replace(known, warnings=(warning_of(STAGE, error),))
        if added is None:
            break
        shown.append(added)
    return known


def _with_best(
    known: Gathered, query: str, found: SearchResult, shown: Sequence[Shown], reading: TextTools
) -> tuple[Gathered, Shown | None]:
    """Return what is known after a search, and the sentence that it added."""
    sources, fresh = _joined(known.sources, sources_of(found.hits))
    taken = {one.unit.source for one in shown}
    others = [one for one in fresh if one.number not in taken][:PASSAGES]
    best = _best(query, others, weights_of(found.hits, dict.fromkeys(reading.terms(query), 1.0)), reading)
    if best is None or best.value < LEAST:
        last = Round(query, len(found.hits), "", None if best is None else round(best.value, 4))
        return replace(known, rounds=(*known.rounds, last)), None
    added = replace(best, unit=replace(best.unit, order=-1 - len(known.rounds)))  # counted apart from the first search
    one = Round(query, len(found.hits), added.unit.text, round(best.value, 4))
    return Gathered(sources, (*known.added, added), (*known.rounds, one)), added


def open_words(question: str, weights: Mapping[str, float], shown: Sequence[str], reading: TextTools) -> str:
    """Return what to search for next: what the sentences shown leave open; empty where that is little."""
    held = {term for text in shown for term in reading.terms(text)}
    spoken = {word.lower() for text in shown for word in _WORD.findall(text)}
    halves = {part for name in _names(question) if not set(name.lower().split()) <= spoken for part in name.split()}
    left = [word for word in _WORD.findall(question) if word.lower() not in spoken or word in halves]
    words = {term: weight for term, weight in weights.items() if term[:1] != "="}
    if sum(weight for term, weight in words.items() if term not in held) <= OPEN * sum(words.values()):
        return ""
    names = [] if _names(" ".join(left)) else [one for one in _names(shown[-1]) if one.lower() not in question.lower()]
    return " ".join((*names, *left))[:_LONGEST]


def _names(text: str) -> Iterable[str]:
    """Return the names in a text, each once."""
    found = (one.group() for one in _NAME.finditer(text))
    return dict.fromkeys(one for one in found if one.lower() not in _PLAIN)


def _joined(known: Sequence[Source], fresh: Sequence[Source]) -> tuple[tuple[Source, ...], list[Source]]:
    """Return all sources, those known with their numbers, and what was found now, best first."""
    numbers = {_place(one): one for one in known}
    everything, now = list(known), []
    for one in fresh:
        same = numbers.get(_place(one))
        if same is None:
            same = replace(one, number=len(everything) + 1)
            everything.append(same)
        now.append(same)
    return tuple(everything), now


def _place(source: Source) -> tuple[str, ...]:
    return (source.collection, *(part.chunk_id for part in source.parts))


def _best(query: str, sources: Sequence[Source], weights: Mapping[str, float], reading: TextTools) -> Shown | None:
    """Return the likeliest sentence of some sources; None without any."""
    units = telling(units_of(sources, reading), sources)
    if not units:
        return None
    found = scored(query, units, sources, weights, reading)
    told = likely(query, units, sources, found, reading)
    at = max(told.read, key=lambda place: told.read[place])
    return shown_of(units[at], told.read[at], sources)


def shown_of(unit: SentenceUnit, value: float, sources: Sequence[Source]) -> Shown:
    """Return a sentence with the nearest heading above it and what leads it."""
    source = next(one for one in sources if one.number == unit.source)
    part = next((one for one in source.parts if one.start <= unit.start < one.end), source.first)
    lead = lead_of(unit, source)
    above = " ".join((*(part.heading[-1:] or (source.title,)), lead.text))
    return Shown(unit, value, above, lead.is_neighbor)


def foremost(numbers: Sequence[int], sources: Sequence[Source]) -> tuple[Source, ...]:
    """Return sources with those of these numbers first, numbered in that order: a model may have room for few."""
    first = [next(one for one in sources if one.number == number) for number in dict.fromkeys(numbers)]
    rest = [one for one in sources if one.number not in set(numbers)]
    return tuple(replace(one, number=at) for at, one in enumerate((*first, *rest), start=1))
