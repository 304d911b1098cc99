"""Checklist C10: filters narrow both arms before the cut; after fusion they can starve the answer, and say so."""

from dataclasses import replace

import pytest

from twofold import Document, Settings
from twofold.compose import plan_of
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import document_id
from twofold.filling import make_parts
from twofold.models.hashing import HashingEmbedder
from twofold.pipeline.parts import Parts
from twofold.pipeline.plan import SearchPlan
from twofold.pipeline.prepare import prepare
from twofold.pipeline.results import FilterSummary
from twofold.pipeline.search import search
from twofold.query.filter_json import filter_from_json
from twofold.stores.memory import MemoryStore

LOUD = 20
PLAN = replace(plan_of(Settings()), k=5, depth=5, filter=filter_from_json({"file_type": [".sql"]}))


@pytest.fixture(scope="module")
def parts() -> Parts:
    """Many loud Markdown files, and three SQL files that say a little of the same."""
    made = make_parts(MemoryStore(), Settings(), HashingEmbedder())
    texts = {f"loud/{n}.md": "dbt " * 9 for n in range(LOUD)} | {
        f"quiet/{n}.sql": f"some other words about many things, and dbt {n}" for n in range(3)
    }
    documents = [Document(document_id(source), source, text) for source, text in texts.items()]
    made.store.adopt(made.recipe)
    with made.store.view() as view:
        made.store.put(prepare(documents, made, view, lambda _: None).entries)
    return made


def sources(parts: Parts, plan: SearchPlan, question: str = "dbt") -> list[str]:
    return sorted(hit.source for hit in search(parts, question, plan).hits)


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "semantic"])
def test_before_the_cut_nothing_is_starved(parts: Parts, mode: str) -> None:
    found = search(parts, "dbt", replace(PLAN, mode=mode))

    assert sorted(hit.source for hit in found.hits) == ["quiet/0.sql", "quiet/1.sql", "quiet/2.sql"]
    assert found.filtered is None


def test_after_fusion_it_filters_what_the_arms_chose_and_counts_both_ways(parts: Parts) -> None:
    late = replace(PLAN, mode="bm25", filter_stage="post")
    starved = search(parts, "dbt", late)
    deep = search(parts, "dbt", replace(late, depth=100))

    assert (starved.hits, starved.filtered) == ((), FilterSummary(candidates=5, kept=0))
    assert (len(deep.hits), deep.filtered) == (3, FilterSummary(candidates=LOUD + 3, kept=3))


def test_both_stages_agree_where_the_arms_reach_everything(parts: Parts) -> None:
    early, late = (replace(PLAN, depth=100, filter_stage=stage) for stage in ("pre", "post"))

    assert sources(parts, early) == sources(parts, late)
    unfiltered = replace(late, filter=SearchPlan().filter)
    assert sources(parts, unfiltered, "dbt type:.sql -path:1.sql") == ["quiet/0.sql", "quiet/2.sql"]
    assert search(parts, "dbt", unfiltered).filtered is None


def test_another_stage_is_refused(parts: Parts) -> None:
    with pytest.raises(InvalidInputError, match="filter stage"):
        search(parts, "dbt", replace(PLAN, filter_stage="never"))
