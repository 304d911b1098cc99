"""Checklist C10: filters narrow both retrievers before the cut; after fusion they can starve the answer, and say so."""

from collections.abc import Iterator, Mapping

import pytest

from support.indexes import indexed, sources
from twofold import Index
from twofold.domain.errors import InvalidInputError
from twofold.query.filter_json import filter_from_json
from twofold.search.result import FilterSummary

LOUD = 20
SQL = filter_from_json({"file_type": [".sql"]})
QUIET = ["quiet/0.sql", "quiet/1.sql", "quiet/2.sql"]
FIVE: Mapping[str, object] = {"search.candidates": "5"}
LATE: Mapping[str, object] = {**FIVE, "search.filter_stage": "post"}


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    """Many loud Markdown files, and three SQL files that say a little of the same."""
    texts = {f"loud/{n}.md": "dbt " * 9 for n in range(LOUD)} | {
        f"quiet/{n}.sql": f"some other words about many things, and dbt {n}" for n in range(3)
    }
    with indexed(texts) as made:
        yield made


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_before_the_cut_nothing_is_starved(index: Index, mode: str) -> None:
    found = index.search("dbt", k=5, mode=mode, filter=SQL, settings=FIVE)

    assert sorted(sources(found)) == QUIET
    assert found.filtered is None


def test_after_fusion_it_filters_what_the_arms_chose_and_counts_both_ways(index: Index) -> None:
    starved = index.search("dbt", k=5, mode="bm25", filter=SQL, settings=LATE)
    deep = index.search("dbt", k=5, mode="bm25", filter=SQL, settings={**LATE, "search.candidates": "100"})

    assert (starved.hits, starved.filtered) == ((), FilterSummary(candidates=5, kept=0))
    assert (len(deep.hits), deep.filtered) == (3, FilterSummary(candidates=LOUD + 3, kept=3))


def test_both_stages_agree_where_the_arms_reach_everything(index: Index) -> None:
    early, late = ({"search.candidates": "100", "search.filter_stage": stage} for stage in ("pre", "post"))

    found = [sorted(sources(index.search("dbt", k=5, filter=SQL, settings=one))) for one in (early, late)]
    assert found == [QUIET, QUIET]
    assert sorted(sources(index.search("dbt type:.sql -path:1.sql", k=5, settings=late))) == [QUIET[0], QUIET[2]]
    assert index.search("dbt", k=5, settings=late).filtered is None


def test_another_stage_is_refused(index: Index) -> None:
    with pytest.raises(InvalidInputError, match="filter_stage"):
        index.search("dbt", settings={"search.filter_stage": "never"})
