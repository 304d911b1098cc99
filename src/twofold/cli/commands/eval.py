"""`eval`: how good and how fast search is on judged questions, one configuration against another."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from twofold.cli.eval.dataset import EvalData, Needs, Source, eval_data_of, resolving
from twofold.cli.eval.junit import write_junit
from twofold.cli.eval.report import render_evaluation
from twofold.cli.eval.variants import AS_CONFIGURED, RUN, Configuration, distinct, parsed_configuration
from twofold.cli.options import EmbedderOption, IndexOption, JsonOption
from twofold.cli.render.progress import counting, model_progress
from twofold.cli.render.results import write_json
from twofold.config.load import Settings
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.evaluation.answer_text import STANDARD as STANDARD_BY_ANSWER
from twofold.evaluation.answer_text import check_metrics, find_passages
from twofold.evaluation.answering import answer_all, cites_relevant, shows_answer
from twofold.evaluation.confidence import Confidence, confidence_of
from twofold.evaluation.report import STANDARD, metric_named
from twofold.evaluation.run import Answers, VariantRun, evaluation, find_all, milliseconds_a_query
from twofold.evaluation.runs import Run, as_word, read_run, write_run
from twofold.evaluation.thresholds import check_comparable, parsed_condition
from twofold.factory.plan import plan_of
from twofold.factory.search import model_openers, search_models_for
from twofold.indexing.components import IndexingComponents
from twofold.search.plan import MODES

CONDITION_HOLDS = 11


def _option(name: str, metavar: str, says: str, *more: str) -> object:
    return typer.Option(name, *more, metavar=metavar, help=says, show_default=False)


Folder = Annotated[
    Path | None,
    typer.Argument(metavar="[DIR]", help="Holds corpus.jsonl, queries.jsonl and qrels/.", show_default=False),
]
Split = Annotated[str, typer.Option("--split", help="Which judgements of DIR: the name of a file in qrels/.")]
Qrels = Annotated[
    Path | None, _option("--qrels", "FILE", "Judgements for your own index: pairs in .csv or .jsonl, or qrels.")
]
Queries = Annotated[Path | None, _option("--queries", "FILE", "The queries for the ids in --qrels, .jsonl or .tsv.")]
ByAnswer = Annotated[
    Path | None,
    _option("--answers", "FILE", "Judge passages by the text of the answer: query and answers in a .csv or .jsonl."),
]
Modes = Annotated[list[str] | None, _option("--mode", "MODE", "The same as --variant MODE; repeat for more.", "-m")]
Variants = Annotated[
    list[str] | None,
    _option(
        "--variant", "VARIANT", "Measure this: a mode, a profile, KEY=VALUE,..., settings or run:FILE; repeat for more."
    ),
]
Baseline = Annotated[str | None, _option("--baseline", "VARIANT", "Compare with this, question by question.")]
FromRun = Annotated[
    list[Path] | None, _option("--from-run", "FILE", "Measure a TREC run that was made elsewhere; repeat for more.")
]
Metrics = Annotated[
    list[str] | None, _option("--metric", "NAME@K", "Show this, such as ndcg@20 or map@100; repeat for more.")
]
RunOut = Annotated[
    Path | None, _option("--run", "FILE", "Write what was found as a TREC run, a file for each VARIANT.")
]
JUnit = Annotated[
    Path | None, _option("--junit", "FILE", "Write the figures and conditions as a JUnit report, for a build server.")
]
Confident = Annotated[
    bool,
    typer.Option(
        "--confidence",
        help="Also answer every question, and report how well calibrated its answers are.",
    ),
]
FailIf = Annotated[
    list[str] | None,
    _option("--fail-if", "TEST", '"ndcg@10 < 0.7" of the value, or "< -0.02" of the difference: exit code 11.'),
]


def evaluate(
    context: typer.Context,
    folder: Folder = None,
    *,
    qrels: Qrels = None,
    queries: Queries = None,
    answers: ByAnswer = None,
    index: IndexOption = None,
    split: Split = "test",
    modes: Modes = None,
    variants: Variants = None,
    baseline: Baseline = None,
    from_run: FromRun = None,
    metrics: Metrics = None,
    run_out: RunOut = None,
    fail_if: FailIf = None,
    junit: JUnit = None,
    confidence: Confident = False,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure search on judged questions, and compare configurations.

    A judged collection (DIR, BEIR's layout) is indexed in a scratch folder that is removed afterwards; --qrels is about
    an index of your own. With --answers no document is judged: a passage is relevant where the answer stands in it.
    Each figure is a mean over the questions, with the interval in which 95 % of resampled means lie. More in
    docs/evaluating.md.
    """
    asked = _variant_run(metrics, fail_if, compared=baseline is not None, by_answer=answers is not None)
    every = _every((modes, variants, from_run), baseline, conditions=bool(asked.conditions))
    kept = folder is None and (qrels or answers) is not None and any(not text.startswith(RUN) for text in every)
    resolved = resolving(context, embedder, index, kept=kept)
    configurations = distinct(parsed_configuration(text, resolved) for text in every)
    _check_folders({"--run": run_out, "--junit": junit})
    source = Source(folder, split, qrels, queries, index, answers)
    with eval_data_of(source, _needs(configurations, resolved({}))) as ground:
        found = [_answers(one, ground, asked) for one in configurations]
        chances = _chances(configurations, ground) if confidence else ()
    some, other = (found, None) if baseline is None else (found[:-1], found[-1])
    done = evaluation(ground.judged, ground.documents, some, other, asked)
    done = replace(done, pending=ground.pending, confidence=chances)
    written = [] if run_out is None else _written(run_out, configurations, found)
    if junit is not None:
        write_junit(junit, done, asked.conditions)
    write_json(done) if as_json else render_evaluation(done, ground.unmatched, written)
    if done.failed:
        raise typer.Exit(CONDITION_HOLDS)


def _check_folders(outs: Mapping[str, Path | None]) -> None:
    """Refuse early what would be lost after minutes; by the options that name it."""
    for option, out in outs.items():
        if out is None or out.absolute().parent.is_dir():
            continue
        raise NotFoundError(f"there is no folder {out.absolute().parent}.", f"Make it, or write {option} elsewhere.")


def _variant_run(
    metrics: Sequence[str] | None, fail_if: Sequence[str] | None, *, compared: bool, by_answer: bool
) -> VariantRun:
    """Return what to report. Raises InvalidInputError for what cannot be."""
    named = {one.name: one for one in map(metric_named, metrics or ())}
    standard = STANDARD_BY_ANSWER if by_answer else STANDARD
    asked = VariantRun(tuple(named.values()) or standard, tuple(map(parsed_condition, fail_if or ())))
    check_comparable(asked.conditions, compared=compared)
    if by_answer:
        check_metrics(asked.all_metrics)
    return asked


def _needs(configurations: Sequence[Configuration], settings: Settings) -> Needs:
    return Needs(
        settings,
        engine=any(isinstance(one.asks, Settings) for one in configurations),
        model=any(one.needs_a_model for one in configurations),
    )


def _answers(one: Configuration, ground: EvalData, asked: VariantRun) -> Answers:
    if isinstance(one.asks, Path):
        if ground.answered is not None:
            raise InvalidInputError("A run has no texts in which to look for an answer.", "Judge it with --qrels.")
        return Answers(one.name, _elsewhere(one.asks, ground), None)
    if ground.parts is None:
        raise InvalidInputError(f"There is no index for {one.name} to search.", "Name one with --index.")
    plan = plan_of(one.asks)
    openers = model_openers(one.asks, model_progress())
    try:
        parts = replace(ground.parts, models=search_models_for(ground.parts.models, one.asks, openers))
        grades: Mapping[str, Mapping[str, int]] = {}
        if ground.answered is None:
            run = find_all(parts, ground.judged, plan, ground.names)
        else:
            run, grades = find_passages(parts, ground.answered, plan, max(metric.k for metric in asked.all_metrics))
        return Answers(one.name, run, milliseconds_a_query(parts, ground.judged, plan), grades)
    finally:
        openers.close()


def _every(
    named: tuple[list[str] | None, list[str] | None, list[Path] | None], baseline: str | None, *, conditions: bool
) -> list[str]:
    """Return what is measured, the baseline last: what was named, else each mode, or the settings as they are."""
    modes, variants, runs = named
    texts = [*(modes or ()), *(variants or ()), *(f"{RUN}{path}" for path in runs or ())]
    default = [AS_CONFIGURED] if baseline is not None or conditions else list(MODES)
    return [*(texts or default), *(() if baseline is None else (baseline,))]


def _chances(configurations: Sequence[Configuration], ground: EvalData) -> tuple[Confidence, ...]:
    """Return how far the chances of answers hold, of each configuration that searches."""
    if ground.parts is None:
        raise InvalidInputError("A run has no answers whose confidence could be measured.", "Leave --confidence out.")
    return tuple(
        _confidence(one.name, one.asks, ground, ground.parts)
        for one in configurations
        if isinstance(one.asks, Settings)
    )


def _confidence(name: str, settings: Settings, ground: EvalData, base: IndexingComponents) -> Confidence:
    openers = model_openers(settings, model_progress())
    try:
        parts = replace(base, models=search_models_for(base.models, settings, openers))
        answered = ground.answered
        is_right = shows_answer(answered) if answered else cites_relevant(ground.judged, ground.names)
        asked = ground.judged.queries
        made = answer_all(parts, asked, plan_of(settings), settings.answer.sentences, is_right)
        told = list(counting(made, "Answering", len(asked), "questions"))
        return confidence_of(name, told, "answer" if answered else "document")
    finally:
        openers.close()


def _elsewhere(path: Path, ground: EvalData) -> Run:
    run = read_run(path)
    if not any(query.id in run for query in ground.judged.queries):
        raise InvalidInputError(f"{path} answers none of the judged queries.", "Compare the ids of the files.")
    written = {as_word(name): name for grades in ground.judged.grades.values() for name in grades}
    meant = {**ground.names, **written}
    return {
        query: tuple(hit._replace(document=meant.get(hit.document, hit.document)) for hit in hits)
        for query, hits in run.items()
    }


def _written(out: Path, configurations: Sequence[Configuration], answers: Sequence[Answers]) -> list[Path]:
    """Write each run that was made here: to `out` if it is the only one, else with its configuration in the name."""
    made = [each for one, each in zip(configurations, answers, strict=True) if isinstance(one.asks, Settings)]
    tags = [re.sub(r"[^A-Za-z0-9.=_-]+", "-", each.name).strip("-.") for each in made]
    paths = [out if len(made) == 1 else out.with_name(f"{out.stem}.{tag}{out.suffix}") for tag in tags]
    for path, each, tag in zip(paths, made, tags, strict=True):
        words = {
            query: [hit._replace(document=as_word(hit.document)) for hit in hits] for query, hits in each.run.items()
        }
        write_run(path, words, tag)
    return paths
