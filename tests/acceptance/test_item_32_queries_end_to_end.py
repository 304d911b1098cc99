"""Checklist 32, 36, 38 and C21: a model's variants are searched too, best score in each retriever."""

from collections.abc import Iterator

import pytest

from support.fake_llm_server import chatting, saying
from support.indexes import GIT, Counted, indexed, sources
from twofold import Index
from twofold.search.engine import SearchOptions

QUESTION = "make it undone"
WORDINGS = (QUESTION, "git reset", "join two branches")


@pytest.fixture(scope="module")
def embedder() -> Counted:
    return Counted()


@pytest.fixture(scope="module")
def index(embedder: Counted) -> Iterator[Index]:
    reply = "\n".join(f"{number}. {query_index}" for number, query_index in enumerate(WORDINGS[1:], 1))
    with (
        chatting(saying(lambda _: reply)) as address,
        indexed(GIT, {"generator": f"{address}#m"}, embedder=embedder) as made,
    ):
        yield made


def test_a_question_becomes_three_and_all_are_embedded_at_once(index: Index, embedder: Counted) -> None:
    embedder.asked.clear()
    result = index.search(QUESTION, settings={"query_expansion": {"multi_query": 3}})

    assert result.queries == WORDINGS
    assert embedder.asked == [WORDINGS]
    assert result.query == QUESTION
    assert result.warnings == ()
    (stage,) = [stage for stage in result.stages if stage.name == "expand"]
    assert stage.notes == ("variant: git reset", "variant: join two branches")


def test_sub_questions_are_searched_as_well(index: Index) -> None:
    assert index.search(QUESTION, settings={"query_expansion": {"decompose": True}}).queries == WORDINGS


@pytest.mark.parametrize("mode", ["bm25", "vector"])
def test_each_passage_has_its_best_score_over_the_wordings(index: Index, mode: str) -> None:
    alone = index.search_many(WORDINGS, SearchOptions(mode=mode, k=9))
    best: dict[str, float] = {}
    for hit in (hit for result in alone for hit in result.hits):
        best[hit.source] = max(best.get(hit.source, -1.0), hit.score)
    together = index.search(QUESTION, mode=mode, k=9, settings={"query_expansion": {"multi_query": 3}})

    assert {hit.source: hit.score for hit in together.hits} == best
    assert {"reset.md", "merge.md"} <= set(sources(together)[:3])


def test_by_rank_the_wordings_are_fused_after_each_was_ranked(index: Index) -> None:
    plain = {"fusion.method": "rrf", "prf": {"top_k": 0}}
    alone = index.search_many(WORDINGS, SearchOptions(k=9, settings=plain))
    together = index.search(QUESTION, k=9, settings={**plain, "query_expansion": {"multi_query": 3, "merge": "rrf"}})

    for hit in together.hits:
        ranks = [one.rank for result in alone for one in result.hits if one.chunk_id == hit.chunk_id]
        assert hit.score == pytest.approx(sum(1 / (60 + rank) for rank in ranks))
        assert [retriever.retriever for retriever in hit.trace.retrievers] == ["query 1", "query 2", "query 3"]


def test_keywords_stand_behind_the_question(index: Index) -> None:
    result = index.search(QUESTION, settings={"query_expansion": {"keywords": 5}})

    assert result.queries == (QUESTION, f"{QUESTION} git reset join two branches")


@pytest.mark.parametrize(
    "part",
    [
        {"query_expansion": {"hyde": True}},
        {"query_expansion": {"decompose": True}},
        {"query_expansion": {"keywords": 5}},
    ],
)
def test_without_a_generator_each_part_says_that_it_was_skipped(part: dict[str, object]) -> None:
    plain, skipped = indexed(GIT).search_many(["undo"])[0], indexed(GIT).search("undo", settings=part)

    assert sources(skipped) == sources(plain)
    assert tuple(map(str, skipped.warnings)) == ("expand skipped: no generator is set.",)
