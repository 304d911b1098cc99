"""Checklist 22, 23, 25 and C8: the best by codes are the best by cosine; no vector comes back; over-fetching."""

from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

from support.indexes import indexed
from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder

HALF_PRECISION = 5e-4
WORDS = ("branch", "commit", "merge", "stash", "rebase", "tag", "remote", "index", "tree", "blob", "head")
TEXTS = {
    f"{number:03d}": " ".join(WORDS[(number * step + step) % len(WORDS)] for step in range(1, 9)) + f" {number}"
    for number in range(200)
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    made = Index(tmp_path_factory.mktemp("kb") / "kb", embedder=HashingEmbedder())
    for source, text in TEXTS.items():
        made.add(text, source=source)
    made.compact()
    return made


@pytest.mark.parametrize("question", ["commit 17", "rebase tree", "stash of a remote"])
def test_item_22_the_order_is_that_of_all_cosines(index: Index, question: str) -> None:
    model = HashingEmbedder()
    cosines = model.embed_passages(list(TEXTS.values())) @ model.embed_queries([question])[0]
    found = index.search(question, k=20, mode="vector")

    expected = sorted(cosines.tolist(), reverse=True)[:20]
    assert [hit.score for hit in found.hits] == pytest.approx(expected, abs=HALF_PRECISION)


def holds_vectors(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return True
    if is_dataclass(value):
        return any(holds_vectors(getattr(value, one.name)) for one in fields(value))
    if isinstance(value, dict):
        return any(map(holds_vectors, value.values()))
    return isinstance(value, tuple | list) and any(map(holds_vectors, value))


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_item_23_no_vector_comes_back(index: Index, mode: str) -> None:
    result = index.search("commit", mode=mode, settings={"search.context_window": 1})

    assert result.hits
    assert not holds_vectors(result)


@pytest.mark.parametrize(("depth", "k", "given"), [("20", 5, 20), ("5x", 5, 25), ("2x", 5, 10), ("5x", 10, 50)])
def test_c8_item_25_each_arm_gives_more_than_is_shown(index: Index, depth: str, k: int, given: int) -> None:
    result = index.search("commit", k=k, settings={"search.candidates": depth})
    left = {stage.name: stage.candidates_out for stage in result.stages}

    assert (left["bm25"], left["vector"]) == (given, given)
    assert given <= left["fuse"] <= 2 * given
    assert len(result.hits) == k


def test_item_25_never_fewer_than_are_shown(index: Index, tmp_path: Path) -> None:
    assert len(index.search("commit", k=30, settings={"search.candidates": "3"}).hits) == 30
    assert indexed({"a": "commit"}, where=tmp_path / "kb").search("commit", k=30).hits[0].rank == 1
