"""The answer: search, refuse where nothing was found, else have a model write or extract; check, cite, tell."""

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from twofold.answer.cache import AnswerMemory, again
from twofold.answer.certainty import READER, p_correct
from twofold.answer.events import ChunkEvent, CitationEvent, DoneEvent, ErrorEvent, Event, SourcesEvent, StageEvent
from twofold.answer.extract import Chosen, assembled, selection
from twofold.answer.generate import Written, generated, ungrounded
from twofold.answer.links import linked
from twofold.answer.plan import AnswerComponents, AnswerPlan, Cancellation, Question
from twofold.answer.rounds import STAGE, Gathered, foremost, gathered, rounds_of
from twofold.answer.shown import shown_of
from twofold.answer.sources import answering, sources_of
from twofold.answer.sub_question import sub_question
from twofold.answer.types import REFUSAL, Answer, Link, Round, Source, TextTools
from twofold.domain.closable import ClosableGenerator
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import CorruptError, ModelError, StoreError, TwofoldError
from twofold.domain.warning import StageWarning, WarningCode, warning_of
from twofold.search.result import SearchResult
from twofold.search.state import Stopwatch
from twofold.text.language_detection import is_in_latin_script

SURE = 0.7
"""What share of `min_answerability` extracts must reach: the geometric mean of `p_answerable` and `p_correct`."""
HOPELESS = 0.2
"""Below which share of it `p_answerable` alone refuses, before any sentence is read."""
NOTHING_WRITTEN = StageWarning(
    "generate", WarningCode.NO_RESULT, "the model wrote nothing that can be shown; these are extracts."
)


@dataclass(frozen=True, slots=True, eq=False)
class _Draft:
    """Where an answer stands after the search."""

    question: Question
    plan: AnswerPlan
    found: SearchResult
    sources: tuple[Source, ...]
    watch: Stopwatch
    rounds: tuple[Round, ...] = ()
    links: tuple[Link, ...] = ()

    def answer(self, **more: object) -> Answer:
        """Return an answer with what the search knows."""
        made = Answer(
            self.question.text,
            "",
            "extractive",
            self.sources,
            confidence=self.found.confidence,
            p_answerable=self.found.p_answerable,
            threshold=self.plan.min_answerability,
            degraded=self.found.degraded,
            warnings=self.found.warnings,
            rounds=self.rounds,
            links=self.links,
        )
        return replace(made, **more)  # type: ignore[arg-type]  # fields of an answer


def answer_events(
    look: Callable[[], SearchResult], question: Question, plan: AnswerPlan, parts: AnswerComponents, cut: Cancellation
) -> Generator[Event]:
    """Yield the events of an answer; the last event is `done`. `look` searches.

    The passages come as soon as they are found, and are in the answer whatever becomes of the model: where it fails
    before it wrote anything the answer is made of extracts, where it breaks off what it wrote is kept, both with
    a warning. Raises what the search raises unless the plan knows better, and ModelError where it says `raise`.
    Ends without `done` where it is cut.
    """
    watch = Stopwatch()
    yield StageEvent("search")
    try:
        found = look()
    except (ModelError, StoreError, CorruptError) as error:
        yield from _without_search(question, plan, parts, cut, error)
        return
    draft = _Draft(question, plan, found, sources_of(answering(found.hits)), watch)
    yield SourcesEvent(draft.sources, found.p_answerable)
    if parts.memory is None:
        yield from _made(draft, parts, cut)
    else:
        yield from _from_cache(draft, parts, parts.memory, cut)


def _from_cache(draft: _Draft, parts: AnswerComponents, memory: AnswerMemory, cut: Cancellation) -> Iterator[Event]:
    """Yield the cached answer, or make one and cache it."""
    writer = None if parts.generator is None else parts.generator.identity
    key = memory.key(draft.question, draft.plan, draft.found, writer)
    known = memory.known(key)
    if known is not None:
        answer = again(known, draft.question.text)
        yield StageEvent("cache")
        yield ChunkEvent(answer.text)
        yield from (CitationEvent(at, one) for at, one in enumerate(answer.citations))
        yield _done(draft, answer)
        return
    for event in _made(draft, parts, cut):
        if isinstance(event, DoneEvent):
            memory.keep(key, event.answer)
        yield event


def _made(draft: _Draft, parts: AnswerComponents, cut: Cancellation) -> Iterator[Event]:
    """Refuse, extract, or have a model write."""
    found, plan = draft.found, draft.plan
    parts = replace(parts, reading=_tools_for(draft.sources, parts.reading))
    if plan.on_failure == "empty" and found.degraded and not draft.sources:
        yield _done(draft, draft.answer(text=""))
    elif _is_hopeless(found, draft.sources, plan, parts):
        warnings = parts.reading.warnings if draft.sources and parts.generator is None else ()
        refusal = draft.answer(text=REFUSAL, refused=True)
        yield ChunkEvent(REFUSAL)
        yield _done(draft, refusal.with_warnings((*refusal.warnings, *warnings)))
    elif parts.generator is None:
        yield from _extracts(draft, parts, cut)
    else:
        yield from _writing(draft, parts, cut)


def _tools_for(sources: Sequence[Source], reading: TextTools) -> TextTools:
    """Return how these passages are read: without the English cross-encoder where most are not in Latin script.

    It chooses well among sentences in German, and worse than words and vectors do among Chinese ones.
    """
    foreign = sum(not is_in_latin_script(source.text) for source in sources)
    if reading.reader not in (READER, "") or 2 * foreign <= len(sources):
        return reading
    return replace(reading, relevance=None, reader="", warnings=())


class AnswerStream:
    """The events of one answer; iterate over it once. Closing it, from any thread, stops the model that writes.

    An error becomes the last event, `error`.
    """

    def __init__(self, events: Generator[Event], cut: Cancellation) -> None:
        self._events = ClosableGenerator(events)
        self._cut = cut

    def __iter__(self) -> Iterator[Event]:
        """Return itself."""
        return self

    def __next__(self) -> Event:
        """Wait for the next event."""
        try:
            return next(self._events)
        except TwofoldError as error:
            return ErrorEvent(error.message, error.hint, error.exit_code, error.http_status)

    def close(self) -> None:
        """Stop. Calling it twice does nothing more."""
        self._cut.make()
        self._events.close()


def _is_hopeless(found: SearchResult, sources: tuple[Source, ...], plan: AnswerPlan, parts: AnswerComponents) -> bool:
    """Return whether to refuse before reading: where extracts have a chance of their own, only what is far off."""
    is_read = parts.generator is None and parts.reading.reader == READER
    least = plan.min_answerability * (HOPELESS if is_read else 1.0)
    return not sources or (found.p_answerable is not None and found.p_answerable < least)


def _speaks_too_little(found: float | None, correct: float | None, plan: AnswerPlan) -> bool:
    """Return whether to refuse extracts: where what was found and what is shown together speak too little for them."""
    if correct is None:
        return found is not None and found < plan.min_answerability
    return math.sqrt(correct * (correct if found is None else found)) < plan.min_answerability * SURE


def _writing(draft: _Draft, parts: AnswerComponents, cut: Cancellation) -> Iterator[Event]:
    """Have the model write; where nothing comes of it, extract. What further searches found comes before the rest."""
    written = Written()
    again: tuple[StageWarning, ...] = ()
    if rounds_of(draft.question, draft.plan):
        chosen, known, again = yield from _gathering(draft, _unwarned(parts), cut)
        draft = replace(draft, sources=foremost([one.unit.source for one in chosen], known.sources))
        draft = replace(draft, rounds=known.rounds, links=known.links)
        yield SourcesEvent(draft.sources, draft.found.p_answerable)
    with (
        draft.watch.step("generate"),
        closing(generated(draft.question, draft.plan, draft.sources, parts, cut)) as events,
    ):
        for event in events:
            if isinstance(event, Written):
                written = event
            else:
                yield event
    if cut.made:
        return
    failure, plan = written.failure, draft.plan
    if failure is not None and plan.on_failure == "raise":
        raise failure
    draft = replace(draft, sources=written.sources or draft.sources)
    warnings = (*again, *written.warnings, *(() if failure is None else (warning_of("generate", failure),)))
    if written.text:
        made = draft.answer(
            text=written.text,
            mode="generated",
            citations=written.citations,
            sentences=written.sentences,
            refused=written.refused,
            removed=written.removed,
            usage=written.usage,
        )
        yield _done(draft, made.with_warnings((*made.warnings, *warnings)))
    elif plan.on_failure == "empty":
        made = draft.answer(mode="generated", removed=written.removed)
        yield _done(draft, made.with_warnings((*made.warnings, *warnings)))
    else:
        yield from _extracts(draft, parts, cut, warnings or (NOTHING_WRITTEN,))


def _unwarned(parts: AnswerComponents) -> AnswerComponents:
    """Return the same for sentences that are not shown: how they are chosen is of no concern to anybody."""
    return replace(parts, reading=replace(parts.reading, warnings=()))


def _extracts(
    draft: _Draft, parts: AnswerComponents, cut: Cancellation, warnings: tuple[StageWarning, ...] = ()
) -> Iterator[Event]:
    yield StageEvent("extract")
    chosen, known, failed = yield from _gathering(draft, parts, cut)
    if len(known.sources) > len(draft.sources):
        yield SourcesEvent(known.sources, draft.found.p_answerable)
    draft = replace(draft, sources=known.sources, rounds=known.rounds, links=known.links)
    with draft.watch.step("extract"):
        made = assembled(draft.question, chosen, draft.sources)
    chance = p_correct(made.evidence)
    more = {"p_correct": chance, "evidence": made.evidence}
    warnings = tuple(dict.fromkeys((*draft.found.warnings, *warnings, *failed)))
    if not made.text or _speaks_too_little(draft.found.p_answerable, chance, draft.plan):
        yield ChunkEvent(REFUSAL)
        yield _done(draft, draft.answer(text=REFUSAL, refused=True, **more).with_warnings(warnings))
        return
    yield from made.events
    answer = draft.answer(text=made.text, citations=made.citations, sentences=made.sentences, short=made.short, **more)
    yield _done(draft, answer.with_warnings(warnings))


def _gathering(
    draft: _Draft, parts: AnswerComponents, cut: Cancellation
) -> Generator[Event, None, tuple[tuple[Chosen, ...], Gathered, tuple[StageWarning, ...]]]:
    """Choose sentences, and search again for what they leave open as the effort allows; return all of it."""
    with draft.watch.step("extract"):
        chosen, failed = selection(draft.question, draft.plan, draft.found, draft.sources, parts.reading)
        if failed:
            parts = replace(parts, reading=parts.reading.by_words())  # said once, and not tried again
        chosen, links, failed = _with_links(draft, chosen, parts.reading, failed)
    known, most = Gathered(draft.sources, links=links), rounds_of(draft.question, draft.plan)
    if failed or not most:
        return chosen, known, failed
    shown = [shown_of(one.unit, one.value, draft.sources) for one in chosen]
    rewrite = None if parts.generator is None else partial(sub_question, parts.generator, draft.plan, cut)
    with draft.watch.step(STAGE):
        known = yield from gathered(draft.question, shown, known, parts, most, rewrite)
    return (*chosen, *(Chosen(one.unit, one.value, one.led) for one in known.added)), known, (*failed, *known.warnings)


def _with_links(
    draft: _Draft, chosen: tuple[Chosen, ...], reading: TextTools, failed: tuple[StageWarning, ...]
) -> tuple[tuple[Chosen, ...], tuple[Link, ...], tuple[StageWarning, ...]]:
    """Return the sentences chosen with those of documents named behind the first, and by what name they came."""
    room = draft.plan.sentences - 1
    shown = [shown_of(one.unit, one.value, draft.sources) for one in chosen]
    try:
        found = linked(draft.question, shown, draft.sources, reading)[: max(0, room)]
    except ModelError as error:
        return chosen, (), (*failed, warning_of("extract", error))
    own = dict(zip((one.unit for one in shown), chosen, strict=True))
    more = [
        own.get(new.unit) or Chosen(replace(new.unit, order=-1 - at), new.value, new.led)
        for at, new in enumerate(one.shown for one in found)
    ]
    rest = [one for one in chosen[1:] if one not in more]
    return (*chosen[:1], *more, *rest)[: draft.plan.sentences], tuple(one.link for one in found), failed


def _without_search(
    question: Question, plan: AnswerPlan, parts: AnswerComponents, cut: Cancellation, error: TwofoldError
) -> Iterator[Event]:
    """Answer where the search failed: nothing, or the bare model, and only where that was asked for."""
    warnings = (warning_of("search", error),)
    if plan.on_failure == "empty":
        yield SourcesEvent(())
        yield DoneEvent(Answer(question.text, "", "extractive").with_warnings(warnings))
    elif plan.on_failure == "llm" and parts.generator is not None:
        yield SourcesEvent(())
        text = ""
        for event in ungrounded(question, plan, parts.generator, cut):
            text += event.content if isinstance(event, ChunkEvent) else ""
            yield event
        if not cut.made:
            yield DoneEvent(Answer(question.text, text, "ungrounded").with_warnings(warnings))
    else:
        raise error


def _done(draft: _Draft, answer: Answer) -> DoneEvent:
    timings = {**draft.found.timings_ms, **draft.watch.total()}
    return DoneEvent(replace(answer, timings_ms=timings))
