"""Several ways to search, measured by the same judgements: the caller brings a function that searches, this counts."""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.evaluation.dataset import JudgedCollection, Question
from twofold.evaluation.report import STANDARD, Comparison, Row, Scored, compare_all, evaluate_run, summarize

Find = Callable[[str, int], Sequence[str]]
"""Gives the documents that a question finds, best first, as the judgements name them, up to a number."""
Grades = Mapping[tuple[str, str], int]
"""A grade by question and document."""


@dataclass(frozen=True, slots=True)
class QuestionValues:
    """A question, and the value of the first metric that each way has for it, in the order of the rows."""

    text: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Variants:
    """Averages over `queries` questions, a row for each way, and each way but the last against the last.

    `left_out` questions have no relevant judgement, or came after as many as are measured. `per_query` says how each
    question went.
    """

    queries: int
    left_out: int
    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]
    per_query: tuple[QuestionValues, ...]


def judged_questions(grades: Grades, most: int) -> JudgedCollection:
    """Return up to `most` questions with a relevant document.

    Raises InvalidInputError when nothing relevant was judged.
    """
    by_question: dict[str, dict[str, int]] = {}
    for (question, document), grade in grades.items():
        by_question.setdefault(question, {})[document] = grade
    relevant = {text: given for text, given in by_question.items() if max(given.values()) > 0}
    kept = list(relevant.items())[:most]
    if not kept:
        raise InvalidInputError("Nothing relevant was judged yet.", "Judge some documents with 1 or more.")
    questions = tuple(Question(f"q{number}", text) for number, (text, _) in enumerate(kept, start=1))
    return JudgedCollection(
        name="judgements",
        split="",
        documents=(),
        queries=questions,
        grades={one.id: given for one, (_, given) in zip(questions, kept, strict=True)},
        left_out=len(by_question) - len(kept),
    )


def measure_variants(judged: JudgedCollection, ways: Mapping[str, Find]) -> Variants:
    """Ask every question in every way and count. Raises what the ways raise."""
    scored: list[Scored] = []
    rows: list[Row] = []
    depth = max(metric.k for metric in STANDARD)
    for name, find in ways.items():
        started = perf_counter()
        run = {one.id: find(one.text, depth) for one in judged.queries}
        milliseconds = 1000.0 * (perf_counter() - started) / len(judged.queries)
        scored.append(Scored(name, evaluate_run(run, judged, STANDARD)))
        rows.append(summarize(name, scored[-1].values, milliseconds))
    compared = compare_all(scored[:-1], scored[-1], judged.queries) if len(scored) > 1 else ()
    each = zip(*(one.values[0].values for one in scored), strict=True)
    per_query = tuple(QuestionValues(one.text, values) for one, values in zip(judged.queries, each, strict=True))
    return Variants(len(judged.queries), judged.left_out, tuple(rows), tuple(compared), per_query)
