"""From judged searches to a calibration, its figures and tables; see `answerable.py`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from calibrating import Fit, Floats, auroc, brier, calibration_error, fit, reliability

from twofold.ranking.answerability import Calibration, Coefficient, Measured, Signals, value_of

COVERAGE = ("coverage_first", "coverage_three")
SIGNALS: Mapping[str, Sequence[str]] = {
    "hybrid": (*COVERAGE, "vector_top", "vector_rise", "bm25_rise", "agreement"),
    "bm25": (*COVERAGE, "bm25_rise"),
    "vector": (*COVERAGE, "vector_top", "vector_rise"),
}
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
REFUSED_FALSELY = 0.08  # aimed at on the fitting half, so that the measuring half has room below a tenth
DRAWN_BINS = 10
WHOLE = ""  # no collection is left out


class Way(NamedTuple):
    """How passages were found."""

    mode: str
    embedder: str
    reranker: str


@dataclass(frozen=True, slots=True)
class Judged:
    """One search: of which collection, with what kind of question, for which half, and whether it found something."""

    collection: str
    kind: str
    fits: bool
    signals: Signals | None
    answerable: bool


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Many searches in columns: probabilities of the fit and of those that left the search's collection out."""

    collections: np.ndarray
    kinds: np.ndarray
    truth: Floats
    fits: np.ndarray
    said: Floats
    unseen: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A way's calibration, all that it said, what it reached by group, and the fits by the collection left out."""

    way: Way
    calibration: Calibration
    answers: Answers
    groups: Sequence[Mapping[str, object]]
    fits: Mapping[str, Fit]


def judge(way: Way, cases: Sequence[Judged], first: Result | None = None) -> Result:
    """Fit on one half; measure on the other half, and on each collection with a fit that left it out.

    `first` is the result without a reranker. Where it is given, its sum counts as one signal beside the reranker's, so
    that the few questions that were reranked have to settle three numbers and not eight.
    """
    names = SIGNALS[way.mode] if first is None else (*SIGNALS[way.mode], "relevance")
    found = np.array([one.signals is not None for one in cases])
    values = np.array(
        [[0.0 if one.signals is None else value_of(one.signals, name) for name in names] for one in cases]
    )
    truth = np.array([float(one.answerable) for one in cases])
    collections, kinds = np.array([one.collection for one in cases]), np.array([one.kind for one in cases])
    halves = np.array([one.fits for one in cases])
    fitting, measuring = halves & found, ~halves
    fits, unseen = {}, np.zeros(len(cases))
    for name in (WHOLE, *dict.fromkeys(collections)):
        some = fitting & (collections != name)
        fits[name] = _fitted(values[some], truth[some], None if first is None else first.fits[name])
        unseen[collections == name] = fits[name].probabilities(values[collections == name])
    said = fits[WHOLE].probabilities(values) * found
    answers = Answers(collections, kinds, truth, halves, said, unseen * found)
    terms = [one.signals.terms for one in cases if one.fits and one.signals is not None]
    counted = Coefficient("terms", 0.0, float(min(terms)), float(max(terms)))
    calibration = Calibration(
        *way,
        intercept=round(fits[WHOLE].intercept, 4),
        coefficients=(
            *_coefficients(names, fits[WHOLE]),
            counted if first is None else first.calibration.coefficients[-1],
        ),
        answerable=round(float(truth[fitting].mean()), 3),
        held_out=measured(answers.said[measuring], truth[measuring]),
        unseen=measured(answers.unseen[measuring], truth[measuring]),
    )
    return Result(way, calibration, answers, _groups(answers), fits)


def _fitted(values: Floats, truth: Floats, first: Fit | None) -> Fit:
    low, high = values.min(axis=0), values.max(axis=0)
    if first is None:
        return fit(values, truth, low, high)
    before = np.clip(values[:, :-1], first.low, first.high) @ first.weights + first.intercept
    columns = np.column_stack((before, values[:, -1]))
    made = fit(columns, truth, columns.min(axis=0), columns.max(axis=0))
    share, rerank_with_fallback = made.weights
    return Fit(
        float(made.intercept + share * first.intercept),
        np.append(share * first.weights, rerank_with_fallback),
        np.append(first.low, low[-1]),
        np.append(first.high, high[-1]),
    )


def _coefficients(names: Sequence[str], made: Fit) -> tuple[Coefficient, ...]:
    """Give those that count; the ends of where they were fitted rounded outwards."""
    rows = zip(names, made.weights.tolist(), made.low.tolist(), made.high.tolist(), strict=True)
    return tuple(
        Coefficient(name, round(weight, 4), float(np.floor(low * 1e3) / 1e3), float(np.ceil(high * 1e3) / 1e3))
        for name, weight, low, high in rows
        if round(weight, 4) > 0.0
    )


def measured(said: Floats, truth: Floats) -> Measured:
    """Judge probabilities."""
    figures = calibration_error(said, truth), auroc(said, truth), brier(said, truth)
    return Measured(len(truth), *(round(one, 4) for one in figures))


def _groups(answers: Answers) -> Sequence[Mapping[str, object]]:
    """Give the figures by collection, on the measuring half: with the collection in the fit, and without it."""
    rows: list[Mapping[str, object]] = []
    for name in dict.fromkeys(answers.collections):
        held = (answers.collections == name) & ~answers.fits
        row: dict[str, object] = {"collection": str(name), "questions": int(held.sum())}
        for label, said in (("held out", answers.said), ("unseen", answers.unseen)):
            figures = measured(said[held], answers.truth[held])
            row |= {f"{label} ece": figures.ece, f"{label} auroc": figures.auroc}
            for kind in ("own", "elsewhere", "taken out"):
                some = held & (answers.kinds == kind)
                row[f"{label} mean of {kind}"] = round(float(said[some].mean()), 3) if some.any() else None
        row["share of own"] = round(float(answers.truth[held & (answers.kinds == "own")].mean()), 3)
        rows.append(row)
    return rows


def draw(results: Sequence[Result]) -> None:
    """Print all tables in Markdown."""
    print("| mode | reranker | questions | measured | ECE | AUROC | Brier |\n|---|---|---|---|---|---|---|")
    for one in results:
        for label, said, held in _measurements(one.answers):
            figures = measured(said[held], one.answers.truth[held])
            cells = f"{figures.ece:.3f} | {figures.auroc:.3f} | {figures.brier:.3f}"
            print(f"| {one.way.mode} | {one.way.reranker or 'none'} | {figures.questions} | {label} | {cells} |")
    for one in results:
        print(f"\n### {one.way.mode}, {one.way.reranker or 'no reranker'}\n")
        for weight in one.calibration.coefficients:
            print(f"{weight.signal} {weight.weight} [{weight.low}, {weight.high}]")
        print(f"intercept {one.calibration.intercept}, answerable {one.calibration.answerable}")
        _draw_groups(one.groups)
        _draw_reliability(one.answers)
        _draw_refusals(one.answers)


def _measurements(answers: Answers) -> Sequence[tuple[str, Floats, np.ndarray]]:
    taken_out = answers.kinds == "taken out"
    return [
        ("fitting half", answers.said, answers.fits),
        ("held out", answers.said, ~answers.fits),
        ("held out, none taken out", answers.said, ~answers.fits & ~taken_out),
        ("held out, own questions alone", answers.said, ~answers.fits & (answers.kinds == "own")),
        ("unseen collection", answers.unseen, ~answers.fits),
        ("unseen collection, none taken out", answers.unseen, ~answers.fits & ~taken_out),
    ]


def _draw_groups(groups: Sequence[Mapping[str, object]]) -> None:
    names = list(groups[0])
    print("\n| " + " | ".join(names) + " |\n|" + "---|" * len(names))
    for row in groups:
        print("| " + " | ".join("-" if value is None else str(value) for value in row.values()) + " |")


def _draw_reliability(answers: Answers) -> None:
    held = ~answers.fits
    print("\n```text")
    for row in reliability(answers.said[held], answers.truth[held], DRAWN_BINS):
        bar = "#" * round(row.was * 40)
        print(f"{row.low:.1f}-{row.high:.1f}  said {row.said:.2f}  was {row.was:.2f}  {bar:<40}  {row.questions}")
    print("```")


def _draw_refusals(answers: Answers) -> None:
    fitted = answers.said[answers.fits & (answers.truth > 0)]
    chosen = float(np.quantile(fitted, REFUSED_FALSELY))
    print("\n| refused below | split | found | elsewhere | taken out | own, not found |")
    print("|---|---|---|---|---|---|")
    for threshold in (*THRESHOLDS, chosen):
        for label, said in (("held out", answers.said), ("unseen", answers.unseen)):
            refused = ~answers.fits & (said < threshold)
            true = answers.truth > 0
            masks = [true] + [~true & (answers.kinds == kind) for kind in ("elsewhere", "taken out", "own")]
            shares = [(refused & mask).sum() / max(1, (mask & ~answers.fits).sum()) for mask in masks]
            cells = " | ".join(f"{share:.1%}" for share in shares)
            print(f"| {threshold:.3f} | {label} | {cells} |")
