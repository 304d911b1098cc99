"""Item 87: the calls that the five systems name exist, and do what they say, against a scripted model that counts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.fake_llm_server import Heard, Send, chatting, finished, piece
from support.indexes import GIT, Mute, indexed
from twofold import Index
from twofold.compat.aanae import match_chunks, run_simple_rag
from twofold.compat.knowledge_bases import KBManager
from twofold.compat.localgpt import HyDEGenerator, PerformanceTracker, QueryDecomposer, RetrievalPipeline
from twofold.compat.parts import BM25Retriever as WordRetriever
from twofold.compat.parts import DenseRetriever, HybridRetriever
from twofold.compat.voicevault import BM25Retriever
from twofold.domain.errors import InvalidInputError, ModelError
from twofold.models.embedders.hashing import HashingEmbedder

SAID = "Undo the last commit with git reset."
QUESTION = "How do I undo the last commit?"
CONFIG: dict[str, object] = {"ai_rerank": False, "answer.min_answerability": 0.0}


@pytest.fixture
def heard() -> list[Heard]:
    return []


@pytest.fixture
def model(heard: list[Heard]) -> Iterator[str]:
    def writing(asked: Heard, send: Send) -> None:
        heard.append(asked)
        send(piece(SAID) + finished())

    with chatting(writing) as address:
        yield f"{address}#m"


@pytest.fixture
def git() -> Iterator[Index]:
    with indexed(GIT) as index:
        yield index


def test_answer_stream_yields_the_pieces_and_tells_its_callback(git: Index, model: str, heard: list[Heard]) -> None:
    events: list[dict[str, object]] = []
    pipeline = RetrievalPipeline({"git": git}, {**CONFIG, "generation_model": model})
    text = "".join(pipeline.answer_stream(QUESTION, event_callback=events.append))

    assert text == f"{SAID} [1]"
    assert "".join(str(one["content"]) for one in events if one["type"] == "answer_chunk") == text
    assert [one["type"] for one in events][-1] == "done"
    assert len(heard) == 1
    assert "Undo the last commit with git reset." in heard[0].prompt


def test_answer_stream_over_several_indexes(git: Index, model: str, heard: list[Heard]) -> None:
    with indexed({"cats.md": "The cat undid the last knot."}) as cats:
        pipeline = RetrievalPipeline({"git": git, "cats": cats}, {**CONFIG, "generator": model})
        text = "".join(pipeline.answer_stream("undo the last", index_ids=["git", "cats"]))

    assert text.startswith(SAID)
    assert 'file="cats.md"' in heard[0].prompt
    assert 'file="reset.md"' in heard[0].prompt


def test_answer_stream_has_the_conversation_and_extracts_without_a_model(
    git: Index, model: str, heard: list[Heard]
) -> None:
    history = [{"role": "user", "content": "What is a commit?"}]
    asked = RetrievalPipeline({"git": git}, {**CONFIG, "generator": model})
    list(asked.answer_stream("and undo it?", conversation_history=history))
    extracts = "".join(RetrievalPipeline({"git": git}, CONFIG).answer_stream(QUESTION))

    assert "User: What is a commit?" in heard[0].prompt
    assert "git reset" in extracts


def test_where_the_search_fails_the_model_answers_alone_and_says_so(model: str) -> None:
    with indexed(GIT, embedder=Mute()) as index:
        pipeline = RetrievalPipeline({"git": index}, {**CONFIG, "search_type": "dense", "generator": model})
        text = "".join(pipeline.answer_stream(QUESTION))

    assert text.startswith("Document search is unavailable")
    assert text.endswith(SAID)


def test_get_cached_result_has_the_answer_and_asks_nobody(git: Index, model: str, heard: list[Heard]) -> None:
    pipeline = RetrievalPipeline({"git": git}, {**CONFIG, "generator": model})
    before = pipeline.get_cached_result(QUESTION)
    text = "".join(pipeline.answer_stream(QUESTION))
    kept = pipeline.get_cached_result("how do I undo the last commit")

    assert before is None
    assert kept is not None
    assert (kept["query"], kept["answer"]) == ("how do I undo the last commit", text)
    assert kept["source_documents"][0]["metadata"]["source"] == "reset.md"
    assert pipeline.get_cached_result("What is a stash?") is None
    assert len(heard) == 1


def test_cached_results_of_sessions_are_kept_apart(git: Index, model: str, heard: list[Heard]) -> None:
    pipeline = RetrievalPipeline({"git": git}, {**CONFIG, "generator": model, "cache_scope": "session"})
    for session in ("a", "a", "b"):
        list(pipeline.answer_stream(QUESTION, session_id=session))

    assert len(heard) == 2
    assert pipeline.get_cached_result(QUESTION, "a") is not None
    assert pipeline.get_cached_result(QUESTION, "c") is None
    assert len(heard) == 2


def test_a_cache_that_is_off_keeps_nothing(git: Index, model: str, heard: list[Heard]) -> None:
    pipeline = RetrievalPipeline({"git": git}, {**CONFIG, "generator": model, "cache_enabled": False})
    for _ in range(2):
        list(pipeline.answer_stream(QUESTION))

    assert len(heard) == 2
    assert pipeline.get_cached_result(QUESTION) is None


def test_recovery_says_whether_meaning_can_be_had_and_falls_back_to_words(git: Index) -> None:
    assert RetrievalPipeline({"git": git}, CONFIG).recover_from_embedding_failure(QUESTION)
    with indexed(GIT, embedder=Mute()) as index:
        pipeline = RetrievalPipeline({"git": index}, {**CONFIG, "search_type": "dense"})
        with pytest.raises(ModelError):
            pipeline.retrieve(QUESTION)
        with pytest.warns(RuntimeWarning, match="Searching with BM25 only"):
            assert not pipeline.recover_from_embedding_failure(QUESTION)
        assert pipeline.retrieve(QUESTION)[0]["metadata"]["source"] == "reset.md"


def test_memory_and_queries_are_watched(git: Index) -> None:
    pipeline = RetrievalPipeline({"git": git}, {**CONFIG, "cache_enabled": False})
    with pipeline.track_query(QUESTION):
        pipeline.retrieve(QUESTION)
    with pytest.raises(InvalidInputError), pipeline.track_query(""):
        pipeline.retrieve("")
    held, figures = pipeline.monitor_memory_usage(), pipeline.performance.metrics

    assert held["memory_mb"] > 1.0
    assert held["warning"] == ""
    assert (figures["query_count"], figures["error_rate"]) == (2, 0.5)
    assert figures["avg_response_time"] > 0.0
    assert figures["embedding_time"] > 0.0
    assert figures["retrieval_time"] > 0.0
    assert set(figures) == {
        "query_count", "avg_response_time", "cache_hit_rate", "error_rate", "embedding_time", "retrieval_time",
        "reranking_time", "synthesis_time",
    }  # fmt: skip
    assert PerformanceTracker().metrics["query_count"] == 0


def test_the_decomposer_and_the_hypothetical_passage() -> None:
    replies = {"sub": "1. What is a merge?\n2. What is a rebase?", "passage": "Passage: Reset undoes a commit."}

    def writing(asked: Heard, send: Send) -> None:
        told = asked.body["messages"][0]["content"]
        send(piece(replies["passage" if "hypothetical" in told else "sub"]) + finished())

    with chatting(writing) as address:
        decomposer, hyde = QueryDecomposer(f"{address}#m"), HyDEGenerator(f"{address}#m")
        assert decomposer.decompose_query("merge or rebase?") == ["What is a merge?", "What is a rebase?"]
        assert hyde.generate_hypothetical_doc("undo?") == "Reset undoes a commit."
        decomposer.close()
        hyde.close()
    with pytest.raises(InvalidInputError):
        QueryDecomposer("none")


def test_retrievers_by_their_names(git: Index) -> None:
    for kind in (WordRetriever, DenseRetriever, HybridRetriever):
        assert kind(git).search("undo the last commit", k=1)[0]["metadata"]["source"] == "reset.md"


def test_knowledge_bases_are_filled_and_their_retrievers_reloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path / "home"))
    (tmp_path / "kiln.md").write_text("The kiln is hot.")
    with KBManager(HashingEmbedder()) as manager:
        assert manager.list_kbs() == []
        words = BM25Retriever("kilns")
        manager.register(words)
        assert words.search("kiln") == []
        report = manager.ingest("kilns", tmp_path / "kiln.md")
        assert report.added
        assert manager.list_kbs() == ["kilns"]
        monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
        assert [Path(one.source_file).name for one in words.search("kiln")] == ["kiln.md"]
        with manager.retriever(settings={"rerank.model": "none"}) as retriever:
            assert [one.kb_name for one in retriever.retrieve("kiln")] == ["kilns"]
        words.close()
        manager.delete("kilns")
        assert manager.list_kbs() == []


def test_aanae_matches_chunks_and_answers(model: str, heard: list[Heard]) -> None:
    settings = {"search.default_filter": "()", "answer.min_answerability": 0.0, "rerank.model": "none"}
    with indexed(GIT) as index:
        matched = match_chunks(index, "undo the last commit", 1, settings=settings)
        made = run_simple_rag(index, "undo the last commit", top_n=2, llm=model, settings=settings)

    assert len(matched) == 5
    for one in matched:
        assert one["hybrid_score"] == pytest.approx(one["dense_score"] + 0.35 * one["sparse_score"])
    assert made["answer"] == f"{SAID} [1]"
    assert len(made["chunks"]) == 2
    assert made["context"] == "\n\n".join(one["chunk_text"] for one in made["chunks"])
    assert f"<passages>\n{made['context']}\n</passages>" in heard[0].prompt
