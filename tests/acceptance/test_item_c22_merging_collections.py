"""Checklist C22: VV merges collections before fusing, LG concatenates and reranks; `search.multi_index_merge`."""

from collections.abc import Iterator

import pytest

from support.indexes import indexed
from twofold import Index, MultiIndex
from twofold.search.engine import SearchOptions

CATS = {"a.txt": "the cat sat", "b.txt": "a cat and a cat", "c.txt": "cats sleep"}
ONE_CAT = {"x.txt": "cat", "y.txt": "a dog ran", "z.txt": "a mat lay there"}


@pytest.fixture
def both() -> Iterator[dict[str, Index]]:
    with indexed(CATS) as cats, indexed(ONE_CAT) as dogs:
        yield {"cats": cats, "dogs": dogs}


def test_by_rank_the_best_of_each_comes_first_and_the_trace_names_the_collections(both: dict[str, Index]) -> None:
    with MultiIndex(both) as several:
        found = several.search("cat", across="rrf")

    own = {name: index.search("cat").hits for name, index in both.items()}
    assert [(hit.collection, hit.source) for hit in found.hits] == [
        (name, own[name][place].source) for place in range(3) for name in ("cats", "dogs") if place < len(own[name])
    ]
    assert [hit.score for hit in found.hits[:3]] == [1 / 61, 1 / 61, 1 / 62]
    assert found.fusion == "rrf"
    assert found.constants == {"k": 60.0}
    first = found.hits[0]
    assert first.trace.retrievers[0].retriever == "cats"
    assert first.trace.retrievers[0].raw == own["cats"][0].score
    assert [retriever.weight for retriever in first.trace.retrievers] == [1.0, 0.0, 0.0]
    assert found.trace.recompute_scores() == tuple(hit.score for hit in found.hits)
    assert [stage.name for stage in found.stages] == ["cats", "dogs", "fuse"]


def test_as_one_the_scores_of_all_are_compared(both: dict[str, Index]) -> None:
    with MultiIndex(both) as several:
        found = several.search("cat", SearchOptions(mode="bm25"), "global")

    assert [(hit.collection, hit.source) for hit in found.hits[:2]] == [("cats", "b.txt"), ("dogs", "x.txt")]
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


def test_by_rank_each_collection_keeps_its_own_settings() -> None:
    with (
        indexed(CATS, {"search.k": 1}) as cats,
        indexed(ONE_CAT, {"search.mode": "bm25"}) as dogs,
        MultiIndex({"cats": cats, "dogs": dogs}) as several,
    ):
        found = several.search("cat", across="rrf", options=SearchOptions(k=9))
        fewer = several.search("cat", across="rrf")

    assert [hit.collection for hit in found.hits] == ["cats", "dogs", "cats", "cats"]
    assert [len(hit.trace.retrievers) for hit in found.hits] == [3, 2, 3, 3]
    assert len(fewer.hits) == 1


@pytest.mark.parametrize("across", ["global", "rrf"])
def test_the_way_is_a_setting_of_the_first_index_or_of_the_search(across: str) -> None:
    with (
        indexed(CATS, {"search.multi_index_merge": across}) as cats,
        indexed(ONE_CAT) as dogs,
        MultiIndex({"cats": cats, "dogs": dogs}) as several,
    ):
        by_setting = several.search("cat")
        asked = several.search("cat", SearchOptions(settings={"search.multi_index_merge": "rrf"}))

    assert (by_setting.fusion == "rrf") == (across == "rrf")
    assert asked.fusion == "rrf"


def test_many_questions_are_joined_each_for_itself(both: dict[str, Index]) -> None:
    with MultiIndex(both) as several:
        together = several.search_many(["cat", "dog ran"], across="rrf")
        alone = [several.search(question, across="rrf") for question in ("cat", "dog ran")]

    assert [[(hit.collection, hit.chunk_id, hit.score) for hit in found.hits] for found in together] == [
        [(hit.collection, hit.chunk_id, hit.score) for hit in found.hits] for found in alone
    ]
