"""Checklist 36: a question grows by keywords without a model: terms of what meaning found first join its words."""

import pytest

from indexed import indexed, sources
from twofold import Index

TEXTS = {
    "near": "quarantine quarantines quarantined zwieback",
    "far": "zwieback is a crisp bread, baked twice, and nothing more",
    "other": "a lighthouse by the harbour",
} | {f"{number}": f"filling number {number} about nothing in particular" for number in range(30)}


@pytest.fixture(scope="module")
def index() -> Index:
    return indexed(TEXTS, {"likeness.passages": 0})


def test_terms_of_the_other_arm_find_what_the_questions_own_words_do_not(index: Index) -> None:
    plain = index.search("quarantine", k=99)
    fed = index.search("quarantine", k=99, settings={"rewrite.feedback": 5})
    (stage,) = [stage for stage in fed.stages if stage.name == "feedback"]
    before, after = (result.hits[sources(result).index("far")] for result in (plain, fed))

    assert "zwieback" in stage.decisions[0]
    assert fed.hits[0].source == "near"
    assert before.trace.lexical is not None
    assert after.trace.lexical is not None
    assert before.trace.lexical.raw == 0.0 < after.trace.lexical.raw
    assert after.score > before.score
    assert list(fed.trace.evaluate()) == [hit.score for hit in fed.hits]


def test_it_is_off_by_default_and_needs_both_arms(index: Index) -> None:
    assert all(stage.name != "feedback" for stage in index.search("quarantine").stages)
    for mode in ("bm25", "semantic"):
        fed = index.search("quarantine", mode=mode, settings={"rewrite.feedback": 5})
        assert fed.hits == index.search("quarantine", mode=mode).hits
