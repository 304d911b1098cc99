"""`search --explain`: how each number of a hit came about, so that it can be added up with a pencil."""

from collections.abc import Iterator, Sequence
from textwrap import shorten, wrap

from twofold.cli.render.terminal import Screen, columns, one_line
from twofold.domain.types import TermScore
from twofold.ranking.boost import BoostStep
from twofold.ranking.fusion import RetrieverTrace
from twofold.ranking.metadata_boost import MetadataStep
from twofold.ranking.rescoring import RecencyStep, ScoreStep
from twofold.search.result import Hit, HitTrace, RerankSummary, RerankTrace, SearchResult, Step
from twofold.text.analyzer import EXACT

_INDENT = "      "
_TERMS = 12
_DECISIONS = 5
_MAX_LENGTH = 100
_NUMBERS = frozenset(range(1, 6))

Row = tuple[str, str, str, str, str, str]
_EMPTY: Row = ("", "", "", "", "", "")


def render_explanation(screen: Screen, hit: Hit, queries: Sequence[str] = ()) -> None:
    """Draw what adds up: the retrievers' parts to the fused score, each step from there on, each term's part to BM25.

    The hit is of a result that `explained` has given words.
    """
    trace = hit.trace
    rows: list[Row] = [("", "rank", "raw", "normalized", "weight", "part")]
    rows += [_retriever_cells(one_line(retriever.retriever), retriever) for retriever in trace.retrievers]
    if trace.steps:
        rows.append(("fused", "", "", "", "", f"{trace.fused():.6f}"))
    for step in trace.steps:
        rows += _step_rows(step)
    rows.append(("score", "", "", "", "", f"{hit.score:.6f}"))
    rows += _term_rows(trace, queries)
    for line in columns(rows, right=_NUMBERS):
        screen.line(screen.paint(_INDENT + line, "dim") if line else "")


def render_stages(screen: Screen, result: SearchResult) -> None:
    """Draw the stages in order: how many passages went in and came out, the time, what it decided."""
    rows = [("stage", "in", "out", "ms", "")]
    for stage in result.stages:
        said = [shorten(one_line(one), _MAX_LENGTH, placeholder=" …") for one in stage.notes[:_DECISIONS]]
        if len(stage.notes) > _DECISIONS:
            said.append(f"and {len(stage.notes) - _DECISIONS:,} more")
        numbers = (f"{stage.candidates_in:,}", f"{stage.candidates_out:,}", f"{stage.milliseconds:.1f}")
        rows.append((one_line(stage.name), *numbers, said[0] if said else ""))
        rows += [("", "", "", "", one) for one in said[1:]]
    for line in columns(rows, right=frozenset({1, 2, 3})):
        screen.line(screen.paint(line, "dim"))
    constants = ", ".join(f"{name} {value:.6f}" for name, value in result.constants.items())
    for line in wrap(f"{result.fusion}: {constants}" if constants else result.fusion, screen.width):
        screen.line(screen.paint(line, "dim"))
    if result.rerank is not None:
        screen.line(screen.paint(summary_of(result.rerank), "dim"))
    counts = result.counts
    told = f"passages: {counts.retrieved:,} fused, {counts.after_filter:,} filtered, {counts.returned:,} shown"
    screen.line(screen.paint(told, "dim"))


def _retriever_cells(name: str, retriever: RetrieverTrace) -> Row:
    rank = "–" if retriever.rank is None else str(retriever.rank)
    return (
        name,
        rank,
        "no vector" if retriever.raw is None else f"{retriever.raw:.6f}",
        f"{retriever.normalized:.6f}",
        f"{retriever.weight:.4f}",
        f"{retriever.part:.6f}",
    )


def _step_rows(step: Step) -> Iterator[Row]:
    """Write what one stage did to the score; the last row's part is the score after it."""
    detail = step.detail
    if isinstance(detail, RerankTrace):
        yield from _rerank_rows(detail)
        yield ("reranked", "", "", "", "", f"{step.after:.6f}")
    elif isinstance(detail, BoostStep):
        said = ", ".join(one_line(name) for name in (*detail.codes, *detail.rules))
        sign = "×" if step.before >= 0.0 else "÷"
        yield (f"{step.stage}: {said}", "", f"{step.before:.6f}", "", f"{sign}{detail.multiplier:g}", "")
        yield ("", "", "", "", f"+{detail.bonus:g}", f"{step.after:.6f}")
    elif isinstance(detail, ScoreStep):
        yield (f"score = {one_line(detail.expression)}", "", "", "", "", "")
        for name, value in {**detail.inputs, "score": step.before}.items():
            yield (f"  {one_line(name)}", "", f"{value:.6f}", "", "", "")
        yield (step.stage, "", "", "", "", f"{step.after:.6f}")
    elif isinstance(detail, RecencyStep):
        said = f"recency: {detail.age_days or 0.0:.1f} days since {one_line(detail.field)}"
        yield (
            said,
            "",
            f"{step.before:.6f}",
            "",
            f"{'×' if step.before >= 0.0 else '÷'}{detail.factor:.4f}",
            f"{step.after:.6f}",
        )
    else:
        yield from _metadata_rows(step, detail)


def _rerank_rows(trace: RerankTrace) -> Iterator[Row]:
    """Write the fused score's share and the reranker's; a passage that was not read has no share of the latter."""
    weight = 1.0 - trace.weight
    part = weight * trace.fused_normalized
    fused = (f"{trace.fused:.6f}", f"{trace.fused_normalized:.6f}", f"{weight:.4f}", f"{part:.6f}")
    yield ("  as fused", str(trace.rank), *fused)
    if trace.raw is not None and trace.relevance is not None:
        part = trace.weight * trace.relevance
        yield ("  as read", "", f"{trace.raw:.6f}", f"{trace.relevance:.6f}", f"{trace.weight:.4f}", f"{part:.6f}")


def _metadata_rows(step: Step, detail: MetadataStep) -> Iterator[Row]:
    weights, features = detail.weights, detail.features
    part = weights.alpha * step.before
    yield ("  as it was", "", f"{step.before:.6f}", "", f"{weights.alpha:.4f}", f"{part:.6f}")
    said = f"  fields: {features.meta:.4f}×{weights.beta:g} + {features.type_match:.4f}×{weights.gamma:g}"
    yield (said, "", "", "", f"≤{weights.cap:g}", f"{detail.bonus:.6f}")
    if weights.delta:
        worth = f"{weights.delta * features.retrieval:.6f}"
        yield ("  retrieval score", "", "", f"{features.retrieval:.6f}", f"{weights.delta:.4f}", worth)
    yield (step.stage, "", "", "", "", f"{step.after:.6f}")


def _term_rows(trace: HitTrace, queries: Sequence[str]) -> Iterator[Row]:
    """Write what each word of the question adds to the BM25 score, then each word that PRF added."""
    if not trace.terms:
        return
    yield _EMPTY
    if trace.query_index and trace.query_index < len(queries):
        yield (f"terms of: {one_line(queries[trace.query_index])}", "", "", "", "", "")
    yield ("word", "count", "idf", "saturation", "weight", "score")
    asked = [term for term in trace.terms if term.origin == "query"]
    added = [term for term in trace.terms if term.origin == "prf"]
    yield from _cells_of(asked)
    if added:
        yield ("added by prf", "", "", "", "", "")
        yield from _cells_of(added)
    yield ("total", "", "", "", "", f"{sum(term.score for term in trace.terms):.6f}")


def _cells_of(terms: Sequence[TermScore]) -> Iterator[Row]:
    yield from map(_term_cells, terms[:_TERMS])
    rest = terms[_TERMS:]
    if rest:
        yield (f"{len(rest)} more", "", "", "", "", f"{sum(term.score for term in rest):.6f}")


def summary_of(summary: RerankSummary) -> str:
    """Return one line about what reranking did."""
    said = f"rerank: {one_line(summary.model)} ({summary.scale}) read {summary.read} of {summary.candidates} candidates"
    if summary.threshold:
        said += f", dropped {summary.dropped} below relevance {summary.threshold:g}"
    return said


def _term_cells(term: TermScore) -> Row:
    scale = term.weight * term.idf
    saturation = term.score / scale if scale else 0.0
    numbers = (f"{term.idf:.6f}", f"{saturation:.6f}", f"{term.weight:.4f}", f"{term.score:.6f}")
    shown = f'"{term.word}"' if term.term.startswith(EXACT) else term.word
    return (one_line(shown), f"{term.frequency:g}", *numbers)
