"""Checklist 84: the tests that the seeds name: of rank fusion, and of every mode of search."""

import pytest

from twofold.domain.types import Ranking
from twofold.index import Index
from twofold.models.hashing import HashingEmbedder
from twofold.pipeline.plan import MODES
from twofold.ranking.fuse import reciprocal_rank

DENSE = Ranking.of([1, 2, 3], [0.9, 0.8, 0.7])
LEXICAL = Ranking.of([2, 4], [12.0, 7.0])


def fused() -> dict[int, float]:
    return {hit.key: hit.score for hit in reciprocal_rank([DENSE, LEXICAL])}


def test_rrf_score_formula() -> None:
    assert fused() == pytest.approx({1: 1 / 61, 2: 1 / 62 + 1 / 61, 3: 1 / 63, 4: 1 / 62})


def test_chunk_in_both_lists_gets_higher_score() -> None:
    assert fused()[2] > max(score for key, score in fused().items() if key != 2)


def test_higher_rank_gets_lower_score() -> None:
    assert fused()[1] > fused()[4] > fused()[3]  # ranks 1, 2 and 3, each in one list


@pytest.mark.parametrize("mode", MODES)
def test_all_three_modes_find_the_passage(mode: str) -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        for name, text in (("tea", "Green tea is steeped for two minutes."), ("iron", "Iron rusts in wet air.")):
            index.add(text, source=name)
        found = index.search("how long is green tea steeped", mode=mode)

    assert (found.mode, found.hits[0].source) == (mode, "tea")
