"""Checklist 84: the tests that the seeds name. Those of rank fusion stand in test_item_26_reciprocal_rank.py."""

import pytest

from support.indexes import indexed
from twofold.search.plan import MODES


@pytest.mark.parametrize("mode", MODES)
def test_all_three_modes_find_the_passage(mode: str) -> None:
    texts = {"tea": "Green tea is steeped for two minutes.", "iron": "Iron rusts in wet air."}
    with indexed(texts) as index:
        found = index.search("how long is green tea steeped", mode=mode)

    assert (found.mode, found.hits[0].source) == (mode, "tea")
    assert [
        hit.trace.retriever(retriever) is not None for hit in found.hits[:1] for retriever in ("bm25", "vector")
    ] == [
        mode != "vector",
        mode != "bm25",
    ]
