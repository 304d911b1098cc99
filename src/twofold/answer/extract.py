"""An answer without a language model: the few sentences that most likely answer, the best one first.

Each sentence of the best passages has log-odds of answering (`answer.sentence_scores`); the likeliest comes first.
Another one follows (`answer.further`) where it is not much less likely, says something else, and is worth most by

    log-odds(s) + NEW · Σ weight(t) new(t, s)

where `new(t, s)` is 1 where the sentence holds the question's term t and none chosen before did, so that two halves of
a question find a sentence each. Worked: -.4, a third of the weight in new terms: -.4 + 1.5 · .33 = .1. Where no
cross-encoder has read, chances are compared instead, and new terms count .3. Headings say nothing and are left out.
What is shown is complete: see `answer.complete`. A question that asks for more than one fact (`query.broad`) is shown
more of the paragraph of each (`answer.adjoining`), and less likely ones; one for a step is shown what follows each.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from twofold.answer.adjoining import around, following, joined, with_default
from twofold.answer.certainty import Evidence, evidence_of
from twofold.answer.complete import Complete, completed
from twofold.answer.events import ChunkEvent, CitationEvent
from twofold.answer.further import GAP, GAP_BROAD, Candidates, Manner, groups
from twofold.answer.plan import AnswerPlan, Question
from twofold.answer.sanitize_output import OutputSanitizer, addresses_in
from twofold.answer.sentence_scores import Likely, likely, needed_leads, read_alone, scored
from twofold.answer.sentences import SentenceUnit, units_of
from twofold.answer.short import short_answer
from twofold.answer.sources import weights_of
from twofold.answer.table import as_markdown, cells_of
from twofold.answer.telling import telling
from twofold.answer.types import AnswerSentence, Citation, Source, TextTools, citation_of
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.warning import StageWarning, warning_of
from twofold.query.broad import is_broad, wants_list, wants_paragraph, wants_value
from twofold.search.result import SearchResult

PASSAGES, PASSAGES_TO_READ = 6, 10
"""How many passages sentences are taken from; the second where a cross-encoder reads them."""

_NAME = 2
"""From how many words on a sentence that repeats the question may answer it, as a yes or no."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A sentence chosen, its log-odds of answering, and whether it is shown with the sentence before it."""

    unit: SentenceUnit
    value: float
    led: bool = False
    evidence: Evidence | None = None


def evidence_for(chosen: Sequence[Chosen]) -> Evidence | None:
    """Return what speaks for an answer of these sentences."""
    return chosen[0].evidence if chosen else None


def extract(
    question: str, weights: Mapping[str, float], sources: Sequence[Source], reading: TextTools, sentences: int
) -> tuple[Chosen, ...]:
    """Choose at most `sentences` sentences, the likeliest first; the first has its evidence, where it was read.

    `weights` are the question's terms, each with how much it counts, such as its idf. Raises ModelError where the
    model fails.
    """
    best = sources[: PASSAGES if reading.relevance is None else PASSAGES_TO_READ]
    units = telling(units_of(best, reading), best)
    if not units:
        return ()
    found = scored(question, units, best, weights, reading)
    told = likely(question, units, best, found, reading)
    words = [frozenset(reading.terms(unit.text)) for unit in units]
    told = _without_names(told, words, frozenset(reading.terms(question)), frozenset(weights))

    def alone(places: Sequence[int]) -> Mapping[int, float]:
        return read_alone(question, {at: units[at] for at in places}, best, reading)

    gap = GAP_BROAD if is_broad(question) else GAP
    manner = Manner(sentences, gap, _together(question, units, told, best), alone, reading.terms)
    shown = groups(Candidates(units, found, told, words), manner)
    bare = {one: units[one] for one in shown if shown[one].start == one}
    led = needed_leads(question, bare, best, told, reading)
    first, by_number = next(iter(shown)), {one.number: one for one in best}
    evidence = evidence_of(reading.reader, told.read[first], list(told.read.values())) if told.read else None
    made = [
        Chosen(_as_one(place, units, group, by_number), float(told.logits[place]), place in led)
        for place, group in shown.items()
    ]
    return (replace(made[0], evidence=evidence), *made[1:])


def _together(
    question: str, units: Sequence[SentenceUnit], told: Likely, sources: Sequence[Source]
) -> Callable[[int], range] | None:
    """Return what tells which sentences are shown with one, where a question asks for more than one sentence."""
    by_number = {one.number: one for one in sources}
    if wants_value(question):
        return lambda place: with_default(place, units, by_number[units[place].source])
    if not is_broad(question):
        step = wants_paragraph(question)
        return (lambda place: following(place, units, by_number[units[place].source])) if step else None
    return lambda place: around(place, units, told.logits, by_number[units[place].source])


def _as_one(place: int, units: Sequence[SentenceUnit], group: range, sources: Mapping[int, Source]) -> SentenceUnit:
    return units[place] if len(group) == 1 else joined([units[at] for at in group], sources[units[place].source])


def _without_names(
    told: Likely, words: Sequence[frozenset[str]], asked: frozenset[str], known: frozenset[str]
) -> Likely:
    """Leave out what only repeats a name of the question, such as that of an entry, unless there is nothing else.

    `known` are the words searched for, those that feedback added among them: a single one of these says nothing
    either, but a name of two words that the question does not hold may be the answer to "Who …?".
    """
    bare = np.array([len(one) <= _NAME and one <= (known if len(one) < _NAME else asked) for one in words])
    left = np.where(bare, -np.inf, told.logits)
    return replace(told, logits=left) if np.isfinite(left).any() else told


_ZERO = re.compile(r"(?<![\w.])0(?![\w.])")
APART = "\n\n"
FAILED = "Sentences are chosen by words alone."


@dataclass(frozen=True, slots=True)
class Extracts:
    """What was extracted, and how to tell it."""

    text: str
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    events: tuple[ChunkEvent | CitationEvent, ...]
    short: str = ""
    evidence: Evidence | None = None


def selection(
    question: Question, plan: AnswerPlan, found: SearchResult, sources: tuple[Source, ...], reading: TextTools
) -> tuple[tuple[Chosen, ...], tuple[StageWarning, ...]]:
    """Choose sentences; where the model fails, by shared terms alone, with a warning that says what to do."""
    weights, asked = weights_of(found.hits, question.terms), question.meant or question.text
    try:
        return extract(asked, weights, sources, reading, plan.sentences), reading.warnings
    except ModelError as error:
        why = replace(warning_of("extract", error), message=f"{FAILED} {error.message} {error.hint}")
        return extract(asked, weights, sources, reading.by_words(), plan.sentences), (why,)


def assembled(question: Question, chosen: tuple[Chosen, ...], sources: tuple[Source, ...]) -> Extracts:
    """Put what was chosen into an answer, with what speaks for it."""
    return replace(_assemble(question.meant or question.text, chosen, sources), evidence=evidence_for(chosen))


def _assemble(question: str, chosen: tuple[Chosen, ...], sources: tuple[Source, ...]) -> Extracts:
    """Put what was chosen behind one another, parted by blank lines, each with its marker; the short answer first."""
    by_number = {one.number: one for one in sources}
    text = short = ""
    sentences: list[AnswerSentence] = []
    citations: list[Citation] = []
    events: list[ChunkEvent | CitationEvent] = []
    led = frozenset(one.unit.order for one in chosen if one.led)
    for unit in completed([one.unit for one in chosen], by_number, led, lists=wants_list(question)):
        cited = [citation_of(by_number[unit.source], start, end) for start, end in unit.spans]
        told = _display_sentence(unit, cited)
        if not told.text:
            continue
        if not sentences and unit.table is None and not unit.keeps_lines:
            short = short_answer(question, told.text)
            text = f"{short}{APART}" if short else ""
            events += [ChunkEvent(text)] if short else []
        before = len(text)
        text += APART if sentences else ""
        start = len(text)
        text += f"{told.text}\n[{unit.source}]" if told.cells else f"{told.text} [{unit.source}]"
        places = tuple(range(len(citations), len(citations) + len(cited)))
        sentences.append(replace(told, start=start, end=start + len(told.text), citations=places))
        events.append(ChunkEvent(text[before:]))
        events += [CitationEvent(place, one) for place, one in zip(places, cited, strict=True)]
        citations += cited
    return Extracts(text, tuple(sentences), tuple(citations), tuple(events), short=short)


def _display_sentence(unit: Complete, cited: Sequence[Citation]) -> AnswerSentence:
    """Return a unit as it may be shown: a sentence on one line, rows as a table, code as it stands."""
    parts = [part for part in (_shown(one, lines=unit.keeps_lines) for one in cited) if part]
    header = [" ".join(unit.header.split())] if unit.header else []
    if unit.table is None or not parts or len(header) + len(parts) == 1:
        return AnswerSentence(("\n" if unit.keeps_lines else " ").join(parts), 0, 0, (), 1.0, supported=True)
    cells = cells_of([*header, *parts])
    return AnswerSentence(as_markdown(cells), 0, 0, (), 1.0, supported=True, cells=cells)


def _shown(citation: Citation, *, lines: bool) -> str:
    """Return a quotation as it may be shown: no markers, pictures or tags of the document's; one line but for code.

    Sources are counted from 1: `[0, 1]` and `argv[0]` are no markers.
    """
    own = addresses_in(citation.quote)
    guard = OutputSanitizer(lambda marker: None if _ZERO.search(marker) else (), own.__contains__)
    parts = [*guard.feed(citation.quote), *guard.finish()]
    text = "".join(part for part in parts if isinstance(part, str))
    return text.strip("\n") if lines else " ".join(text.split())
