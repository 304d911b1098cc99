"""`why_not`: every stage that can lose a document is named, and every change that is given really shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.scripted_reranker import Dictated
from twofold.config.load import grouped
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, Condition, Filter, Operator
from twofold.domain.types import Block, BlockKind, Document, document_id
from twofold.index import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.filter_syntax import parse_filter
from twofold.search import diagnose, pipeline
from twofold.search.engine import SearchOptions
from twofold.search.why_not import WhyNot

WORDS = ("reset", "commit", "branch", "merge", "stash")
PAGES = {f"{number:02d}.md": f"The {WORDS[number % 5]} chapter says: reset number {number}." for number in range(12)}


def made(texts: Mapping[str, str], **overrides: object) -> Index:
    overrides = grouped({name.replace("__", "."): value for name, value in overrides.items()})
    index = Index(":memory:", embedder=HashingEmbedder(), overrides=overrides)
    for source, text in texts.items():
        index.add(text, source=source, metadata={"author": "Ada", "number": int(source[:2])})
    return index


def applied(options: SearchOptions, said: WhyNot) -> tuple[str, SearchOptions]:
    """Ask as the change says, in the words that a user has."""
    change = said.fix
    assert change is not None
    return change.query or said.query, replace(
        options,
        k=options.k if change.k is None else change.k,
        mode=options.mode if change.mode is None else change.mode,
        rerank=options.rerank if change.rerank is None else change.rerank,
        filter=options.filter if change.filter is None else parse_filter(change.filter),
        settings={**options.settings, **change.settings},
    )


def rank_of(index: Index, query: str, document: str, options: SearchOptions) -> int | None:
    (result,) = index.search_many([query], options)
    return next((hit.rank for hit in result.hits if document in (hit.source, hit.chunk_id)), None)


def lost(index: Index, query: str, document: str, **asked: object) -> WhyNot:
    """Ask why, and hold the change that is given to its word."""
    options = SearchOptions(**asked)  # type: ignore[arg-type]
    said = index.why_not(query, document, options)
    if said.stage in ("", "not_indexed", "no_passages"):
        assert said.fix is None
        return said
    assert rank_of(index, query, document, options) is None
    if said.fix is not None:
        assert rank_of(index, applied(options, said)[0], document, applied(options, said)[1]) == said.rank_after_fix
        assert said.rank_after_fix is not None
    return said


def test_a_document_that_is_in_the_answer_has_its_rank() -> None:
    with made(PAGES) as index:
        said = lost(index, "stash number 4", "04.md")
        assert (said.rank, said.stage, said.fix) == (
            rank_of(index, "stash number 4", "04.md", SearchOptions()),
            "",
            None,
        )


def test_what_was_never_added_is_an_answer_with_a_remedy() -> None:
    with made(PAGES) as index:
        said = lost(index, "reset", "absent.md")
    assert (said.stage, said.rank) == ("not_indexed", None)
    assert "sync absent.md" in said.hint


def test_a_document_without_text_has_no_passages() -> None:
    with made(PAGES) as index:
        index.add("   ", source="empty.md")
        assert lost(index, "reset", "empty.md").stage == "no_passages"


def test_a_gate_is_named_and_lifted() -> None:
    with made(PAGES, search__default_filter="number < 3") as index:
        said = lost(index, "reset", "07.md", k=100)
    assert said.stage == "default_filter"
    assert said.fix is not None
    assert said.fix.settings == {"search.default_filter": "()"}


def test_of_a_filter_only_what_the_document_fails_is_taken_back() -> None:
    with made(PAGES) as index:
        said = lost(index, "reset", "07.md", k=100, filter=parse_filter('author = Ada and number < 3 and type = ".md"'))
    assert said.stage == "filter"
    assert said.fix is not None
    assert parse_filter(said.fix.filter or "") == parse_filter('author = Ada and type = ".md"')


def test_a_filter_that_cannot_be_written_is_taken_back_whole() -> None:
    unsayable = Condition("number", Operator.CONTAINS, 3)
    with made(PAGES) as index:
        said = lost(index, "reset", "07.md", k=100, filter=unsayable)
    assert said.fix is not None
    assert parse_filter(said.fix.filter or "") == MATCH_ALL


def test_the_questions_own_filter_is_taken_out_of_the_question() -> None:
    with made(PAGES) as index:
        said = lost(index, "reset type:.sql number", "07.md", k=100)
    assert (said.stage, said.fix and said.fix.query) == ("filter", "reset number")


@pytest.mark.parametrize(
    ("question", "instead"),
    [
        ("reset +stash", "reset stash"),
        ("reset -branch", "reset"),
        ('reset "stash chapter" chapter', "reset stash chapter chapter"),
        ("reset +number +stash -branch", "reset number stash"),
    ],
)
def test_a_clause_that_the_document_does_not_meet_is_softened(question: str, instead: str) -> None:
    with made(PAGES) as index:
        said = lost(index, question, "07.md", k=100)
    assert said.stage == "operators"
    assert said.fix is not None
    assert said.fix.query == instead


def test_below_the_arms_depth_the_true_rank_is_told_and_is_depth_enough() -> None:
    texts = {f"{number:02d}.md": "stash " * (12 - number) + "filler " * number for number in range(12)}
    with made(texts, search__candidates="2") as index:
        said = lost(index, "stash", "05.md", k=2, mode="bm25")
        assert rank_of(index, "stash", "05.md", SearchOptions(k=100, mode="bm25")) == 6
    assert said.stage == "retrieval"
    assert "rank 6" in said.reason
    assert ("bm25", "rank 6; 2 were taken") in [(one.name, one.detail) for one in said.evidence]
    assert said.fix is not None
    assert said.fix.k == 6
    assert said.fix.settings == {}  # six passages need six candidates, whatever the depth


def test_a_document_without_the_words_is_found_by_meaning() -> None:
    with made({**PAGES, "90.md": "Nothing of the kind."}) as index:
        said = lost(index, "stash", "90.md", mode="bm25", k=100)
    assert said.stage == "retrieval"
    assert "none of the question's terms" in said.reason
    assert said.fix is not None
    assert said.fix.mode == "hybrid"


def test_a_late_filter_is_told_from_an_early_one() -> None:
    with made(PAGES, search__filter_stage="post") as index:
        said = lost(index, "reset", "07.md", k=100, filter=parse_filter("number < 3"))
    assert said.stage == "post_filter"
    assert said.fix is not None
    assert said.fix.filter == "()"


def test_the_rerankers_threshold_is_lowered_as_far_as_need_be() -> None:
    reranker = Dictated({"number 7": 0.2346, "reset": 0.9})
    with made(PAGES) as index:
        said = lost(index, "reset", "07.md", k=100, rerank=reranker, settings={"rerank.threshold": 0.5})
    assert said.stage == "rerank"
    assert said.fix is not None
    assert said.fix.settings == {"rerank.threshold": "0.234"}


def test_the_reranker_keeps_more() -> None:
    reranker = Dictated({"number 7": 0.1, "reset": 0.9})
    asked: Mapping[str, object] = {"rerank.top_n": 3, "rerank.weight": 1.0}
    with made(PAGES) as index:
        said = lost(index, "reset", "07.md", k=100, rerank=reranker, settings=asked)
    assert said.stage == "rerank"
    assert said.fix is not None
    assert said.fix.settings == {"rerank.top_n": "12"}


def test_the_reranker_reads_as_far_as_the_document() -> None:
    reranker = Dictated({"reset": 0.9})
    asked: Mapping[str, object] = {"rerank.candidates": 2, "rerank.threshold": 0.5}
    with made(PAGES) as index:
        order = [hit.source for hit in index.search("reset", k=100).hits]
        said = lost(index, "reset", order[6], k=100, rerank=reranker, settings=asked)
    assert said.stage == "rerank"
    assert "has not read" in said.reason
    assert said.fix is not None
    assert said.fix.settings == {"rerank.candidates": "7"}


PARTS = ("The reset of the branch moves the head of the branch back, and nothing else, then. " * 3,) * 2


def in_parts(parts: Sequence[str], page: int | None = None) -> Document:
    """A document whose parts are passages of their own, of one page where it has pages."""
    text = "".join(f"{part}\n\n" for part in parts)
    starts = [sum(len(part) + 2 for part in parts[:place]) for place in range(len(parts))]
    blocks = tuple(
        Block(BlockKind.PARAGRAPH, start, start + len(part), page=page)
        for start, part in zip(starts, parts, strict=True)
    )
    return Document(document_id("01.md"), "01.md", text, blocks=blocks)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ("diversity.per_page", "page full"),
        ("diversity.per_source", "source full"),
        ("diversity.max_overlap", "said already"),
    ],
)
def test_diversity_says_which_limit_it_was(limit: str, reason: str) -> None:
    with made({"02.md": "Something else about a stash."}, chunk__size=64, **{limit: 1}) as index:
        index.add_many([in_parts(PARTS, page=1)])
        found = [hit.chunk_id for hit in index.search("reset of the branch", k=100).hits]
        gone = next(chunk.id for chunk in index.chunks("01.md") if chunk.id not in found)
        said = lost(index, "reset of the branch", gone, k=100)
    assert said.stage == "diversify"
    assert reason in said.reason
    assert said.fix is not None
    assert said.fix.settings == {"diversity": f"{limit.removeprefix('diversity.')}:0"}


def test_what_diversity_never_came_to_was_cut() -> None:
    with made(PAGES, diversity__per_source=1) as index:
        order = [hit.source for hit in index.search("reset", k=100).hits]
        said = lost(index, "reset", order[8], k=3)
    assert said.stage == "top_k"
    assert said.fix is not None
    assert said.fix.k == 9


def test_beyond_k_is_cut_and_more_passages_show_it() -> None:
    with made(PAGES) as index:
        order = [hit.source for hit in index.search("reset number 7", k=100).hits]
        said = lost(index, "reset number 7", order[9], k=2)
    assert said.stage == "top_k"
    assert said.fix is not None
    assert said.fix.k == 10


def test_a_question_for_definitions_narrows_to_them() -> None:
    kinds = {"01.md": "definition", "02.md": "law"}
    with Index(":memory:", embedder=HashingEmbedder(), overrides={"query": {"intent_filter": True}}) as index:
        for source, kind in kinds.items():
            index.add(f"A reset is what it is, {source}.", source=source, metadata={"semantic_type_primary": kind})
        said = lost(index, "define reset", "02.md", k=100)
    assert said.stage == "intent"
    assert said.fix is not None
    assert said.fix.settings == {"query": "intent_filter:false"}


def test_what_several_stages_lose_is_brought_back_by_a_change_of_each() -> None:
    reranker = Dictated({"number 7": 0.1, "reset": 0.9})
    asked: Mapping[str, object] = {"rerank.threshold": 0.5}
    with made(PAGES, search__default_filter="number < 3") as index:
        said = lost(
            index, "reset +stash", "07.md", k=2, rerank=reranker, settings=asked, filter=parse_filter("author = Grace")
        )
    assert said.stage == "default_filter"
    assert said.fix is not None
    assert set(said.fix.settings) == {"search.default_filter", "rerank.threshold"}
    assert (said.fix.query, said.fix.filter) == ("reset stash", "()")


def test_a_question_that_cannot_be_is_refused() -> None:
    with made(PAGES) as index, pytest.raises(InvalidInputError):
        index.why_not("-reset", "07.md")


FILTERS = st.sampled_from(
    [MATCH_ALL, *map(parse_filter, ("number < 3", "author = Grace", "number > 5 and author = Ada"))]
)
QUESTIONS = st.sampled_from(
    ["reset", "stash chapter", "reset +merge", "reset -branch type:.md", "number type:.sql", "zebra"]
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "search.candidates": st.sampled_from(["1", "3", "2x"]),
        "search.default_filter": st.sampled_from(["()", "number < 8"]),
        "search.filter_stage": st.sampled_from(["pre", "post"]),
        "rerank.model": st.just("word-overlap"),
        "rerank.threshold": st.sampled_from([0.0, 0.4, 1.0]),
        "rerank.top_n": st.sampled_from([0, 2]),
        "rerank.candidates": st.sampled_from([2, 20]),
        "diversity": st.fixed_dictionaries(
            {}, optional={"per_source": st.sampled_from([0, 1]), "max_overlap": st.sampled_from([0.0, 0.5])}
        ),
        "fusion.method": st.sampled_from(["adaptive", "rrf", "additive"]),
    },
)


@settings(max_examples=60, deadline=None)
@given(
    QUESTIONS, st.sampled_from(sorted(PAGES)), st.integers(1, 4), FILTERS, SETTINGS, st.sampled_from(["hybrid", "bm25"])
)
def test_whatever_change_is_given_shows_the_document_at_the_rank_it_says(
    question: str, document: str, k: int, condition: Filter, all_settings: Mapping[str, object], mode: str
) -> None:
    with made(PAGES) as index:
        said = lost(index, question, document, k=k, filter=condition, settings=all_settings, mode=mode)
    assert said.stage == "" or said.fix is not None or said.reason


def test_stages_after_retrieval_stand_in_the_order_of_the_pipeline() -> None:
    """A stage that is new must be put among those that lose a document, or among those that only reorder."""
    ranking = [stage.__name__ for stage in pipeline.RANKING]
    losing = diagnose.STAGES[diagnose.STAGES.index("retrieval") + 1 : -2]
    boosts = {"boost_fused", "boost_reranked", "metadata_boost"}
    reordering = {"add_synonyms", "retrieve", *boosts, "rescore", "reorder", "fetch"}

    assert diagnose.STAGES[-2:] == ("top_k", "")
    assert list(losing) == [name for name in ranking if name in losing]
    assert set(ranking) - reordering - {"hide"} == set(losing)  # what is hidden is kept out of the retrieval already
    assert diagnose.STAGES.index("hide") < diagnose.STAGES.index("retrieval")
