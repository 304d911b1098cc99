"""Generating: a model writes from the passages, and each sentence is made safe, checked and cited as it comes."""

from collections.abc import Generator as Giving
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import field, replace

from twofold.answer.citations import CitationWriter
from twofold.answer.context import Context, approximate_tokens, build_context
from twofold.answer.events import ChunkEvent, CitationEvent, Event, ReadingEvent, StageEvent
from twofold.answer.groundedness import GroundednessChecker
from twofold.answer.markers import resolve
from twofold.answer.plan import MIN_CONTEXT, AnswerComponents, AnswerPlan, Cancellation, Question
from twofold.answer.planning import planned, reply_of
from twofold.answer.prompt import bare_prompt, grounded_prompt
from twofold.answer.pruning import HybridPruner, pruned
from twofold.answer.sanitize_input import as_data
from twofold.answer.sanitize_output import OutputSanitizer, addresses_in
from twofold.answer.selecting import selected
from twofold.answer.types import REFUSAL, AnswerSentence, Citation, Removed, Source, Usage
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError, TwofoldError
from twofold.domain.generators import Generator, Message, TellsReading, TextStream
from twofold.domain.warning import StageWarning, WarningCode, warning_of
from twofold.query.history import prepend_turns

UNGROUNDED = "Document search is unavailable; what follows is the language model's own and cites no document."


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote, checked; `failure` is what ended it before its end."""

    text: str = ""
    sentences: tuple[AnswerSentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    sources: tuple[Source, ...] = ()
    refused: bool = False
    removed: Removed = field(default_factory=Removed)
    usage: Usage | None = None
    warnings: tuple[StageWarning, ...] = ()
    failure: TwofoldError | None = None


def generated(
    question: Question, plan: AnswerPlan, sources: tuple[Source, ...], means: AnswerComponents, cut: Cancellation
) -> Giving[Event | Written]:
    """Have the generator write and tell it as it comes; the last thing given is what was written.

    With `verify` at `refuse` nothing is sent before all of it is checked.
    """
    generator = means.generator
    if generator is None:
        return
    yield StageEvent("context")
    shown, notes = _pruned(question, plan, sources, means)
    context, messages = _prompt(question, plan, shown, means, generator)
    writer = _writer(context, means, plan)
    yield StageEvent("generate")
    failure: TwofoldError | None = None
    held: list[Event] = []
    try:
        reply = yield from _begun(generator, messages, _writer(context, means, plan), plan, cut)
        for event in _pieces(reply, writer):
            if plan.unsupported == "refuse" and not isinstance(event, ReadingEvent):
                held.append(event)
            else:
                yield event
    except TwofoldError as error:
        failure = error
        # the model is gone, what it wrote is checked all the same
        held += writer.finish()
        if plan.unsupported != "refuse":
            yield from held
    yield StageEvent("check")
    written = replace(
        _written(writer, context, sources, notes), usage=_usage(generator, messages, writer.text), failure=failure
    )
    if plan.unsupported == "refuse":
        written = _verified(written)
        yield from (ChunkEvent(REFUSAL),) if written.refused else held
    yield written


def ungrounded(question: Question, plan: AnswerPlan, generator: Generator, cut: Cancellation) -> Iterator[Event]:
    """Let the model answer from what it knows, after a line that says so."""
    yield StageEvent("generate")
    yield ChunkEvent(f"{UNGROUNDED}\n\n")
    guard = OutputSanitizer(lambda _: (), lambda _: False)
    with closing(reply_of(generator, bare_prompt(question.text), plan, cut)) as reply:
        for piece in reply:
            yield from (ChunkEvent(part) for part in guard.feed(piece) if isinstance(part, str))
    yield from (ChunkEvent(part) for part in guard.finish() if isinstance(part, str))


def _pruned(
    question: Question, plan: AnswerPlan, sources: tuple[Source, ...], means: AnswerComponents
) -> tuple[tuple[Source, ...], tuple[StageWarning, ...]]:
    """Leave out sentences that say nothing, where that is asked for; all of them stay where the pruner fails."""
    if not plan.prune or not sources:
        return sources, ()
    pruner = means.pruner or HybridPruner(means.reading)
    try:
        return pruned(question.meant or question.text, sources, plan.prune, means.reading, pruner), ()
    except ModelError as error:
        if plan.on_failure == "raise":
            raise
        return sources, (warning_of("prune", error),)


def _prompt(
    question: Question, plan: AnswerPlan, sources: tuple[Source, ...], means: AnswerComponents, generator: Generator
) -> tuple[Context, tuple[Message, ...]]:
    """Lay out the passages, of which a model that reads slowly is shown the likeliest sentences; return the prompt."""
    said = as_data(prepend_turns(question.history, "", plan.memory))
    room = _room(question, said, plan, generator)
    shown = selected(question, sources, room, means.reading) if generator.identity.prompt_tokens else sources
    context = build_context(shown, plan.template, replace(plan.budget, tokens=room), plan.context_fit)
    return context, grounded_prompt(question.text, context.text, plan.prompt, said, plan.template, plan.form)


def _room(question: Question, said: str, plan: AnswerPlan, generator: Generator) -> int:
    """Return how many tokens of passages the plan and the model leave room for."""
    empty = grounded_prompt(question.text, "", plan.prompt, said, plan.template, plan.form)
    replies = 3 if plan.planned else 1  # a plan, a draft, and the answer
    identity, asking = generator.identity, sum(approximate_tokens(one.content) for one in empty)
    room = identity.context_tokens - asking - replies * plan.reply_tokens
    if identity.prompt_tokens:
        room = min(room, identity.prompt_tokens - asking)
    room = max(MIN_CONTEXT, room)
    return min(plan.budget.tokens, room) if plan.budget.tokens else room


def _writer(context: Context, means: AnswerComponents, plan: AnswerPlan) -> CitationWriter:
    given = context.given
    texts = (one.text[part.at : part.at + part.end - part.start] for one in given for part in one.parts)
    known = frozenset(address for text in texts for address in addresses_in(as_data(text)))
    guard = OutputSanitizer(lambda marker: resolve(marker, given), known.__contains__)
    checker = GroundednessChecker(given, means.reading)
    return CitationWriter(guard, checker, given, means.reading.sentence_ends, flag=plan.unsupported == "flag")


def _begun(
    generator: Generator, messages: tuple[Message, ...], critic: CitationWriter, plan: AnswerPlan, cut: Cancellation
) -> Giving[Event, None, TextStream]:
    """Begin the reply, planned and drafted first where that is asked for."""
    if plan.planned:
        return (yield from planned(generator, messages, critic, plan, cut))
    return reply_of(generator, messages, plan, cut)


def _pieces(reply: TextStream, writer: CitationWriter) -> Iterator[ChunkEvent | CitationEvent | ReadingEvent]:
    with closing(reply):
        if isinstance(reply, TellsReading):
            yield from (ReadingEvent(step.done, step.total) for step in reply.reading())
        for piece in reply:
            yield from writer.feed(piece)
    yield from writer.finish()


def _written(
    writer: CitationWriter, context: Context, sources: tuple[Source, ...], warnings: tuple[StageWarning, ...]
) -> Written:
    """Return what was written, with the sources as they were found, not as the model was shown them."""
    checker, given = writer.checker, {one.number for one in context.given}
    return Written(
        text=writer.text,
        sentences=tuple(writer.sentences),
        citations=tuple(writer.citations),
        sources=tuple(replace(one, given=one.number in given) for one in sources),
        refused=writer.refused,
        removed=writer.removed,
        warnings=warnings if checker.failure is None else (*warnings, warning_of("check", checker.failure)),
    )


def _verified(written: Written) -> Written:
    """Refuse an answer that holds a sentence which nothing supports."""
    unsupported = sum(one.supported is False for one in written.sentences)
    if not unsupported or written.refused or not written.text:
        return written
    why = f"{unsupported} of {len(written.sentences)} sentences are supported by no passage."
    warnings = (*written.warnings, StageWarning("check", WarningCode.UNSUPPORTED, why))
    return replace(written, text=REFUSAL, refused=True, sentences=(), citations=(), warnings=warnings)


def _usage(generator: Generator, messages: Sequence[Message], text: str) -> Usage:
    prompt = sum(approximate_tokens(one.content) for one in messages)
    return Usage(generator.identity.name, prompt, approximate_tokens(text))
