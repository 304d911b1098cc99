"""`tune`: let judged questions, or questions made from the documents, choose the settings of searching."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from twofold.cli.eval.dataset import EvalData, Needs, Source, eval_data_of, resolving
from twofold.cli.eval.label_free import render_label_free, settings_with_weight, tuned_without_labels, without_evidence
from twofold.cli.eval.synthetic import synthetic_queries
from twofold.cli.eval.tune_report import TuneReport, render_tuning, searches_on
from twofold.cli.options import EmbedderOption, IndexOption, JsonOption
from twofold.cli.render.progress import model_progress
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import one_line, screen_on
from twofold.cli.runtime import open_index
from twofold.config.load import Settings, merge
from twofold.config.trust import index_may_say
from twofold.config.values import value_from_text
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.evaluation.report import metric_named
from twofold.evaluation.run import searching
from twofold.evaluation.tuning import (
    JUDGED,
    MAX_FINALISTS,
    MIN_QUESTIONS,
    SYNTHETIC,
    SYNTHETIC_TUNABLE,
    TUNABLE,
    Changes,
    TunableSetting,
    tune_by,
)
from twofold.factory.plan import plan_of
from twofold.factory.search import model_openers, search_models_for
from twofold.index import Index
from twofold.indexing.components import IndexingComponents
from twofold.search.plan import SearchPlan

MAX_QUESTIONS = 10_000

Qrels = Annotated[
    Path | None,
    typer.Option("--qrels", metavar="FILE", help="Judgements: pairs in .csv or .jsonl, or qrels.", show_default=False),
]
Queries = Annotated[
    Path | None,
    typer.Option(
        "--queries",
        metavar="FILE",
        help="The queries for the ids in --qrels, or for --without-labels.",
        show_default=False,
    ),
]
Synthetic = Annotated[
    int | None,
    typer.Option(
        "--synthetic", metavar="N", help="Generate N questions from the documents instead.", show_default=False
    ),
]
WithoutLabels = Annotated[
    bool, typer.Option("--without-labels", help="Have a reranker judge what each vector weight puts first.")
]
Metric = Annotated[str, typer.Option("--metric", metavar="NAME@K", help="The metric to improve.")]
Budget = Annotated[float, typer.Option("--budget", metavar="SECONDS", help="About how long it may take.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed for splitting the questions and for --synthetic.")]
Apply = Annotated[bool, typer.Option("--apply", help="Store the chosen settings in the index.")]
Reset = Annotated[bool, typer.Option("--reset", help="Remove from the index the settings that tune can set, and stop.")]


def tune(
    context: typer.Context,
    *,
    index: IndexOption = None,
    qrels: Qrels = None,
    queries: Queries = None,
    synthetic: Synthetic = None,
    without_labels: WithoutLabels = False,
    metric: Metric = "ndcg@10",
    budget: Budget = 300.0,
    seed: Seed = 0,
    apply: Apply = False,
    reset: Reset = False,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Choose settings with half of the questions, and confirm the choice with the other half.

    Half of the questions choose among ways to search; the other half must confirm that the choice is better, by more
    than chance and by enough to matter. Else the default is kept, and that is an answer too: the exit code is 0 either
    way. With --without-labels a reranker judges what comes first for the queries of the log, or of --queries, and only
    the vector weight is chosen. More in docs/tuning.md.
    """
    if reset:
        _reset(context, index, as_json=as_json)
        return
    if [qrels is not None, synthetic is not None, without_labels].count(True) != 1:
        raise InvalidInputError(
            "Tuning needs --qrels FILE or --synthetic N or --without-labels, not both.", "See docs/tuning.md."
        )
    _check_goal(metric, budget)
    settings = resolving(context, embedder, index, kept=True)({})
    if without_labels:
        found = tuned_without_labels(index, settings, queries, budget, seed)
        if apply and found.choice.changes:
            _keep(context, index, lambda opened: settings_with_weight(_own_settings(opened), found.choice))
            found = replace(found, applied=True)
        (write_json if as_json else render_label_free)(found)
        return
    told = _run_tuning(
        index, Source(None, "", qrels, queries, index), settings, _TuneOptions(metric, budget, seed, synthetic)
    )
    if apply and told.tuning.winner:
        _keep(context, index, lambda opened: {**_own_settings(opened), **told.tuning.winner})
        told = replace(told, applied=True)
    (write_json if as_json else render_tuning)(told)


@dataclass(frozen=True, slots=True)
class _TuneOptions:
    metric: str
    budget: float
    seed: int
    synthetic: int | None


def _keep(context: typer.Context, index: str | None, settings_of: Callable[[Index], Mapping[str, str]]) -> None:
    with open_index(context, index) as opened:
        opened.set_settings(settings_of(opened))


def _run_tuning(index: str | None, source: Source, settings: Settings, asked: _TuneOptions) -> TuneReport:
    needs = Needs(settings, engine=True, model=True)
    if asked.synthetic is None:
        with eval_data_of(source, needs) as ground:
            return _tune(ground, settings, asked, {})
    _check(asked.synthetic)
    with synthetic_queries(index, needs, asked.synthetic, asked.seed) as made:
        return _tune(made.ground, settings, asked, made.kinds)


def _tune(ground: EvalData, settings: Settings, asked: _TuneOptions, kinds: Mapping[str, int]) -> TuneReport:
    if ground.parts is None:
        raise InvalidInputError("There is no index to search.", "Name one with --index.")
    parts, metric = ground.parts, metric_named(asked.metric)
    all_settings = _known(SYNTHETIC_TUNABLE if kinds else TUNABLE, settings)
    rules = replace(SYNTHETIC if kinds else JUDGED, seed=asked.seed, seconds=asked.budget)
    most = 1 + sum(len(setting.options) for setting in all_settings) + MAX_FINALISTS + 1
    with _preparing(parts, settings) as prepare, searches_on(most) as tell:
        measure = searching(ground.judged, ground.names, metric, prepare, tell)
        found = tune_by(ground.judged.queries, measure, metric.name, all_settings, rules)
    return TuneReport(
        collection=ground.judged.name,
        documents=ground.documents,
        queries=len(ground.judged.queries),
        synthetic_queries=kinds,
        unmatched=len(ground.unmatched),
        tuning=found,
        alpha=rules.alpha,
        bound=rules.bound,
        applied=False,
    )


@contextmanager
def _preparing(
    parts: IndexingComponents, settings: Settings
) -> Iterator[Callable[[Changes], tuple[IndexingComponents, SearchPlan]]]:
    openers = model_openers(settings, model_progress())

    def prepare(changes: Changes) -> tuple[IndexingComponents, SearchPlan]:
        asks = merge(settings, changes)
        return replace(parts, models=search_models_for(parts.models, asks, openers)), plan_of(asks)

    try:
        yield prepare
    finally:
        openers.close()


def _known(all_settings: Sequence[TunableSetting], settings: Settings) -> Sequence[TunableSetting]:
    """Leave out what is set already or comes to the same as another option, and the weight of a reranker not set."""
    kept = []
    for setting in all_settings:
        made = [merge(settings, option) for option in setting.options]
        new = [place for place, one in enumerate(made) if one not in (settings, *made[:place])]
        kept.append(replace(setting, options=tuple(setting.options[place] for place in new)))
    return [setting for setting in kept if setting.name != "reranking" or settings.rerank.model != "none"]


def _check_goal(metric: str, budget: float) -> None:
    metric_named(metric)
    if not budget >= 0.0:
        raise InvalidInputError(f"--budget must be at least 0, not {budget:g}.", "Try 300: it is in seconds.")


def _check(number: int) -> None:
    if not MIN_QUESTIONS <= number <= MAX_QUESTIONS:
        raise InvalidInputError(
            f"--synthetic must be from {MIN_QUESTIONS} to {MAX_QUESTIONS:,}, not {number}.", "Try 300."
        )


def _own_settings(opened: Index) -> Mapping[str, str]:
    """Return what an index keeps for itself, without what nobody heeds because an index may not say it."""
    held = opened.get_settings()
    return {key: text for key, text in held.items() if index_may_say(key, value_from_text(key, text))}


def _reset(context: typer.Context, index: str | None, *, as_json: bool) -> None:
    tuned = {key for setting in TUNABLE for option in setting.options for key in option}
    with open_index(context, index) as opened:
        held = opened.get_settings()
        forgotten = {key: value for key, value in held.items() if key in tuned}
        kept = {key: value for key, value in _own_settings(opened).items() if key not in tuned}
        opened.set_settings(without_evidence(kept))
    if as_json:
        write_json({"forgotten": forgotten})
    else:
        names = ", ".join(f"{one_line(key)}={one_line(value)}" for key, value in forgotten.items())
        screen_on().line(f"Forgotten: {names}." if forgotten else "The index kept nothing that tune sets.")
