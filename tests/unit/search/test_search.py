"""The search: what it finds, what it says of it, and what it refuses."""

from collections.abc import Iterator, Mapping, Sequence

import pytest

from twofold import Condition, Index, Operator, load_settings
from twofold.domain.errors import InvalidInputError, MismatchError, ModelError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder

TEXTS = {
    "reset.md": "# Undo\n\nUndo the last commit with git reset. The soft reset keeps your changes.",
    "revert.md": "# Revert\n\nMake a new commit that undoes an old one. Error ERR-12345 means a conflict.",
    "merge.md": "# Merge\n\nJoin two branches. A merge commit has two parents.",
    "errors.md": "# Errors\n\nThe err code 12345 is not ERR-99.",
}


class BrokenEmbedder(HashingEmbedder):
    """Embeds passages and fails at questions, as a model does whose server is gone."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise ModelError("the model is gone.", f"Bring it back for {len(texts)} texts.")


@pytest.fixture
def index() -> Iterator[Index]:
    with Index(":memory:", embedder=HashingEmbedder()) as made:
        for source, text in TEXTS.items():
            made.add(text, source=source, metadata={"letters": len(text)})
        yield made


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
@pytest.mark.parametrize("fusion", ["convex", "rrf"])
def test_every_score_is_recomputed_from_its_trace(mode: str, fusion: str) -> None:
    settings = load_settings(overrides={"fusion.method": fusion})
    with Index(":memory:", settings=settings, embedder=HashingEmbedder()) as index:
        for source, text in TEXTS.items():
            index.add(text, source=source)
        result = index.search("undo a commit", mode=mode)
    assert result.hits
    for hit in result.hits:
        assert hit.trace.recompute_score() == hit.score
        if hit.trace.bm25 is not None:
            total = 0.0
            for term in hit.trace.terms:
                total += term.score
            assert total == hit.trace.bm25.raw


def test_the_traces_ranks_are_those_of_the_arms_alone(index: Index) -> None:
    hybrid = index.search("undo a commit", k=4, settings={"prf": {"top_k": 0}})
    for mode in ("bm25", "vector"):
        alone = {hit.chunk_id: hit for hit in index.search("undo a commit", k=4, mode=mode).hits}
        for hit in hybrid.hits:
            retriever = hit.trace.bm25 if mode == "bm25" else hit.trace.vector
            assert retriever is not None
            assert retriever.rank == (alone[hit.chunk_id].rank if hit.chunk_id in alone else None)
            if hit.chunk_id in alone:
                assert retriever.raw == alone[hit.chunk_id].score


def test_hits_come_best_first_and_quote_the_document(index: Index) -> None:
    result = index.search("commit", k=3)
    assert [hit.rank for hit in result.hits] == [1, 2, 3]
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)
    for hit in result.hits:
        assert index.document(hit.document).text[hit.start : hit.end] == hit.text


def test_an_exact_code_stands_above_its_parts(index: Index) -> None:
    for question in ("ERR-12345", "Fix for ERR-12345?"):
        assert index.search(question, mode="bm25").hits[0].source == "revert.md"


@pytest.mark.model
def test_an_exact_code_stands_above_what_looks_alike() -> None:
    with Index(":memory:") as index:
        for source, text in TEXTS.items():
            index.add(text, source=source)
        for question in ("ERR-12345", "Fix for ERR-12345?"):
            assert index.search(question).hits[0].source == "revert.md"
        assert index.search("how do I take a commit back").hits[0].source in {"reset.md", "revert.md"}


def test_a_question_about_a_code_leans_on_its_words(index: Index) -> None:
    def weight(question: str, settings: Mapping[str, object] | None = None) -> float:
        vector = index.search(question, settings=settings or {}).hits[0].trace.vector
        assert vector is not None
        return vector.weight

    assert weight("ERR-12345") == weight("what does ERR-12345 mean") == 0.3
    convex = {"fusion.method": "convex"}
    assert weight("why do branches that diverge end in conflicts such as ERR-12345", convex) == 0.6
    assert weight("12345 parents", convex) == weight("undo a commit", convex) == 0.6
    assert weight("ERR-12345", convex) == 0.6


def test_phrases_requirements_and_exclusions_hold_in_both_arms(index: Index) -> None:
    for mode in ("hybrid", "bm25", "vector"):
        assert {hit.source for hit in index.search('"soft reset" commit', mode=mode).hits} == {"reset.md"}
        assert "merge.md" not in {hit.source for hit in index.search("commit -parents", mode=mode).hits}
        assert {hit.source for hit in index.search("commit +branches", mode=mode).hits} == {"merge.md"}
    assert index.search('"never written anywhere"').hits == ()


def test_a_filter_acts_in_both_arms(index: Index) -> None:
    only = Condition("source", Operator.EQ, "merge.md")
    for mode in ("hybrid", "bm25", "vector"):
        assert {hit.source for hit in index.search("commit", mode=mode, filter=only).hits} == {"merge.md"}


def test_words_that_occur_nowhere_leave_the_order_to_meaning(index: Index) -> None:
    result = index.search("zyzzyva")
    assert [hit.chunk_id for hit in result.hits] == [
        hit.chunk_id for hit in index.search("zyzzyva", mode="vector").hits
    ]


@pytest.mark.parametrize(
    ("query", "k", "mode", "says"),
    [
        ("", 5, "hybrid", "empty"),
        ("   ", 5, "hybrid", "empty"),
        ("word", 0, "hybrid", "k must be"),
        ("word", 1001, "hybrid", "k must be"),
        ("word", 5, "psychic", "no mode"),
        ("w" * 40_000, 5, "hybrid", "characters"),
    ],
)
def test_bad_questions_are_refused_with_a_remedy(index: Index, query: str, k: int, mode: str, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says) as refused:
        index.search(query, k=k, mode=mode)
    assert refused.value.hint


def test_an_empty_index_finds_nothing() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        assert index.search("anything").hits == ()
        assert index.search("anything", mode="bm25").hits == ()


def test_a_failing_model_leaves_words_and_says_so() -> None:
    with Index(":memory:", embedder=BrokenEmbedder()) as index:
        index.add("some words", source="a")
        result = index.search("words")
        assert result.mode == "bm25"
        assert [hit.source for hit in result.hits] == ["a"]
        assert tuple(map(str, result.warnings)) == ("vector unavailable: the model is gone.",)
        assert index.search("words", mode="bm25").warnings == ()
        with pytest.raises(ModelError):
            index.search("words", mode="vector")


def test_another_embedder_is_refused_with_a_remedy(tmp_path: object) -> None:
    class Renamed(HashingEmbedder):
        @property
        def identity(self) -> EmbedderIdentity:
            return EmbedderIdentity("other", "1", 256)

    where = f"{tmp_path}/kb"
    with Index(where, embedder=HashingEmbedder()) as index:
        index.add("some words", source="a")
    with Index(where, embedder=Renamed()) as index:
        with pytest.raises(MismatchError, match="reindex"):
            index.search("words")
        assert index.search("words", mode="bm25").hits
        with pytest.raises(MismatchError, match="reindex"):
            index.add("more", source="b")
        index.reindex()
        assert index.search("words").hits
