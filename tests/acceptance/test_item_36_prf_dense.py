"""Checklist 36: a question grows by keywords without a model: terms of what meaning found first join its words."""

import pytest

from support.indexes import indexed, sources
from twofold import Index

TEXTS = {
    "near": "quarantine quarantines quarantined zwieback",
    "far": "zwieback is a crisp bread, baked twice, and nothing more",
    "other": "a lighthouse by the harbour",
} | {f"{number}": f"filling number {number} about nothing in particular" for number in range(30)}


@pytest.fixture(scope="module")
def index() -> Index:
    return indexed(TEXTS, {"prf": {"top_k": 0}})


def test_terms_of_the_other_arm_find_what_the_questions_own_words_do_not(index: Index) -> None:
    plain = index.search("quarantine", k=99)
    with_dense_terms = index.search("quarantine", k=99, settings={"prf": {"dense_terms": 5}})
    (stage,) = [stage for stage in with_dense_terms.stages if stage.name == "prf_dense"]
    before, after = (result.hits[sources(result).index("far")] for result in (plain, with_dense_terms))

    assert "zwieback" in stage.notes[0]
    assert with_dense_terms.hits[0].source == "near"
    assert before.trace.bm25 is not None
    assert after.trace.bm25 is not None
    assert before.trace.bm25.raw == 0.0
    assert after.trace.bm25.raw is not None
    assert after.trace.bm25.raw > 0.0
    assert after.score > before.score
    assert list(with_dense_terms.trace.recompute_scores()) == [hit.score for hit in with_dense_terms.hits]


def test_it_is_off_by_default_and_needs_both_arms(index: Index) -> None:
    assert all(stage.name != "prf_dense" for stage in index.search("quarantine").stages)
    for mode in ("bm25", "vector"):
        with_dense_terms = index.search("quarantine", mode=mode, settings={"prf": {"dense_terms": 5}})
        assert with_dense_terms.hits == index.search("quarantine", mode=mode).hits
