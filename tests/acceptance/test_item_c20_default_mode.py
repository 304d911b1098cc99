"""Checklist C20: hybrid unless another mode is asked for, and who asks for one has it and nothing else."""

import pytest

from support.indexes import GIT, Counted, indexed
from twofold.config.load import load_settings


@pytest.mark.parametrize(
    ("mode", "retrievers"), [("vector", {"vector"}), ("bm25", {"bm25"}), ("hybrid", {"bm25", "vector"})]
)
def test_a_mode_asks_its_arms_alone(mode: str, retrievers: set[str]) -> None:
    embedder = Counted()
    result = indexed(GIT, embedder=embedder).search("undo a commit", mode=mode)

    assert result.mode == mode
    assert {retriever.retriever for hit in result.hits for retriever in hit.trace.retrievers} == retrievers
    assert bool(embedder.asked) == ("vector" in retrievers)


def test_it_is_hybrid_by_default() -> None:
    assert load_settings().search.mode == "hybrid"
    assert indexed(GIT).search("undo").mode == "hybrid"


def test_an_explicit_mode_is_stronger_than_a_profile_and_a_setting() -> None:
    index = indexed(GIT, {"search.mode": "bm25"})

    assert index.search("undo").mode == "bm25"
    assert index.search("undo", mode="vector").mode == "vector"
    assert index.search("undo", profile="fast", mode="hybrid").mode == "hybrid"
