"""`log`: the questions that an index was asked, and those of them that went badly."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from twofold.cli.options import IndexOption, JsonOption
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import Screen, columns, one_line, screen_on, shortened
from twofold.cli.runtime import settings_for
from twofold.config.load import Settings
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.evaluation.query_log import WeakReport, reasons, weak_report
from twofold.factory.places import is_there, shown_name
from twofold.factory.search import query_log_of
from twofold.stores.local.durable import write_durably
from twofold.stores.query_log import LoggedQuery, QueryLog
from twofold.text.quantities import counted

Form = Literal["records", "queries"]
_FORMS: Sequence[Form] = ("records", "queries")
_MIN_QUESTION = 24
_OFF = "No questions are logged."
_TURN_ON = "  Write `log: {queries: true}` into your settings file, or set TWOFOLD_LOG=queries:true."


Weak = Annotated[bool, typer.Option("--weak", help="Show the questions that went badly, and how each week went.")]
Most = Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many questions to show.")]
Export = Annotated[
    Path | None,
    typer.Option(
        "--export", metavar="FILE", help="Write all questions to a file, one JSON object a line.", show_default=False
    ),
]
As = Annotated[
    str, typer.Option("--as", metavar="FORM", help="records: everything in the log; queries: what --queries reads.")
]


def log(
    context: typer.Context,
    *,
    weak: Weak = False,
    most: Most = 20,
    export: Export = None,
    form: As = "records",
    clear: Annotated[bool, typer.Option("--clear", help="Delete the log.")] = False,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the questions that an index was asked, newest first, where the log keeps queries.

    The log stays on this machine. A question went badly (--weak) where nothing was found, an answer was refused, its
    chance of an answer is below 0.4, or, without a chance, its confidence below 0.6. --export FILE --as queries writes
    the questions as `twofold judge --queries` and `twofold eval --queries` read them; with --weak the weak ones alone.
    """
    if form not in _FORMS:
        raise InvalidInputError(f"--as {form} is no form of a query log.", f"Use one of {', '.join(_FORMS)}.")
    settings = settings_for(context, index=index).settings
    kept = _log_of(settings)
    if clear:
        kept.clear()
        _say(screen_on(), "The query log is deleted.", {"cleared": True}, as_json=as_json)
        return
    entries = list(kept.entries())
    if export is not None:
        count = _exported([one for one in entries if not weak or reasons(one)], export, form)
        told = f"{counted(count, 'line')} written to {export}."
        _say(screen_on(), told, {"written": count, "file": export}, as_json=as_json)
        return
    report = weak_report(entries) if weak else None
    if as_json:
        write_json(entries[::-1][:most] if report is None else report)
    elif not entries:
        screen_on().line("Nothing is logged yet." if settings.log.queries else f"{_OFF}\n{_TURN_ON}")
    elif report is None:
        _draw(screen_on(), entries[::-1][:most])
    else:
        _draw_weak(screen_on(), report, most)


def _log_of(settings: Settings) -> QueryLog:
    kept = query_log_of(settings.index, settings)
    if kept is None or not is_there(settings.index, settings):
        shown = shown_name(settings.index)
        raise NotFoundError(f"There is no index {shown!r}.", "`twofold index list` shows those there are.")
    return kept


def _say(screen: Screen, told: str, data: object, *, as_json: bool) -> None:
    if as_json:
        write_json(data)
    else:
        screen.line(one_line(told))


def _exported(entries: Sequence[LoggedQuery], path: Path, form: str) -> int:
    """Write entries to a file that only its owner may read, and return how many lines."""
    if form == "records":
        lines = [msgspec.json.encode(one) + b"\n" for one in entries]
    else:
        texts = dict.fromkeys(one.question for one in entries)
        lines = [msgspec.json.encode({"_id": f"q{at}", "text": text}) + b"\n" for at, text in enumerate(texts, 1)]
    write_durably(path, lines)
    return len(lines)


def _draw(screen: Screen, entries: Iterable[LoggedQuery]) -> None:
    rows = [("when (UTC)", "found", "chance", "ms", "weak")]
    rows += [
        (
            one.at[:16].replace("T", " "),
            str(one.returned),
            _number(one.p_answerable),
            _total(one),
            ", ".join(reasons(one)),
        )
        for one in entries
    ]
    _table(screen, rows, ["question", *(one.question for one in entries)], frozenset({1, 2, 3}))


def _draw_weak(screen: Screen, report: WeakReport, most: int) -> None:
    rows = [("week of", "asked", "weak", "nothing found", "mean chance", "median ms")]
    rows += [
        (
            one.begins,
            f"{one.asked:,}",
            f"{one.weak:,}",
            f"{one.unfound:,}",
            _number(one.p_answerable),
            "–" if one.median_ms is None else f"{one.median_ms:,.0f}",
        )
        for one in report.weeks
    ]
    for line in columns(rows, right=frozenset(range(1, 6))):
        screen.line(line)
    screen.line()
    if not report.questions:
        screen.line("No question went badly.")
        return
    shown = report.questions[:most]
    table = [("asked", "weak", "chance", "last", "why")]
    table += [(str(one.asked), str(one.weak), _number(one.p_answerable), one.last, ", ".join(one.why)) for one in shown]
    _table(screen, table, ["question", *(one.question for one in shown)], frozenset({0, 1, 2}))
    if len(report.questions) > most:
        screen.line(f"and {len(report.questions) - most:,} more")


def _table(screen: Screen, rows: Sequence[Sequence[str]], questions: Sequence[str], right: frozenset[int]) -> None:
    """Draw rows with a question at the end of each, in what room is left."""
    last = len(rows[0])
    used = max(len(line) for line in columns([(*row, "|") for row in rows], right=right)) - 1
    room = max(_MIN_QUESTION, screen.width - used)
    cells = [(*row, shortened(one_line(text), room)) for row, text in zip(rows, questions, strict=True)]
    for line in columns(cells, right=right - {last}):
        screen.line(line)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _total(entry: LoggedQuery) -> str:
    total = entry.timings_ms.get("total")
    return "–" if total is None else f"{total:,.0f}"
