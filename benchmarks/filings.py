"""How well the pages of annual reports are found, cited and not refused: PDF, tables, long questions.

    python benchmarks/filings.py --memory DIR            measure, and print
    python benchmarks/filings.py --memory DIR --show     and what became of each question
    python benchmarks/filings.py --memory DIR --finding  only what is found, by other settings too

Of the questions of FinanceBench that have a report here: whether a page with the evidence is among the ten best
passages and the ten best pages by BM25, by vectors and by both, with nDCG@10 by pages; the same where only the report
with the evidence is searched, so that what is lost by the wrong report can be told from what is lost within it. Then
whether such a page is cited and, where not, whether it was among the sources, and how many of the questions, and of
questions of other collections, are refused. What is below the vectors is given with 95 % of the resampled means.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from answers import Asked, filled, foreign_questions, own_questions
from material import MODEL
from remembered import MEMORY, remembering
from reporting import keep, machine

from twofold import Index
from twofold.answer.types import Answer
from twofold.domain.filters import MATCH_ALL, Condition, Operator
from twofold.evaluation.metrics import ndcg
from twofold.evaluation.significance import bootstrap_interval

MODES = ("bm25", "vector", "hybrid")
DEPTH = 10
REACH = 100  # passages, of which the pages are taken
FOREIGN = 100
WAYS: Mapping[str, Mapping[str, object]] = {
    "without feedback": {"prf": {"top_k": 0}},
    "weight .75": {"fusion.vector_weight": 0.75},
    "rrf": {"fusion.method": "rrf"},
}
Page = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class Found:
    """The ranks of the first passage and of the first page with the evidence, 0 for none, and nDCG@10 by pages."""

    passage: int
    page: int
    ndcg: float

    def __str__(self) -> str:
        """Return the ranks, for a line of `--show`."""
        return f"{self.passage}/{self.page}"


def evidence(gold: Mapping[str, Any]) -> set[Page]:
    """Return the pages that hold the evidence; those of the questions count from 0."""
    return {(f"{gold['doc_name']}.pdf", one["evidence_page_num"] + 1) for one in gold["evidence"]}


def name_of(source: str) -> str:
    """Return a report's file name."""
    return source.rpartition("/")[2]


def found_by(
    index: Index, asked: Asked, mode: str, settings: Mapping[str, object] | None = None, report: str = ""
) -> Found:
    """Return where the evidence of a question stands in one way of searching, or among the pages of one report."""
    wanted = evidence(asked.gold or {})
    within = Condition("source", Operator.EQ, report) if report else MATCH_ALL
    hits = index.search(asked.text, k=REACH, mode=mode, settings=dict(settings or {}), filter=within).hits
    passages: list[Page] = [(name_of(hit.source), hit.page) for hit in hits]
    pages = list(dict.fromkeys(passages))
    first = [next((at for at, one in enumerate(ranked, 1) if one in wanted), 0) for ranked in (passages, pages)]
    return Found(first[0], first[1], ndcg([str(one) for one in pages], dict.fromkeys(map(str, wanted), 1), DEPTH))


def summary(found: Sequence[Found], beside: Sequence[Found] = ()) -> Mapping[str, object]:
    """Return the shares found among the ten best and the mean nDCG in points, and how far it is from `beside`."""
    ranks: Mapping[str, Callable[[Found], int]] = {"passages": lambda one: one.passage, "pages": lambda one: one.page}
    made: dict[str, object] = {
        name: round(float(np.mean([0 < rank(one) <= DEPTH for one in found])), 3) for name, rank in ranks.items()
    }
    made["nDCG@10 by pages"] = round(100.0 * float(np.mean([one.ndcg for one in found])), 1)
    if beside:
        apart = bootstrap_interval([100.0 * (one.ndcg - other.ndcg) for one, other in zip(found, beside, strict=True)])
        made["less vectors"] = [round(apart.mean, 1), round(apart.low, 1), round(apart.high, 1)]
    return made


def finding(index: Index, own: Sequence[Asked], *, show: bool) -> Mapping[str, object]:
    """Return what each way of searching finds, in all reports and in the one with the evidence."""
    reports = {name_of(one.source): one.source for one in index.documents()}
    held = [reports[f"{(asked.gold or {})['doc_name']}.pdf"] for asked in own]
    ways = {mode: [found_by(index, asked, mode) for asked in own] for mode in MODES}
    for mode in MODES:
        ways[f"{mode}, report given"] = [
            found_by(index, asked, mode, None, report) for asked, report in zip(own, held, strict=True)
        ]
    for name, settings in WAYS.items():
        ways[f"hybrid, {name}"] = [found_by(index, asked, "hybrid", settings) for asked in own]
    if show:
        for at, asked in enumerate(own):
            print(asked.id, {name: str(found[at]) for name, found in ways.items()}, asked.text[:100], flush=True)
    return {name: summary(found, () if name == "vector" else ways["vector"]) for name, found in ways.items()}


def outcome(answer: Answer, wanted: set[Page]) -> str:
    """Return what became of a question: which of the steps up to the citation lost the page."""
    if answer.refused:
        return "refused"
    if {(name_of(one.source), one.page) for one in answer.citations} & wanted:
        return "cited"
    sources = {(one.filename, part.page) for one in answer.sources for part in one.parts}
    return "among the sources" if sources & wanted else "not among the sources"


def answering(index: Index, own: Sequence[Asked], *, show: bool) -> Mapping[str, float]:
    """Return the share of each outcome, and how many questions of other collections are refused."""
    outcomes = []
    for asked in own:
        answer = index.ask(asked.text)
        outcomes.append(outcome(answer, evidence(asked.gold or {})))
        if show:
            print(asked.id, outcomes[-1], f"p={answer.p_answerable or 0.0:.2f}", sorted(evidence(asked.gold or {})))
            print("  ", asked.text[:150], "\n  ", answer.text[:600].replace("\n", "\n   "), flush=True)
    foreign = [index.ask(one.text).refused for one in foreign_questions("financebench", FOREIGN)]
    kinds = ("cited", "among the sources", "not among the sources", "refused")
    shares = {kind: round(outcomes.count(kind) / len(outcomes), 3) for kind in kinds}
    return {**shares, "elsewhere refused": float(np.mean(foreign))}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors in this folder")
    parser.add_argument("--show", action="store_true", help="print every question")
    parser.add_argument("--finding", action="store_true", help="leave answers out")
    parser.add_argument("--keep", action="store_true", help="keep the figures in this commit's file")
    given = parser.parse_args()
    with remembering(MODEL, given.memory) as embedder, filled("financebench", embedder) as index:
        present = {name_of(one.source) for one in index.documents()}
        own = [one for one in own_questions("financebench") if f"{(one.gold or {})['doc_name']}.pdf" in present]
        result: dict[str, object] = {"n": len(own), "passages": index.info().chunks}
        result["found"] = finding(index, own, show=given.show)
        if not given.finding:
            result |= answering(index, own, show=given.show)
    print(json.dumps(result, indent=1))
    if given.keep:
        print(keep("filings", {"machine": machine(), **result}))


if __name__ == "__main__":
    main()
