"""Searching again for what the sentences chosen leave open, as much as the effort of a question allows.

A further search asks for the names that the last sentence chosen brought, and the words of the question that no
sentence shown holds; where a name of the question is among these, for those words alone. The cross-encoder reads the
likeliest sentences of what it finds, outside of the passages shown, against the same words, and the best one is added.

The sentence added is of a document that the question or the sentence before names, where the search found one, else
the likeliest. It ends after the rounds of the effort, fewer where several documents are cited already, where the
sentences hold nine in ten of the question's words, where a search finds nothing else, or where the best sentence is
unlikely (a logit below -4) and not of a document named. Without a cross-encoder there is no further search.
"""

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from twofold.answer.events import StageEvent
from twofold.answer.links import linked
from twofold.answer.named import document_of
from twofold.answer.plan import AnswerComponents, AnswerPlan, Question
from twofold.answer.shown import Shown, best_of
from twofold.answer.sources import answering, sources_of, weights_of
from twofold.answer.types import Link, Round, Source, TextTools
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import CorruptError, ModelError, StoreError
from twofold.domain.warning import StageWarning, WarningCode, warning_of
from twofold.query.two_parts import has_two_parts
from twofold.search.result import SearchResult

ROUNDS: Mapping[str, int] = MappingProxyType({"low": 0, "medium": 1, "high": 3})
"""How many further searches an answer may take; `medium` takes its one for questions with two parts only."""
LEAST = -4.0
"""The least logit of a sentence that is added: of 21 sentences above it 18 were needed."""
Ask = Callable[[str, Sequence[str]], str]
"""Has a model write what to search for next, from the question and the sentences found."""
OPEN = 0.1
"""What share of the question's words must be left open for a further search."""
ENOUGH = 2
"""How many searches each further document shown saves: most questions have two parts."""
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
class Gathered:
    """What further searches brought: all sources, the sentences to add, each search, and what went wrong."""

    sources: tuple[Source, ...]
    added: tuple[Shown, ...] = ()
    rounds: tuple[Round, ...] = ()
    warnings: tuple[StageWarning, ...] = ()
    links: tuple[Link, ...] = ()


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
    ask: Ask | None = None,
) -> Generator[StageEvent, None, Gathered]:
    """Search again, at most `most` times, and return what that brought; yield an event before each search.

    `ask` has a language model write what to search for; where it writes nothing that can be searched for, or fails, the
    words left open are searched for. What else fails ends it, with a warning.
    """
    known, asked, shown = draft, question.meant or question.text, list(chosen)
    if most and parts.reading.relevance is None:
        return replace(known, warnings=(NO_READER,))
    while shown and len(known.rounds) < _allowed(most, shown, known.sources):
        leads = known.added[-1] if known.added else shown[0]
        words = open_words(asked, question.terms, [one.text for one in (*shown, leads)], parts.reading)
        if not words or parts.look_again is None:
            break
        yield StageEvent(STAGE)
        try:
            known, query = _written(known, ask, asked, shown)
            one = Round(query or words, 0, by="model" if query else "words")
            found = parts.look_again(one.query)
            known, added = _with_best(question, known, one, found, (leads, *shown), parts.reading)
        except (ModelError, StoreError, CorruptError) as error:
            return replace(known, warnings=(*known.warnings, warning_of(STAGE, error)))
        if added is None:
            break
        shown.append(added)
    return known


def _allowed(most: int, shown: Sequence[Shown], sources: Sequence[Source]) -> int:
    """Return how many searches there may be in all: fewer where sentences of several documents are shown already."""
    of = {one.number: document_of(one) for one in sources}
    return most - ENOUGH * (len({of[one.unit.source] for one in shown}) - 1)


def _written(known: Gathered, ask: Ask | None, asked: str, shown: Sequence[Shown]) -> tuple[Gathered, str]:
    """Return what a language model would search for next, empty for nothing; where it fails, with a warning, once."""
    if ask is None or known.warnings:
        return known, ""
    try:
        return known, ask(asked, [one.unit.text for one in shown])
    except ModelError as error:
        return replace(known, warnings=(warning_of(STAGE, error),)), ""


def _with_best(  # a search and what it is held against
    question: Question, known: Gathered, asked: Round, found: SearchResult, shown: Sequence[Shown], reading: TextTools
) -> tuple[Gathered, Shown | None]:
    """Return what is known after a search, and the sentence that it added.

    That is of a document which the question or the sentence shown last names, else the likeliest one.
    """
    sources, fresh = _joined(known.sources, sources_of(answering(found.hits)))
    taken = {one.unit.source for one in shown}
    others = [one for one in fresh if one.number not in taken][:PASSAGES]
    leading = next(one for one in sources if one.number == shown[0].unit.source)
    links = linked(question, shown[:1], (leading, *others), reading)[:1]
    if links:
        best: Shown | None = links[0].shown
    else:
        weights = weights_of(found.hits, dict.fromkeys(reading.terms(asked.query), 1.0))
        best = best_of(asked.query, others, weights, reading)
    done = replace(asked, found=len(found.hits), logit=None if best is None else round(best.value, 4))
    if best is None or (not links and best.value < LEAST):
        return replace(known, rounds=(*known.rounds, done)), None
    added = replace(
        best, unit=replace(best.unit, order=-100 - len(known.rounds))
    )  # counted apart from the first search
    done = replace(done, added=added.unit.text)
    named = (*known.links, *(one.link for one in links))
    return Gathered(sources, (*known.added, added), (*known.rounds, done), known.warnings, named), added


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


def foremost(numbers: Sequence[int], sources: Sequence[Source]) -> tuple[Source, ...]:
    """Return sources with those of these numbers first, numbered in that order: a model may have room for few."""
    first = [next(one for one in sources if one.number == number) for number in dict.fromkeys(numbers)]
    rest = [one for one in sources if one.number not in set(numbers)]
    return tuple(replace(one, number=at) for at, one in enumerate((*first, *rest), start=1))
