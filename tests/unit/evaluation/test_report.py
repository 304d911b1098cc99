"""From runs to the table of a report."""

import pytest

from twofold.domain.errors import InvalidInputError
from twofold.evaluation.dataset import CorpusDocument, JudgedCollection, Question
from twofold.evaluation.metrics import recall
from twofold.evaluation.report import Metric, documents_from_passages, evaluate_run, metric_named, summarize
from twofold.evaluation.significance import Interval

JUDGED = JudgedCollection(
    name="small",
    split="test",
    documents=tuple(CorpusDocument(name, "", name) for name in ("a", "b", "c")),
    queries=(Question("q1", "one"), Question("q2", "two")),
    grades={"q1": {"a": 1}, "q2": {"b": 2, "c": 1}},
    left_out=1,
)


def test_a_perfect_run_reaches_one_where_the_metric_allows_it() -> None:
    scored = evaluate_run({"q1": ["a"], "q2": ["b", "c"]}, JUDGED)
    assert {one.metric: one.values for one in scored} == {
        "nDCG@10": (1.0, 1.0),
        "MRR@10": (1.0, 1.0),
        "recall@100": (1.0, 1.0),
        "hit rate@5": (1.0, 1.0),
        "P@5": (0.2, 0.4),
    }


def test_a_query_the_run_lacks_scores_nothing_and_an_unknown_one_is_ignored() -> None:
    (found,) = evaluate_run({"q2": ["b"], "other": ["a"]}, JUDGED, [Metric("recall@1", recall, 1)])
    assert found.values == (0.0, 0.5)


def test_a_row_holds_means_with_intervals() -> None:
    row = summarize("hybrid", evaluate_run({"q1": ["a"], "q2": []}, JUDGED, [Metric("recall@1", recall, 1)]), 1.5)
    assert (row.name, row.ms_per_query) == ("hybrid", 1.5)
    assert row.figures[0].interval == Interval(0.5, 0.0, 1.0)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ndcg@10", "nDCG@10"),
        ("NDCG@010", "nDCG@10"),
        (" Mrr @ 3", "MRR@3"),
        ("hit_rate@5", "hit rate@5"),
        ("Success@5", "hit rate@5"),
        ("precision@1", "P@1"),
        ("p@100", "P@100"),
        ("map@7", "MAP@7"),
        ("RECALL@100", "recall@100"),
    ],
)
def test_a_metric_is_known_by_its_name_in_any_case(written: str, name: str) -> None:
    assert metric_named(written).name == name


@pytest.mark.parametrize(
    "written", ["", "ndcg", "ndcg@", "ndcg@0", "ndcg@101", "bleu@4", "ndcg@-1", "ndcg@\u0661", "@5"]
)
def test_a_metric_that_is_none_is_refused(written: str) -> None:
    with pytest.raises(InvalidInputError, match="no metric"):
        metric_named(written)


@pytest.mark.parametrize(
    ("passages", "limit", "documents"),
    [([], None, ()), (["b", "a", "b", "c"], None, ("b", "a", "c")), (["b", "b", "a"], 1, ("b",)), (["a"], 5, ("a",))],
)
def test_a_document_stands_where_its_best_passage_stands(
    passages: list[str], limit: int | None, documents: tuple[str, ...]
) -> None:
    assert documents_from_passages(passages, limit) == documents
