"""`doctor`: look at everything that must work here, one line each, with what to do about what does not."""

from collections.abc import Iterator
from functools import partial
from textwrap import wrap
from typing import Annotated

import typer

from twofold.checkup import Check, State, checks, index_check, notice_check
from twofold.cli.commands.indexes import existing_indexes
from twofold.cli.options import IndexOption, JsonOption
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import columns, one_line, screen_on
from twofold.cli.runtime import settings_for
from twofold.config.load import Settings
from twofold.domain.dataclass import dataclass
from twofold.index import Index


def doctor(
    context: typer.Context,
    *,
    index: IndexOption = None,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Show what to try where searches find too little or are slow.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check the installation, the models of the profile, the disk and the indexes; each line says ok, warn or fail.

    The exit code is 0 unless something failed; then it is that of the first failure.
    """
    settings = settings_for(context).settings
    if suggest:
        _advise(as_json=as_json)
        return
    found = list(_checks(settings, index))
    if as_json:
        write_json(found)
    else:
        _draw(found)
    failed = [check for check in found if check.state is State.FAIL]
    if failed:
        raise typer.Exit(failed[0].exit_code)


def _checks(settings: Settings, index: str | None) -> Iterator[Check]:
    yield from checks(settings)
    if index is not None:
        yield from notice_check(index)
    for name in [index] if index is not None else existing_indexes(settings):
        yield index_check(name, partial(Index, name, settings=settings, create=False))


@dataclass(frozen=True, slots=True)
class Advice:
    """What to try when something is wrong, the cheapest first."""

    when: str
    tries: tuple[str, ...]


ADVICE = (
    Advice(
        "fewer than 70 % of your questions find their document",
        (
            "`twofold why-not QUESTION DOCUMENT` names the stage that lost it, and a command that shows it.",
            "`twofold show DOCUMENT --chunks` shows what was read of it; a scan without text holds none.",
            "`--profile recall` looks twice as deep; `-k 20` shows more.",
            "`twofold tune` chooses settings by your own judgements, or says that the defaults are best.",
            "Another language than English: make the index with its analyzer and a model that knows it.",
        ),
    ),
    Advice(
        "a search takes longer than 500 ms",
        (
            "`--explain` says which stage takes the time; the first search of a process loads the model.",
            "If it is `rerank`: `--rerank none`, `--set rerank.candidates=10`, or `--budget-ms 300`.",
            "If it is `expand`: a generator is asked; `--set query_expansion=multi_query:0`.",
            "If it is `embed`: `-m bm25` needs no model; `--batch` embeds many questions together.",
            "`twofold index compact` joins the segments of an index that was added to often.",
        ),
    ),
    Advice(
        "what is found is not relevant",
        (
            "`--explain` shows which terms and which retriever found a passage.",
            'Narrow it: `--filter`, `type:.md` or a "quoted phrase" in the question.',
            "`--profile precise` reads the best again and leaves out what is not relevant.",
            "`Probably not in your documents` below the results is right in 98 of 100 questions from elsewhere.",
            "`twofold eval` measures a change on questions of yours before you keep it.",
        ),
    ),
)


def _advise(*, as_json: bool) -> None:
    if as_json:
        write_json(ADVICE)
        return
    screen = screen_on()
    for one in ADVICE:
        screen.line(screen.paint(f"If {one.when}:", "bold"))
        for text in one.tries:
            for line in wrap(text, min(screen.width, 120), initial_indent="  - ", subsequent_indent="    "):
                screen.line(line)


def _draw(found: list[Check]) -> None:
    screen = screen_on()
    styles = {State.OK: "green", State.WARN: "yellow", State.FAIL: "red"}
    rows = [
        (screen.paint(check.state, styles[check.state]), one_line(check.what), one_line(check.says)) for check in found
    ]
    for line, check in zip(columns(rows), found, strict=True):
        screen.line(line)
        if check.state is not State.OK and check.hint:
            screen.line(f"      {one_line(check.hint)}")
