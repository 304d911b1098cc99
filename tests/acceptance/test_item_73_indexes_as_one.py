"""Checklist 73: several collections in one search: both retrievers over all of them, merged before fusion."""

from collections.abc import Iterator, Mapping

import pytest

from support.indexes import indexed
from twofold import Index, MultiIndex, SearchResult, search_multi
from twofold.domain.errors import InvalidInputError, MismatchError
from twofold.domain.filters import Condition, Operator
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.engine import SearchOptions

NOTES = {
    "notes/reset.md": "# Undo\n\nUndo the last commit with git reset. The soft reset keeps your changes.",
    "notes/merge.md": "# Merge\n\nJoin two branches. A merge commit has two parents, and git log shows both.",
    "notes/stash.md": "# Stash\n\nPut changes aside for a while, and take them back later.",
}
TICKETS = {
    "tickets/1.md": "# Conflict\n\nError ERR-12345 means that a merge of two branches has a conflict.",
    "tickets/2.md": "# Lost changes\n\nI lost my changes after a hard reset. The last commit was gone too.",
    "tickets/3.sql": "select * from commits where branch = 'main'",
}
WIKI = {
    "wiki/commit.md": "A commit is a snapshot. Every commit has parents, but the first.\n\n" * 20,
    "wiki/branch.md": "A branch is a name for a commit. Branches are cheap.",
}
NAMED = {"notes": NOTES, "tickets": TICKETS, "wiki": WIKI}
QUESTIONS = (
    "undo the last commit",
    "merge two branches",
    '"hard reset" changes',
    "+branches commit -parents",
    "type:.md commit",
    "ERR-12345",
)
ASKED: Mapping[str, SearchOptions] = {
    "as set": SearchOptions(),
    "by words": SearchOptions(mode="bm25"),
    "by meaning": SearchOptions(mode="vector"),
    "by rank": SearchOptions(settings={"fusion.method": "rrf"}),
    "normalized": SearchOptions(settings={"fusion.method": "linear", "fusion.parameters": {"bm25_norm": "minmax"}}),
    "few candidates": SearchOptions(k=3, settings={"search.candidates": "2"}),
    "filtered": SearchOptions(filter=Condition("type", Operator.EQ, ".md")),
    "filtered late": SearchOptions(
        filter=Condition("type", Operator.EQ, ".md"), settings={"search.filter_stage": "post"}
    ),
    "gated": SearchOptions(settings={"search.default_filter": "source != 'wiki/commit.md'"}),
    "reranked": SearchOptions(rerank="word-overlap", settings={"rerank.candidates": 4}),
    "boosted": SearchOptions(settings={"boost": {"patterns": [r"ERR-\d+"], "rules": {"type == '.md'": 0.1}}}),
    "diverse": SearchOptions(settings={"diversity": {"per_source": 1, "max_overlap": 0.8}}),
    "widened": SearchOptions(settings={"search.context_window": 1}),
    "fed back": SearchOptions(settings={"prf": {"dense_terms": 3}}),
}


@pytest.fixture(scope="module")
def several() -> Iterator[MultiIndex]:
    made = {name: indexed(texts, {"chunk.size": 64}) for name, texts in NAMED.items()}
    with MultiIndex(made) as opened:
        yield opened
    for index in made.values():
        index.close()


@pytest.fixture(scope="module")
def one() -> Iterator[Index]:
    made = indexed({source: text for texts in NAMED.values() for source, text in texts.items()}, {"chunk.size": 64})
    yield made
    made.close()


def told(result: SearchResult) -> object:
    """Give all that an answer says but how long it took, and which collection each passage is of."""
    hits = [
        (hit.rank, hit.score, hit.source, hit.document, hit.chunk_id, hit.text, hit.trace, hit.metadata, hit.context)
        for hit in result.hits
    ]
    counted = (result.counts, result.rerank, result.filtered, [stage.candidates_out for stage in result.stages])
    return hits, counted, result.constants, result.confidence, result.p_answerable, result.mode, result.warnings


@pytest.mark.parametrize("options", ASKED.values(), ids=ASKED.keys())
def test_several_collections_answer_as_one_of_all_their_documents_does(
    several: MultiIndex, one: Index, options: SearchOptions
) -> None:
    for question in QUESTIONS:
        found = several.search(question, options, "global")

        assert told(found) == told(one.searcher.search(question, options))
        assert found.trace.recompute_scores() == tuple(hit.score for hit in found.hits)
        assert all(hit.source.startswith(f"{hit.collection}/") for hit in found.hits)


def test_words_alone_say_how_likely_an_answer_is_over_all_of_them(several: MultiIndex) -> None:
    assert several.search("undo the last commit", SearchOptions(mode="bm25")).p_answerable is not None


def test_a_word_is_as_rare_as_it_is_in_all_of_them_together(several: MultiIndex) -> None:
    hits = several.search("snapshot", SearchOptions(mode="bm25")).hits
    with indexed(WIKI, {"chunk.size": 64}) as alone:
        own = alone.search("snapshot", mode="bm25").hits

    assert [hit.source for hit in hits] == [hit.source for hit in own]
    assert hits[0].trace.terms[0].idf > own[0].trace.terms[0].idf


def test_many_questions_are_answered_as_each_alone(several: MultiIndex) -> None:
    together = several.search_many(QUESTIONS)

    assert [told(found) for found in together] == [told(several.search(question)) for question in QUESTIONS]


def test_the_same_document_in_two_collections_is_found_in_both() -> None:
    with indexed(NOTES) as first, indexed(NOTES) as second:
        hits = search_multi({"mine": first, "yours": second}, "undo the last commit", SearchOptions(k=2)).hits

    assert [(hit.collection, hit.source) for hit in hits] == [("mine", hits[0].source), ("yours", hits[0].source)]
    assert hits[0].document == hits[1].document
    assert hits[0].score == hits[1].score


def test_why_a_document_was_lost_is_said_over_all_of_them(several: MultiIndex) -> None:
    lost = several.why_not(
        "merge two branches", "tickets/3.sql", SearchOptions(filter=Condition("type", Operator.EQ, ".md"))
    )

    assert (lost.rank, lost.stage) == (None, "filter")
    assert several.why_not("merge two branches", "merge.md").rank is not None
    first = several.search("merge two branches").hits[0]
    assert several.why_not("merge two branches", f"{first.collection}/{first.chunk_id}").rank == 1
    assert several.why_not("merge two branches", "nowhere.md").stage == "not_indexed"


def test_collections_of_different_embedders_are_only_joined_by_rank() -> None:
    with indexed(NOTES) as first, indexed(TICKETS, embedder=HashingEmbedder(64)) as second:
        both = [first, second]
        with pytest.raises(MismatchError, match=r"search\.multi_index_merge=rrf"):
            search_multi(both, "commit")

        assert {hit.collection for hit in search_multi(both, "commit", across="rrf").hits} == {
            ":memory:",
            ":memory: #2",
        }
        assert len(search_multi(both, "commit", SearchOptions(mode="bm25")).hits) > 0


def test_collections_of_different_analyzers_are_not_taken_for_one() -> None:
    with indexed(NOTES) as first, indexed(TICKETS, {"analyzer": "simple"}) as second:
        with pytest.raises(MismatchError, match="different analyzers"):
            search_multi([first, second], "commit", SearchOptions(mode="bm25"))
        assert search_multi([first, second], "commit", across="rrf").hits


def test_what_cannot_be_asked_is_refused(several: MultiIndex) -> None:
    with pytest.raises(InvalidInputError, match="k must be"):
        several.search("commit", SearchOptions(k=0))
    with pytest.raises(InvalidInputError, match="joined by 'sum'"):
        several.search("commit", across="sum")
    with pytest.raises(InvalidInputError, match="no index"):
        MultiIndex([])
    with pytest.raises(InvalidInputError, match="cannot be of the type str"):
        MultiIndex("notes")
    with pytest.raises(InvalidInputError, match="named twice"):
        MultiIndex(["notes", "notes"])
