"""From which cosine on a question is on the documents' subject, so that it must not be refused.

    python benchmarks/near.py --memory DIR             seven collections, what is refused by cosine, and the chance

Own questions (at most 100 of each collection), the same with their relevant documents left out, and a hundred of other
collections. A question counts as refused where the logistic regression gives it less than .3 and its best cosine is
below the one of the row. `chance` is the share with a relevant passage among the first five of those that the
regression takes for unlikely and whose cosine reaches .70: it is what `src/twofold/ranking/answerable.json` holds.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from answers import filled, foreign_questions, lines, own_questions
from filings import evidence
from material import MODEL, SHARED
from remembered import MEMORY, remembering

from twofold import Index
from twofold.evaluation.dataset import load
from twofold.query.parse import as_prose
from twofold.ranking.answerability import Calibration, Signals, load_calibrations, p_answerable
from twofold.search import build_result
from twofold.search.result import Hit

COLLECTIONS = ("financebench", "cacm", "scifact", "cranfield", "multihop-hotpotqa", "xquad-en", "chunking-eval")
COSINES = (2.0, 0.76, 0.74, 0.72, 0.70, 0.68)
UNLIKELY, NEAR, MOST, FIRST = 0.3, 0.70, 100, 5
Right = Callable[[Hit], bool]


@dataclass(frozen=True, slots=True)
class Row:
    """One question: of which kind, its chance by the regression, its best cosine, and whether it was found."""

    kind: str
    chance: float
    cosine: float
    found: bool


def own(name: str) -> Iterator[tuple[str, Right, str]]:
    """Yield a collection's questions: what a right passage is, and a filter that leaves the relevant documents out."""
    if name == "financebench":
        for one in own_questions(name):
            pages = evidence(one.gold or {})
            yield one.text, lambda hit, pages=pages: (hit.source.rpartition("/")[2], hit.page) in pages, ""
    elif name == "chunking-eval":
        for row in lines(SHARED / "data" / name / "queries.jsonl")[::5]:
            spans = [(one["start_index"], one["end_index"]) for one in row["references"]]
            yield (
                as_prose(row["text"]),
                lambda hit, s=spans, d=row["corpus_id"]: (
                    hit.source == d and any(a < hit.end and hit.start < b for a, b in s)
                ),
                "",
            )
    else:
        judged = load(SHARED / "data" / name)
        for at, one in enumerate(judged.queries[:: max(1, len(judged.queries) // MOST)][:MOST]):
            right = {document for document, grade in judged.grades[one.id].items() if grade > 0}
            without = " and ".join(f'source != "{document}"' for document in sorted(right)[:30])
            yield as_prose(one.text), lambda hit, right=right: hit.source in right, "" if at % 3 else without


def rows_of(name: str, index: Index, calibration: Calibration) -> Iterator[Row]:
    """Ask and yield what became of each question."""
    noted: list[Signals | None] = []
    signals_of = build_result.signals_of
    build_result.signals_of = lambda *a, **k: noted.append(signals_of(*a, **k)) or noted[-1]

    def asked(kind: str, text: str, right: Right, leave_out: str = "") -> Row:
        found = index.search(text, **({"filter": leave_out} if leave_out else {}))
        signals = noted[-1]
        cosine = signals.vector_top if signals else 0.0
        return Row(kind, p_answerable(signals, calibration), cosine, any(map(right, found.hits[:FIRST])))

    try:
        for text, right, leave_out in own(name):
            yield asked("own", text, right)
            if leave_out:
                yield asked("taken out", text, lambda _: False, leave_out)
        for one in foreign_questions(name, MOST):
            yield asked("elsewhere", one.text, lambda _: False)
    finally:
        build_result.signals_of = signals_of


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors in this folder")
    given = parser.parse_args()
    fitted = next(one for one in load_calibrations() if (one.mode, one.embedder, one.reranker) == ("hybrid", MODEL, ""))
    plain = replace(fitted, near=None)
    near: list[Row] = []
    with remembering(MODEL, given.memory) as embedder:
        for name in COLLECTIONS:
            with filled(name, embedder) as index:
                rows = list(rows_of(name, index, plain))
            near += [one for one in rows if one.chance < UNLIKELY and one.cosine >= NEAR]
            for cosine in COSINES:
                refused = {
                    kind: np.mean([one.chance < UNLIKELY and one.cosine < cosine for one in rows if one.kind == kind])
                    for kind in dict.fromkeys(one.kind for one in rows)
                }
                print(name, cosine, {kind: round(float(share), 3) for kind, share in refused.items()}, flush=True)
    print(len(near), "questions, chance", round(float(np.mean([one.found for one in near])), 3))


if __name__ == "__main__":
    main()
