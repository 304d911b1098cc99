"""Fits the weights by which sentences are chosen for extractive answers, whole collections left out.

    python benchmarks/sentences.py --memory DIR            fit, and print the weights and what they do elsewhere

A sentence of XQuAD is right where it holds a gold answer and is of the question's paragraph; one of chunking-eval where
half of it is gold. Fitted on both, and, to measure, on each alone and measured on the other.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from answers import filled, own_questions, plain
from material import MODEL
from numpy.typing import NDArray
from remembered import MEMORY, remembering

from twofold.answer.engine import reading_of
from twofold.answer.extract import PASSAGES
from twofold.answer.sentence_scores import FEATURES, scored
from twofold.answer.sentences import units_of
from twofold.answer.sources import sources_of, weights_of
from twofold.answer.telling import telling
from twofold.domain.ports import Embedder
from twofold.search.engine import SearchOptions

COLLECTIONS = {"xquad-en": 200, "chunking-eval": 100}
MEANINGS = ("meaning", "meaning in place")
RIDGE = 1.0
STEPS = 60
Asked = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Features of a question's sentences, (sentences, features), and which of these are right."""


def asked(name: str, most: int, embedder: Embedder) -> list[Asked]:
    """Return the sentences of a collection's questions that have a right one among them."""
    made: list[Asked] = []
    with filled(name, embedder) as index:
        own = own_questions(name)
        parts, plan = index.searcher.parts_for(SearchOptions())
        for one in own[:: max(1, len(own) // most)][:most]:
            found, gold = index.search(one.text), one.gold or {}
            sources = sources_of(found.hits)[:PASSAGES]
            reading = reading_of(parts, plan)
            units = telling(units_of(sources, reading), sources)
            names = {source.number: source.source for source in sources}
            if name == "xquad-en":
                wanted = [plain(str(each)) for each in gold["answers"]]
                right = [
                    names[unit.source] in gold["relevant"] and any(each in plain(unit.text) for each in wanted)
                    for unit in units
                ]
            else:
                spans = [(each["start_index"], each["end_index"]) for each in gold["references"]]
                right = [
                    names[unit.source] == gold["corpus_id"]
                    and sum(max(0, min(unit.end, end) - max(unit.start, start)) for start, end in spans)
                    >= (unit.end - unit.start) / 2
                    for unit in units
                ]
            weights = weights_of(found.hits, parts.analyzer.query(one.text))
            if any(right):
                features = scored(one.text, units, sources, weights, reading).features
                made.append((features, np.array(right, dtype=np.float64)))
    return made


def fit(questions: Sequence[Asked], columns: NDArray[np.intp]) -> tuple[float, NDArray[np.float64]]:
    """Fit a logistic model by Newton's method, every question weighing the same, with a small ridge."""
    rows = np.vstack([features[:, columns] for features, _ in questions])
    rows = np.column_stack([np.ones(len(rows)), rows])
    right = np.concatenate([each for _, each in questions])
    weight = np.concatenate([np.full(len(each), 10.0 / len(each)) for _, each in questions])
    ridge = np.diag([0.0, *np.full(rows.shape[1] - 1, RIDGE)])
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-rows @ found))
        slope = rows.T @ (weight * (right - chance)) - ridge @ found
        curve = (rows * (weight * chance * (1.0 - chance))[:, None]).T @ rows + ridge
        found = found + np.linalg.solve(curve, slope)
    return float(found[0]), found[1:]


def first_right(
    questions: Sequence[Asked], columns: NDArray[np.intp], made: tuple[float, NDArray[np.float64]]
) -> float:
    """Return how often the likeliest sentence is a right one."""
    return float(np.mean([right[int((features[:, columns] @ made[1]).argmax())] for features, right in questions]))


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors in this folder")
    given = parser.parse_args()
    with remembering(MODEL, given.memory) as embedder:
        questions = {name: asked(name, most, embedder) for name, most in COLLECTIONS.items()}
    for label, left_out in (("with meaning", ()), ("by words", MEANINGS)):
        columns = np.array([at for at, name in enumerate(FEATURES) if name not in left_out])
        for name, own in questions.items():
            others = [one for other, each in questions.items() if other != name for one in each]
            print(
                label,
                "on",
                name,
                "fitted elsewhere",
                round(first_right(own, columns, fit(others, columns)), 3),
            )
        every = [one for each in questions.values() for one in each]
        for name, each in {**questions, "both": every}.items():
            bias, weights = fit(each, columns)
            print(label, "fitted on", name, "bias", round(bias, 2))
            for at, weight in zip(columns, weights, strict=True):
                print(f"    {weight:6.2f},  # {FEATURES[at]}")


if __name__ == "__main__":
    main()
