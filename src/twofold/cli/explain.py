"""`search --explain`: how each number of a hit came about, so that it can be added up with a pencil."""

from twofold.cli.screen import Screen, columns, one_line
from twofold.domain.types import TermScore
from twofold.lexical.analyze import EXACT
from twofold.pipeline.results import ArmTrace, FoundPassage, RerankSummary, RerankTrace, Step
from twofold.ranking.boost import BoostStep

_INDENT = "      "
SHOWN = {"lexical": "words", "dense": "meaning"}
_TERMS = 12
_NUMBERS = frozenset(range(1, 6))


def draw_explanation(screen: Screen, hit: FoundPassage) -> None:
    """Draw each arm's numbers, whose parts add up to the score, and each term's, which add up to the words' raw one."""
    rows = [("", "rank", "raw", "normalised", "weight", "part")]
    rows += [_arm_cells(SHOWN.get(arm.arm, one_line(arm.arm)), arm) for arm in hit.trace.arms]
    for step in hit.trace.steps:
        rows += _step_rows(step)
    rows.append(("score", "", "", "", "", f"{hit.score:.6f}"))
    if hit.trace.terms:
        rows.append(("", "", "", "", "", ""))
        rows.append(("term", "count", "idf", "saturation", "weight", "BM25"))
        rows += [_term_cells(term) for term in hit.trace.terms[:_TERMS]]
        rest = hit.trace.terms[_TERMS:]
        if rest:
            rows.append((f"{len(rest)} more", "", "", "", "", f"{sum(term.score for term in rest):.6f}"))
        rows.append(("BM25", "", "", "", "", f"{sum(term.score for term in hit.trace.terms):.6f}"))
    for line in columns(rows, right=_NUMBERS):
        screen.line(screen.paint(_INDENT + line, "dim") if line else "")


def _arm_cells(name: str, arm: ArmTrace) -> tuple[str, str, str, str, str, str]:
    rank = "–" if arm.rank is None else str(arm.rank)
    return (name, rank, f"{arm.raw:.6f}", f"{arm.normalised:.6f}", f"{arm.weight:.4f}", f"{arm.part:.6f}")


def _rerank_rows(trace: RerankTrace) -> list[tuple[str, str, str, str, str, str]]:
    """Write the fused score's share and the reranker's; a passage that was not read has no share of the latter."""
    weight = 1.0 - trace.weight
    part = weight * trace.fused_normalised
    fused = (f"{trace.fused:.6f}", f"{trace.fused_normalised:.6f}", f"{weight:.4f}", f"{part:.6f}")
    rows = [("fused", str(trace.rank), *fused)]
    if trace.raw is not None and trace.relevance is not None:
        part = trace.weight * trace.relevance
        rows.append(("rerank", "", f"{trace.raw:.6f}", f"{trace.relevance:.6f}", f"{trace.weight:.4f}", f"{part:.6f}"))
    return rows


def _step_rows(step: Step) -> list[tuple[str, str, str, str, str, str]]:
    """Write what one stage did to the score: `raw` is the score before it, `part` the one after it."""
    detail = step.detail
    if isinstance(detail, RerankTrace):
        return _rerank_rows(detail)
    if isinstance(detail, BoostStep):
        said = ", ".join(one_line(name) for name in (*detail.codes, *detail.rules))
        changed = f"×{detail.multiplier:g} +{detail.bonus:g}"
    else:
        said, changed = "fields", f"×{detail.weights.alpha:g} +{detail.bonus:.4f}"
    return [(f"{step.stage} ({said})", "", f"{step.before:.6f}", "", changed, f"{step.after:.6f}")]


def summary_of(summary: RerankSummary) -> str:
    """Say in one line what reranking did."""
    said = f"rerank: {one_line(summary.model)} ({summary.scale}) read {summary.read} of {summary.candidates} candidates"
    if summary.threshold:
        said += f", dropped {summary.dropped} below relevance {summary.threshold:g}"
    return said


def _term_cells(term: TermScore) -> tuple[str, str, str, str, str, str]:
    scale = term.weight * term.idf
    saturation = term.score / scale if scale else 0.0
    shown = f'"{term.term.removeprefix(EXACT)}"' if term.term.startswith(EXACT) else term.term
    numbers = (f"{term.idf:.6f}", f"{saturation:.6f}", f"{term.weight:.4f}", f"{term.score:.6f}")
    return (one_line(shown), str(term.frequency), *numbers)
