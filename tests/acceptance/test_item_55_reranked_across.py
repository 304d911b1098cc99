"""Checklist 55, 74: what several indexes gave is reranked as a whole, where it is more than the reranker reads (20)."""

from collections.abc import Iterator

import pytest

from support.indexes import indexed
from support.scripted_reranker import Dictated
from twofold import MultiIndex
from twofold.domain.errors import InvalidInputError
from twofold.search.engine import SearchOptions

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")


@pytest.fixture(scope="module")
def several() -> Iterator[MultiIndex]:
    made = {name: indexed({f"{name}/{word}.md": f"commit {name} {word}" for word in WORDS}) for name in ("a", "b")}
    with MultiIndex(made) as opened:
        yield opened
    for index in made.values():
        index.close()


def test_the_best_of_all_is_the_rerankers_wherever_it_is_from(several: MultiIndex) -> None:
    judge = Dictated({"b seven": 0.9, "a three": 0.8, "b one": 0.7})

    found = several.search("commit", SearchOptions(k=3, rerank=judge, settings={"rerank.candidates": 23}), "rerank")

    assert [(hit.collection, hit.source) for hit in found.hits] == [
        ("b", "b/seven.md"),
        ("a", "a/three.md"),
        ("b", "b/one.md"),
    ]
    assert [hit.score for hit in found.hits] == [0.9, 0.8, 0.7]
    assert found.trace.recompute_scores() == (0.9, 0.8, 0.7)
    assert found.confidence == pytest.approx(0.5 + 0.5 * 0.8)
    assert found.rerank is not None
    assert (found.rerank.read, found.rerank.weight) == (23, 1.0)
    assert len(judge.asked) == 1


@pytest.mark.parametrize(("candidates", "read"), [(23, 1), (24, 0)])
def test_no_more_than_it_reads_are_left_by_rank(several: MultiIndex, candidates: int, read: int) -> None:
    judge = Dictated({})

    found = several.search("commit", SearchOptions(rerank=judge, settings={"rerank.candidates": candidates}), "rerank")

    assert len(judge.asked) == read
    assert [hit.collection for hit in found.hits[:2]] == ["a", "b"]
    assert found.counts.retrieved == 2 * len(WORDS)


def test_a_reranker_that_fails_leaves_them_by_rank_and_says_so(several: MultiIndex) -> None:
    found = several.search("commit", SearchOptions(rerank=Dictated({}, last=0)), "rerank")
    by_rank = several.search("commit", across="rrf")

    assert [hit.chunk_id for hit in found.hits] == [hit.chunk_id for hit in by_rank.hits]
    assert tuple(map(str, found.warnings)) == ("rerank unavailable: the reranker is gone.",)


def test_without_a_reranker_it_is_refused(several: MultiIndex) -> None:
    with pytest.raises(InvalidInputError, match="no reranker"):
        several.search("commit", across="rerank")


def test_a_threshold_leaves_out_what_is_not_relevant(several: MultiIndex) -> None:
    judge = Dictated({"seven": 0.9})

    found = several.search(
        "commit", SearchOptions(rerank=judge, settings={"rerank.threshold": 0.5, "rerank.candidates": 23}), "rerank"
    )

    assert {hit.source for hit in found.hits} == {"a/seven.md", "b/seven.md"}
