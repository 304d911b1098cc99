"""How well the pages of annual reports are found, cited and not refused: PDF, tables, long questions.

    python benchmarks/filings.py --memory DIR            measure, and print
    python benchmarks/filings.py --memory DIR --show     and what became of each question

Of the questions of FinanceBench that have a report here: whether a page with the evidence is among the pages of the
ten best passages by BM25, by vectors and by both, whether it is cited, and how many of the questions, and of as many
questions of other collections, are refused.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from answers import filled, foreign_questions, own_questions
from material import MODEL
from remembered import MEMORY, remembering
from reporting import keep, machine

from twofold import Index

MODES = ("bm25", "vector", "hybrid")
DEPTH = 10
FOREIGN = 100


def evidence(gold: Mapping[str, Any]) -> set[tuple[str, int]]:
    """Return the pages that hold the evidence; those of the questions count from 0."""
    return {(f"{gold['doc_name']}.pdf", one["evidence_page_num"] + 1) for one in gold["evidence"]}


def ranks(index: Index, question: str, wanted: set[tuple[str, int]]) -> Mapping[str, int]:
    """Return the rank of the first passage on a page with the evidence, 0 where none is among the first twenty."""
    found = {}
    for mode in MODES:
        hits = index.search(question, k=2 * DEPTH, mode=mode).hits
        places = [at for at, hit in enumerate(hits, 1) if (hit.source.rpartition("/")[2], hit.page) in wanted]
        found[mode] = min(places, default=0)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors in this folder")
    parser.add_argument("--show", action="store_true", help="print every question")
    parser.add_argument("--keep", action="store_true", help="keep the figures in this commit's file")
    given = parser.parse_args()
    own = own_questions("financebench")
    rows: list[Mapping[str, float]] = []
    with remembering(MODEL, given.memory) as embedder, filled("financebench", embedder) as index:
        present = {Path(one.source).name for one in index.documents()}
        for asked in own:
            wanted = evidence(asked.gold or {})
            if not {name for name, _ in wanted} & present:
                continue
            places = ranks(index, asked.text, wanted)
            answer = index.ask(asked.text)
            cited = {(one.source.rpartition("/")[2], one.page) for one in answer.citations}
            rows.append(
                {
                    **{f"{mode}@10": float(0 < place <= DEPTH) for mode, place in places.items()},
                    "cited": float(bool(cited & wanted)),
                    "refused": float(answer.refused),
                }
            )
            if given.show:
                print(asked.id, dict(places), f"p={answer.p_answerable:.2f}", sorted(wanted), rows[-1], flush=True)
                print("  ", asked.text[:150], "\n  ", answer.text[:600].replace("\n", "\n   "), flush=True)
        foreign = [index.ask(one.text).refused for one in foreign_questions("financebench", FOREIGN)]
        passages = index.info().chunks
    figures = {name: round(float(np.mean([one[name] for one in rows])), 3) for name in rows[0]}
    result = {"n": len(rows), "passages": passages, **figures, "elsewhere refused": float(np.mean(foreign))}
    print(json.dumps(result, indent=1))
    if given.keep:
        print(keep("filings", {"machine": machine(), **result}))


if __name__ == "__main__":
    main()
