"""`ask`: answer a question from documents, with citations; the documents are indexed on first use."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twofold.answer.events import ChunkEvent, DoneEvent, ErrorEvent, Event, SourcesEvent
from twofold.answer.types import Answer, Citation, Source
from twofold.cli.commands.models import ensure_present, ensure_reader
from twofold.cli.context import several_opened
from twofold.cli.index_of_path import covering, index_name
from twofold.cli.opened_to_fill import open_to_fill
from twofold.cli.options import AsOfOption, EmbedderOption, FilterOption, IndexesOption, JsonOption, parsed_filter
from twofold.cli.render.answer_progress import AnswerProgress
from twofold.cli.render.failures import grouped
from twofold.cli.render.markup import drawn, has_marks, unmarked
from twofold.cli.render.progress import model_progress, progress_on
from twofold.cli.render.results import cache_line, where_on, write_json
from twofold.cli.render.terminal import Screen, from_here, one_line, screen_on, shortened
from twofold.cli.render.wrap import WordWrap, wrapped
from twofold.cli.runtime import open_index, settings_for
from twofold.domain.errors import InvalidInputError, error_of
from twofold.domain.filters import MATCH_ALL, Filter
from twofold.index import Index
from twofold.indexing.sync import OnProgress
from twofold.models.transcribers.opening import Speech, text_of
from twofold.query.operators import all_of
from twofold.search.engine import Effort
from twofold.system.paths import SEPARATORS

if TYPE_CHECKING:
    from twofold.answering import Answering

LlmOption = Annotated[
    str | None,
    typer.Option(
        "--llm",
        metavar="MODEL",
        help="The language model: local, ollama/NAME, openai/NAME, http://HOST/v1#MODEL; none for extracts.",
        show_default=False,
    ),
]
VoiceOption = Annotated[
    Path | None,
    typer.Option(
        "--voice",
        metavar="FILE.wav",
        help="Read the question from a recording; English only.",
        exists=True,
        dir_okay=False,
        show_default=False,
    ),
]
SessionOption = Annotated[
    str, typer.Option("--session", metavar="NAME", help="Keep the conversation under this name, and continue it.")
]
EffortOption = Annotated[
    Effort,
    typer.Option(
        "--effort",
        help="Further searches for what the answer leaves open: low none, medium one for a question with two parts, "
        "high up to three.",
    ),
]
StreamOption = Annotated[bool, typer.Option("--stream", help="Write the answer as it comes; with --json, events.")]
_QUOTED = 160  # characters of a quotation that are shown
_NEAREST = 3
_MAX_SPOKEN_SECONDS = 60.0
_FIRST_VECTORS = 128
"""Passages after whose vectors a question is asked again for the first time."""


def ask(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH] QUESTION", help="A folder or file to ask, unless -i names an index; the question."
        ),
    ] = None,
    *,
    voice: VoiceOption = None,
    llm: LlmOption = None,
    stream: StreamOption = False,
    k: Annotated[int | None, typer.Option("-k", help="How many passages.", show_default=False)] = None,
    effort: EffortOption = "low",
    session: SessionOption = "",
    sync: Annotated[bool, typer.Option(help="First bring the index up to date with PATH.")] = True,
    filters: FilterOption = None,
    as_of: AsOfOption = None,
    index: IndexesOption = None,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from documents, each sentence with its citation.

    `twofold ask docs/ "how do I undo a commit?"` indexes the folder on first use and follows its changes later; an
    index that was synced from it, or from a folder above it, is used instead. Without a language model the answer is
    made of the documents' own sentences. Where the documents do not hold it, it says so.
    Several indexes are asked as one where --index is repeated.

    New documents are found by their words at first: an answer comes at once, their vectors follow, and whenever these
    make the answer another one it is shown below the one before.
    """
    path, question = _parted([*(words or []), *([_spoken(context, voice)] if voice else [])], index)
    if path is not None and as_of is not None:
        raise InvalidInputError("--as-of asks an index, not a path.", "Name the index with --index NAME.")
    conditions = parsed_filter(filters or [])
    with ExitStack() as stack:
        if path is None:
            opened = stack.enter_context(opened_to_ask(context, index or [], embedder, as_of=as_of))
        else:
            opened, within = stack.enter_context(_opened_at(context, path, embedder, sync=sync))
            conditions = all_of(conditions, within)
        told = _AnswerView(screen_on(), as_json=as_json, stream=stream)
        how = partial(opened.ask_stream, question, llm=llm, k=k, filter=conditions, effort=effort)
        with closing(how(session=session)) as events:
            first = told.tell(events)
        if path is not None and sync and isinstance(opened, Index):
            again = None if session else partial(opened.ask, question, llm=llm, k=k, filter=conditions, effort=effort)
            _improve(opened, again, told, first)


def _spoken(context: typer.Context, recording: Path) -> str:
    """Return the question that a recording asks, and write it where people see it."""
    settings = settings_for(context).settings
    speech = Speech(settings.models, offline=settings.offline, progress=model_progress())
    question = text_of(speech.read(recording.read_bytes(), _MAX_SPOKEN_SECONDS))
    if not question:
        raise InvalidInputError("The recording contains no speech.", "Speak nearer to the microphone; English only.")
    screen_on(sys.stderr).line(f"Heard: {one_line(question)}")
    return question


@contextmanager
def opened_to_ask(
    context: typer.Context,
    names: Sequence[str],
    embedder: str | None,
    *,
    create: bool = False,
    as_of: str | None = None,
) -> Iterator["Answering"]:
    """Open the index of this name, without one that of the settings; several are opened as one."""
    if len(names) > 1:
        with several_opened(context, names, embedder, as_of=as_of) as several:
            yield several
        return
    with open_index(context, names[0] if names else None, create=create, as_of=as_of, embedder=embedder) as opened:
        yield opened


def _parted(words: list[str], index: Sequence[str] | None) -> tuple[Path | None, str]:
    """Part what to ask from the question. Raises InvalidInputError where either is missing."""
    if index:
        return None, " ".join(words)
    if not words:
        raise InvalidInputError("There is no question.", 'Write `twofold ask "your question"`, or give --voice FILE.')
    path = Path(words[0]).expanduser()
    if len(words) > 1 and path.exists():
        return path, " ".join(words[1:])
    if path.exists():
        raise InvalidInputError("There is no question.", f'Write `twofold ask {words[0]} "your question"`.')
    if not SEPARATORS.isdisjoint(words[0]) and " " not in words[0]:
        raise InvalidInputError(f"There is no {words[0]}.", "Name an existing folder or file, or -i INDEX.")
    return None, " ".join(words)


@contextmanager
def _opened_at(
    context: typer.Context, path: Path, embedder: str | None, *, sync: bool
) -> Iterator[tuple["Answering", Filter]]:
    """Open the index that a path belongs to, brought up to date; the filter keeps to what lies below the path."""
    found = covering(path, settings_for(context, embedder=embedder).settings, embedder)
    if found is not None and found.within is not None:
        with open_index(context, found.name, embedder=embedder) as opened:
            if sync:
                _follow(opened, found.root)
            if opened.documents(filter=found.within):
                yield opened, found.within
                return
    with open_to_fill(context, index_name(path), embedder) as opened:
        if sync:
            _follow(opened, path)
        yield opened, MATCH_ALL


def _follow(opened: Index, path: Path) -> None:
    ensure_present(opened.settings)
    ensure_reader(opened.settings)
    with progress_on() as progress:
        report = opened.sync(path, progress=progress, vectors="later")
    for named, reason, _ in grouped(report.failed):
        screen_on(sys.stderr).line(f"not read: {named}: {reason}")


def _improve(opened: Index, again: Callable[[], Answer] | None, told: "_AnswerView", first: Answer | None) -> None:
    """Embed the passages that only BM25 found, and show each answer that more vectors make another one.

    It is asked again when the first ones have their vectors, which are those that its search found, then after twice as
    many each time, and when all have theirs.
    """
    total = pending = opened.info().pending
    wanted, shown = _FIRST_VECTORS, first
    while pending:
        given = total - pending
        with progress_on() as progress:
            pending = opened.embed_pending(progress=_going_on(progress, given), passages=wanted)
        wanted *= 2
        if again is not None:
            shown = told.tell_again(again(), shown, total - pending, total)


def _going_on(progress: OnProgress, given: int) -> OnProgress:
    """Report what was embedded with what was before."""
    return lambda one: progress(replace(one, passages=one.passages + given))


class _AnswerView:
    """Shows an answer on a screen or as JSON."""

    def __init__(self, screen: Screen, *, as_json: bool, stream: bool) -> None:
        self._screen = screen
        self._text = WordWrap(screen)
        self._as_json = as_json
        self._stream = stream
        self._waiting = AnswerProgress()
        self._sources: Sequence[Source] = ()

    def tell(self, events: Iterable[Event]) -> Answer | None:
        """Show it and return it. Raises what ended it."""
        answer: Answer | None = None
        for event in events:
            if not self._as_json:
                self._waiting.tell(event)
            if isinstance(event, ErrorEvent):
                raise error_of(event.code, event.message, event.hint)
            if self._stream and (self._as_json or not isinstance(event, DoneEvent)):
                self._pass_on(event)
            elif isinstance(event, DoneEvent):
                self._end(event.answer)
            if isinstance(event, DoneEvent):
                answer = event.answer
        return answer

    def _pass_on(self, event: Event) -> None:
        if self._as_json:
            write_json(event)
        elif isinstance(event, SourcesEvent):
            self._sources = event.sources
        elif isinstance(event, ChunkEvent):
            self._text.write(drawn(self._screen, event.content, self._sources))

    def tell_again(self, answer: Answer, shown: Answer | None, given: int, total: int) -> Answer:
        """Show an answer that more vectors give, where it says or cites something else than before; return it.

        `given` of the `total` passages that had no vector have theirs now; that all of them change nothing is said.
        """
        if shown is not None and _text_and_citations(answer) == _text_and_citations(shown):
            if given >= total:
                screen_on(sys.stderr).line("With the vectors of all passages the answer stays the same.")
        elif self._as_json:
            write_json(DoneEvent(answer) if self._stream else answer)
        else:
            of = "all" if given >= total else f"{given:,} of {total:,}"
            self._screen.line()
            self._screen.line(self._screen.paint(f"With the vectors of {of} passages:", "bold"))
            self._write(answer)
        return answer

    def _end(self, answer: Answer) -> None:
        if self._as_json:
            write_json(answer)
        else:
            self._write(answer, is_shown=self._stream)

    def _write(self, answer: Answer, *, is_shown: bool = False) -> None:
        if not is_shown:
            written = answer.mode != "extractive"
            self._text.write(drawn(self._screen, answer.text, answer.sources, written=written))
        self._text.end()
        render_rest(self._screen, answer)


def _text_and_citations(answer: Answer) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return what an answer says and what it cites."""
    return answer.text, frozenset((one.source, one.quote) for one in answer.citations)


def render_rest(screen: Screen, answer: Answer) -> None:
    """Draw what an answer rests on, and what could not be done."""
    screen.line()
    shown: set[tuple[int, tuple[str, ...]]] = set()
    for citation in answer.citations:
        place = (citation.number, citation.heading)
        screen.line(_drawn(screen, citation, known=place in shown))
        shown.add(place)
    if answer.refused and answer.sources:
        screen.line(screen.paint("The nearest passages:", "dim"))
        for source in answer.sources[:_NEAREST]:
            screen.line(_nearest(screen, source))
    for one in answer.rounds:
        screen.line(screen.paint(f"Searched again: {one_line(one.query)}", "dim"))
    if answer.links and not answer.refused:
        names = ", ".join(dict.fromkeys(one_line(one.title) for one in answer.links))
        screen.line(screen.paint(f"Cited since they are named: {names}", "dim"))
    if answer.cache.hit:
        screen.line(screen.paint(cache_line(answer.cache), "dim"))
    for warning in answer.warnings:
        screen.line(screen.paint(f"Warning: {one_line(str(warning))}", "yellow"))
    screen.line(screen.paint(_summary(answer), "dim"))


def _summary(answer: Answer) -> str:
    kinds = {"extractive": "Extracts of the documents, no language model", "generated": "Written by a language model",
             "ungrounded": "A language model's own words, from no document"}  # fmt: skip
    said = [kinds[answer.mode] if not answer.refused else "No answer; `twofold search` shows more passages"]
    if answer.mode == "generated" and answer.sentences:
        checked = [one for one in answer.sentences if one.supported is not None]
        said.append(f"{sum(bool(one.supported) for one in checked)} of {len(checked)} sentences borne out")
    if answer.mode == "extractive" and answer.sentences and answer.evidence is None:
        said.append("chosen by words and vectors")
    if answer.p_correct is not None:
        said.append(f"chance that it is correct {answer.p_correct:.2f}")
    if answer.doubtful:
        said.append("doubtful: the documents may say this, or only something near it")
    return f"{'; '.join(said)}."


def _drawn(screen: Screen, citation: Citation, *, known: bool) -> str:
    """Draw a citation; of a place that was named already only what is quoted."""
    told = where_on(citation.place, citation.page)
    page = f", {told}" if told else ""
    section = f" › {' › '.join(citation.heading)}" if citation.heading else ""
    where = one_line(f"{_of(citation)}{from_here(citation.source)}{page}{section}")
    quote = _quoted(screen, citation.source, citation.quote)
    if known:
        return quote
    return f"{screen.paint(f'[{citation.number}]', 'cyan')} {screen.paint(where, 'bold')}\n{quote}"


def _nearest(screen: Screen, source: Source) -> str:
    where = one_line(f"{_of(source)}{from_here(source.source)}")
    return f"  {screen.paint(where, 'bold')}\n{_quoted(screen, source.source, source.text)}"


def _quoted(screen: Screen, source: str, text: str) -> str:
    bare = unmarked(text) if screen.color and has_marks(source) else text
    return wrapped(screen, shortened(one_line(bare), _QUOTED), "    ")


def _of(one: Citation | Source) -> str:
    """Return the index that something is from, where several were asked."""
    return f"{one.collection}: " if one.collection else ""
