"""How likely an extractive answer is correct: fits `p_correct`, and holds it against questions it has not seen.

    python benchmarks/certainty.py --memory DIR                      all collections, and the fit
    python benchmarks/certainty.py --memory DIR --own 36 --rest 12   so many own questions of each, and so many others
    python benchmarks/certainty.py --memory DIR --rows FILE          and keep what is known of answers, as JSON lines
    python benchmarks/certainty.py --known FILE                      fit by such lines again, which takes seconds

Of each collection own questions are asked, the same with their relevant documents left out (of every second one), and
questions of other collections. An answer is correct where what it cites holds the gold answer (XQuAD), overlaps a gold
span (chunking-eval), or is of a relevant document (the others). Half of the questions fit, the other half measures,
forty times; and each collection is left out once. In brackets the 95 % interval: of draws, and of resampled questions.
At last how many questions are refused by both chances (`twofold.answer.pipeline`) at each threshold.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path

import numpy as np
from answers import SCORES, Asked, Gold, filled, foreign_questions, own_questions
from material import MODEL
from numpy.typing import NDArray
from remembered import MEMORY, remembering
from reread import RememberingReranker

from twofold import Index
from twofold.answer.certainty import HIGHEST, LOWEST, MOST_RISE, READER
from twofold.answer.types import Answer
from twofold.domain.ports import Reranker
from twofold.models.rerankers import factory

COLLECTIONS = ("xquad-en", "scifact", "multihop-hotpotqa", "chunking-eval", "cranfield")
NEVER_REFUSED = {"answer.min_answerability": 0.0}
RIDGE, STEPS, DRAWS, BINS = 0.5, 60, 40, 10
RESAMPLED, INTERVAL = 500, (0.025, 0.975)
THRESHOLDS = (0.12, 0.15, 0.18, 0.21, 0.24, 0.27)
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One answer: of which collection and kind of question, its evidence, what else is known, and if it is correct."""

    collection: str
    kind: str
    read: float
    rise: float
    correct: bool
    p_answerable: float
    rank: int
    sentences: int
    words: int
    short: bool


def correct(name: str, answer: Answer, gold: Gold) -> bool:
    """Return whether an answer cites what answers."""
    if name == "xquad-en":
        return SCORES[name](answer, gold)["answer in the cited extracts"] > 0
    if name == "chunking-eval":
        return SCORES[name](answer, gold)["any overlap"] > 0
    return bool({one.source for one in answer.citations} & set(gold["relevant"]))


def rows_of(name: str, index: Index, own: Sequence[Asked], rest: int) -> Iterator[Row]:
    """Ask and yield what became of each question."""

    def row(kind: str, answer: Answer, *, right: bool) -> Row:
        if answer.evidence is None:
            raise SystemExit(f"nothing read the answer: run `twofold models pull {READER}` first")
        rank = answer.citations[0].number if answer.citations else 0
        shown, words, sure = len(answer.sentences), len(answer.question.split()), answer.p_answerable or 0.0
        return Row(
            name, kind, answer.evidence.read, answer.evidence.rise, right, sure, rank, shown, words, bool(answer.short)
        )

    for one in own:
        answer = index.ask(one.text, settings=NEVER_REFUSED)
        yield row("own", answer, right=correct(name, answer, one.gold or {}))
    for one in [] if name == "chunking-eval" else own[::2]:
        without = " and ".join(f'source != "{document}"' for document in (one.gold or {})["relevant"][:30])
        yield row("taken out", index.ask(one.text, filter=without, settings=NEVER_REFUSED), right=False)
    for one in foreign_questions(name, rest):
        yield row("elsewhere", index.ask(one.text, settings=NEVER_REFUSED), right=False)


def signals(rows: Sequence[Row]) -> Numbers:
    """Return what each row's evidence counts as, and a column of ones, (rows, 3)."""
    read = np.clip([one.read for one in rows], LOWEST, HIGHEST)
    return np.column_stack([np.ones(len(rows)), read, np.clip([one.rise for one in rows], 0.0, MOST_RISE)])


def fit(rows: Sequence[Row]) -> Numbers:
    """Fit by Newton's method, with a small ridge."""
    values, right = signals(rows), np.array([float(one.correct) for one in rows])
    found, ridge = np.zeros(values.shape[1]), np.diag([0.0, RIDGE, RIDGE])
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-values @ found))
        curve = (values.T * (chance * (1.0 - chance))) @ values + ridge
        found = found + np.linalg.solve(curve, values.T @ (right - chance) - ridge @ found)
    return found


def chances(rows: Sequence[Row], found: Numbers) -> Numbers:
    """Return the chance that a fit gives each row."""
    made: Numbers = 1.0 / (1.0 + np.exp(-signals(rows) @ found))
    return made


def held(rows: Sequence[Row], chance: Numbers) -> tuple[float, float]:
    """Return ECE and AUROC of chances."""
    right = np.array([one.correct for one in rows])
    above = chance[right][:, None] - chance[~right][None, :]
    return ece(chance, right), float(np.mean((above > 0) + 0.5 * (above == 0))) if above.size else float("nan")


def ece(chance: Numbers, right: NDArray[np.bool_]) -> float:
    """Return by how much chances are off."""
    places = np.minimum((chance * BINS).astype(int), BINS - 1)
    apart = [abs(chance[places == at].sum() - right[places == at].sum()) for at in range(BINS)]
    return float(sum(apart)) / len(chance)


def on_halves(rows: Sequence[Row]) -> None:
    """Print how a fit on one half does on the other, and what chances that are true would show on as many."""
    drawn = np.random.default_rng(1)
    halves, true = [], []
    for _ in range(DRAWS):
        first = drawn.random(len(rows)) < 0.5
        fitting = fit([one for one, is_first in zip(rows, first, strict=True) if is_first])
        others = [one for one, is_first in zip(rows, first, strict=True) if not is_first]
        chance = chances(others, fitting)
        halves.append(held(others, chance))
        true.append(ece(chance, drawn.random(len(chance)) < chance))
    low, high = np.quantile([one for one, _ in halves], INTERVAL)
    mean = np.mean(halves, axis=0)
    print(f"held-out halves: ECE {mean[0]:.3f} [{low:.3f}, {high:.3f}], AUROC {mean[1]:.3f}; true: {np.mean(true):.3f}")


def left_out(rows: Sequence[Row]) -> Numbers:
    """Print how a fit without a collection does on it; return the chance of each row by the fit without its own."""
    of, right = np.array([one.collection for one in rows]), np.array([one.correct for one in rows])
    made = np.zeros(len(rows))
    for name in dict.fromkeys(of.tolist()):
        its = [one for one in rows if one.collection == name]
        made[of == name] = chances(its, fit([one for one in rows if one.collection != name]))
        print("left out", name, np.round(held(its, made[of == name]), 3).tolist())
    drawn = np.random.default_rng(2)
    some = [drawn.integers(0, len(rows), len(rows)) for _ in range(RESAMPLED)]
    low, high = np.quantile([ece(made[each], right[each]) for each in some], INTERVAL)
    print(f"left out, over all: ECE {ece(made, right):.3f} [{low:.3f}, {high:.3f}]")
    return made


def refusals(rows: Sequence[Row], chance: Numbers) -> None:
    """Print the share refused of each kind of question where the mean of both chances is below a threshold."""
    both = np.sqrt(chance * np.array([one.p_answerable for one in rows]))
    print("refused at", *THRESHOLDS)
    for group in sorted({(one.kind, one.collection) for one in rows}):
        its = np.array([(one.kind, one.collection) == group for one in rows])
        print(*group, int(its.sum()), *(f"{np.mean(both[its] < least):.3f}" for least in THRESHOLDS))


def asked_of(memory: Path, most: int, rest: int) -> list[Row]:
    """Ask the questions of every collection."""
    opened = factory.open_reranker

    def remembered(spec: str, **how: object) -> Reranker | None:
        made = partial(opened, **how)(spec)  # type: ignore[arg-type]  # as it was called
        return RememberingReranker(made, memory) if made is not None and spec == READER else made

    factory.open_reranker = remembered  # type: ignore[assignment]  # every pair is read once
    rows: list[Row] = []
    with ExitStack() as stack:
        embedder = stack.enter_context(remembering(MODEL, memory))
        for name in COLLECTIONS:
            with filled(name, embedder) as index:
                own = own_questions(name)
                rows += rows_of(name, index, own[:: max(1, len(own) // most)][:most], rest)
            print(name, len(rows), flush=True)
    return rows


def rows_in(file: Path) -> list[Row]:
    """Return rows that were kept."""
    known = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    names = [one.name for one in fields(Row)]
    return [Row(**{name: one[name] for name in names}) for one in known]


def main() -> None:
    """Ask, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors and what was read in this folder")
    parser.add_argument("--own", type=int, default=60)
    parser.add_argument("--rest", type=int, default=20)
    parser.add_argument("--known", type=Path, help="ask nothing: fit by the rows in this file")
    parser.add_argument("--rows", type=Path, help="keep the rows in this file")
    given = parser.parse_args()
    rows = rows_in(given.known) if given.known else asked_of(given.memory, given.own, given.rest)
    if given.rows:
        given.rows.write_text("".join(json.dumps(asdict(one)) + "\n" for one in rows), encoding="utf-8")
    on_halves(rows)
    refusals(rows, left_out(rows))
    print(json.dumps({"intercept, read, rise": np.round(fit(rows), 3).tolist()}))


if __name__ == "__main__":
    main()
