"""`eval`: run the engine over a judged collection, mode by mode, and say how good and how fast each was."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from twofold.cli.data import write_json
from twofold.cli.launch import settings_for
from twofold.cli.models import ensure_present
from twofold.cli.options import EmbedderOption, JsonOption
from twofold.cli.progress import progress_on
from twofold.cli.screen import columns, counted, one_line, screen_on
from twofold.compose import make_parts, open_store
from twofold.domain.errors import InvalidInputError
from twofold.evaluate.collection import CorpusDocument, JudgedCollection, load
from twofold.evaluate.report import Evaluation, Figure, Row, evaluate_run, report, summarise
from twofold.evaluate.running import ask_all, fill, milliseconds_a_query
from twofold.pipeline.parts import Parts
from twofold.pipeline.search import MODES, SearchPlan
from twofold.pipeline.types import Phase, SyncProgress
from twofold.settings import Settings


@dataclass(frozen=True, slots=True)
class _Engine:
    """A scratch collection that is filled, and how it is asked."""

    parts: Parts
    plan: SearchPlan


def evaluate(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Holds corpus.jsonl, queries.jsonl and qrels/.")],
    *,
    split: Annotated[str, typer.Option("--split", help="Which judgements: the name of a file in qrels/.")] = "test",
    modes: Annotated[
        list[str] | None, typer.Option("--mode", "-m", help="Only this mode; repeat for more.", show_default=False)
    ] = None,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure search on a judged collection (BEIR's layout), indexed in a scratch folder that is removed afterwards.

    Each figure is a mean over the questions, with the interval in which 95 % of resampled means lie.
    """
    asked = _checked(modes or list(MODES))
    settings = settings_for(context, embedder=embedder).settings
    judged = load(folder, split)
    if set(asked) != {"bm25"}:
        ensure_present(settings)
    with TemporaryDirectory(prefix="twofold-eval-") as scratch:
        store = open_store(Path(scratch) / "index", settings, create=True)
        try:
            engine = _Engine(make_parts(store, settings, None), _plan(settings))
            _fill(engine.parts, judged.documents)
            done = report(judged, [_measured(engine, judged, mode) for mode in asked])
            engine.parts.embedder.close()
        finally:
            store.close()
    if as_json:
        write_json(done)
    else:
        _draw(done)


def _checked(modes: list[str]) -> list[str]:
    for mode in modes:
        if mode not in MODES:
            raise InvalidInputError(f"There is no mode {mode!r}.", f"Use one of {', '.join(MODES)}.")
    return modes


def _plan(settings: Settings) -> SearchPlan:
    chosen = settings.search
    return SearchPlan(
        k=chosen.k,
        depth=chosen.depth,
        fusion=chosen.fusion,
        dense_weight=chosen.dense_weight,
        k1=chosen.k1,
        b=chosen.b,
    )


def _fill(parts: Parts, documents: Sequence[CorpusDocument]) -> None:
    with progress_on() as draw:

        def filled(done: int, passages: int) -> None:
            draw(SyncProgress(Phase.EMBED, done, len(documents), "", passages))

        fill(parts, documents, filled)


def _measured(engine: _Engine, judged: JudgedCollection, mode: str) -> Row:
    plan = replace(engine.plan, mode=mode)
    run = ask_all(engine.parts, judged, plan)
    return summarise(mode, evaluate_run(run, judged), milliseconds_a_query(engine.parts, judged, plan))


def _draw(done: Evaluation) -> None:
    screen = screen_on()
    screen.line(
        f"{one_line(done.collection)}: {counted(done.documents, 'document')}, {counted(done.queries, 'question')}"
    )
    rows = [("", *(row.mode for row in done.rows))]
    by_metric = zip(*(row.figures for row in done.rows), strict=True)
    rows += [(same[0].metric, *map(_shown, same)) for same in by_metric]
    rows.append(("ms/query", *(f"{row.ms_per_query:.1f}" for row in done.rows)))
    for line in columns(rows, right=frozenset(range(1, len(rows[0])))):
        screen.line(line)
    if done.left_out:
        screen.line(f"{counted(done.left_out, 'question')} without a relevant document left out.")
    if done.missing_documents:
        screen.line(f"{counted(done.missing_documents, 'judgement')} of documents that are not in the corpus.")


def _shown(figure: Figure) -> str:
    return f"{figure.interval.mean:.3f} [{figure.interval.low:.3f}, {figure.interval.high:.3f}]"
