"""`tune --without-labels`: a reranker judges what each weight of the vector search puts first, and the best is kept."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from time import monotonic

from twofold.cli.eval.dataset import Needs, parts_on
from twofold.cli.eval.tune_report import searches_on
from twofold.cli.render.progress import model_progress
from twofold.cli.render.terminal import columns, one_line, screen_on
from twofold.config.load import Settings, merge
from twofold.config.profiles import CROSS_ENCODER
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import Reranker
from twofold.evaluation.label_free import MIN_PASSAGES, MIN_QUERIES, QUERIES, TOP, Judge, WeightChoice, judge_weights
from twofold.evaluation.queries import read_query_list
from twofold.factory.plan import plan_of
from twofold.factory.search import model_openers, open_store, query_log_of, search_models_for
from twofold.indexing.components import IndexingComponents
from twofold.query.parse import as_prose
from twofold.search.pipeline import search
from twofold.search.rerank import QUERY_CHARACTERS, TEXT_CHARACTERS
from twofold.text.quantities import counted

WEIGHTED = ("adaptive", "convex")
ENGLISH = "english"
WEIGHT, PARAMETERS, EVIDENCE = "fusion.vector_weight", "fusion.parameters", "evidence"


@dataclass(frozen=True, slots=True)
class LabelFree:
    """Everything that `tune --without-labels` tells."""

    passages: int
    reranker: str
    choice: WeightChoice
    applied: bool = False


def tuned_without_labels(
    index: str | None, settings: Settings, queries: Path | None, budget: float, seed: int
) -> LabelFree:
    """Choose the vector weight of an index by queries of a file or of its log.

    Raises InvalidInputError where it has no weight, too few passages or too few queries.
    """
    settings = _from_default(settings)
    store = open_store(index or settings.index, settings, create=False)
    with parts_on(store, Needs(settings, engine=True, model=True)) as parts:
        chosen = merge(settings, {"rerank.model": _judging(settings, dict(parts.settings)["analyzer"])})
        passages = store.info().chunks
        if passages < MIN_PASSAGES:
            raise InvalidInputError(
                f"{counted(passages, 'passage')} are too few to choose a weight by.",
                f"From {MIN_PASSAGES} on the weight decides what is among the first {TOP}; before, keep the default.",
            )
        asked = _sample_queries(index, settings, queries, seed)
        openers = model_openers(chosen, model_progress())
        try:
            reranker = search_models_for(parts.models, chosen, openers).rerankers[0]
            with searches_on(len(asked)) as tell:
                judge, go_on = _judge(parts, settings, reranker), _until(monotonic() + budget, tell)
                choice = judge_weights(asked, settings.fusion.vector_weight, judge, go_on)
        finally:
            openers.close()
    return LabelFree(passages, reranker.identity.name, choice)


def _from_default(settings: Settings) -> Settings:
    """Return the settings to start from: where a weight was chosen this way before, the default one again."""
    if settings.search.mode != "hybrid" or settings.fusion.method not in WEIGHTED:
        raise InvalidInputError(
            f"A {settings.search.mode} search fused by {settings.fusion.method} has no weight to choose.",
            f"Use search.mode hybrid and fusion.method {' or '.join(WEIGHTED)}.",
        )
    chosen_before = plan_of(settings).fusion.evidence
    return merge(settings, {WEIGHT: Settings().fusion.vector_weight}) if chosen_before else settings


def _judging(settings: Settings, analyzer: str) -> str:
    if settings.rerank.model != "none":
        return settings.rerank.model
    if analyzer != ENGLISH:
        raise InvalidInputError(
            f"{CROSS_ENCODER} reads English, and this index is analyzed as {analyzer}.",
            "Name a reranker for its language: `--set rerank.model=NAME`.",
        )
    return CROSS_ENCODER


def _sample_queries(index: str | None, settings: Settings, queries: Path | None, seed: int) -> tuple[str, ...]:
    """Return queries that people asked, each once, drawn at random: of a file, or of the query log.

    Queries made from documents are in their words: they have words alone look better than they are for people.
    """
    if queries is not None:
        found = sorted(set(read_query_list(queries)))
    else:
        log = query_log_of(index or settings.index, settings)
        found = sorted({one.question for one in log.entries() if not one.error}) if log is not None else []
    if len(found) < MIN_QUERIES:
        raise InvalidInputError(
            f"{len(found)} queries are too few to choose a weight by; {MIN_QUERIES} are needed.",
            "Name a file of queries with --queries, or keep a query log: `log: {queries: true}` in the settings.",
        )
    return tuple(Random(seed).sample(found, min(QUERIES, len(found))))  # noqa: S311  # a lot, no secret


def _judge(parts: IndexingComponents, settings: Settings, reranker: Reranker) -> Judge:
    """Make what judges; each pair of a query and a passage is read once."""
    known: dict[tuple[str, str], float] = {}

    def judge(query: str, weight: float) -> Sequence[float]:
        plan = plan_of(merge(settings, {WEIGHT: weight, "rerank.model": "none"}))
        hits = search(parts, as_prose(query), replace(plan, k=TOP)).hits
        new = [hit for hit in hits if (query, hit.chunk_id) not in known]
        if new:
            raw = reranker.score(query[:QUERY_CHARACTERS], [hit.text[:TEXT_CHARACTERS] for hit in new])
            for hit, relevance in zip(new, reranker.relevance(raw).tolist(), strict=True):
                known[query, hit.chunk_id] = relevance
        return [known[query, hit.chunk_id] for hit in hits]

    return judge


def _until(ends: float, tell: Callable[[], None]) -> Callable[[int], bool]:
    def go_on(_done: int) -> bool:
        tell()
        return monotonic() < ends

    return go_on


def settings_with_weight(kept: Mapping[str, str], choice: WeightChoice) -> Mapping[str, str]:
    """Return the settings that an index keeps, with the weight chosen and what it rests on."""
    parameters = {**json.loads(kept.get(PARAMETERS, "{}")), EVIDENCE: choice.evidence}
    return {**kept, WEIGHT: f"{choice.weight:g}", PARAMETERS: json.dumps(parameters, ensure_ascii=False)}


def without_evidence(kept: Mapping[str, str]) -> Mapping[str, str]:
    """Return the settings that an index keeps, without what a weight rests on."""
    parameters = json.loads(kept.get(PARAMETERS, "{}"))
    parameters.pop(EVIDENCE, None)
    others = {key: value for key, value in kept.items() if key != PARAMETERS}
    return {**others, PARAMETERS: json.dumps(parameters, ensure_ascii=False)} if parameters else others


def render_label_free(told: LabelFree) -> None:
    """Draw the queries, what each weight reached, the choice, and how to take it back."""
    screen, choice = screen_on(), told.choice
    screen.line(
        f"{counted(told.passages, 'passage')}, {counted(choice.queries, 'question')}; "
        f"{one_line(told.reranker)} judges what comes first"
    )
    screen.line()
    table = [["vector_weight", f"relevance of the first {TOP}", "difference"]]
    for one in choice.trials:
        now = " (now)" if one.weight == choice.default else ""
        table.append([f"{one.weight:g}{now}", f"{one.value:.3f}", f"{one.gain:+.3f} ± {one.error:.3f}"])
    for line in columns(table, right=frozenset({1, 2})):
        screen.line(line)
    screen.line()
    if not choice.changes:
        screen.line(screen.paint(f"Keep {choice.default:g}: no other weight is better by enough.", "bold"))
        return
    screen.line(
        screen.paint(f"{choice.weight:g}", "green")
        + f": {choice.best:g} is best, drawn back toward {choice.default:g} by how uncertain that is."
    )
    if told.applied:
        screen.line("The index keeps it from now on; `twofold tune --reset` takes it back.")
    else:
        screen.line("Nothing was changed; --apply lets the index keep it.")
