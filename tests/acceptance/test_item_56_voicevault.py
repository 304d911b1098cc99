"""Checklist items 11, 19, 56, 66 and 73, end to end: HybridRetriever(kb_names), one retriever alone, ContextBuilder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.indexes import GIT, indexed
from twofold import Index
from twofold.compat.voicevault import (
    BM25Retriever,
    CitationInjector,
    ContextBuilder,
    HybridRetriever,
    RetrievalResult,
    VectorRetriever,
)
from twofold.domain.errors import InvalidInputError
from twofold.models.embedders.hashing import HashingEmbedder

NO_MODELS: dict[str, object] = {"rerank.model": "none", "query_expansion": {"multi_query": 0}}
REPORT = RetrievalResult(
    "report_chunk_0", "The model achieved 94.2% accuracy...", "report.pdf", 3, "Results", "papers", 0.9
)
METHODS = RetrievalResult("methods_chunk_4", "We used a 10,000 sample dataset...", "methods.pdf", 7, "Setup", "", 0.8)
BLOCKS = (
    "[Source: report.pdf, p.3 | Section: Results]\nThe model achieved 94.2% accuracy...\n\n"
    "[Source: methods.pdf, p.7 | Section: Setup]\nWe used a 10,000 sample dataset..."
)


@pytest.fixture
def both() -> Iterator[dict[str, Index]]:
    with indexed(GIT) as git, indexed({"cat.md": "The cat sat on the mat and looked at the last commit."}) as cats:
        yield {"git": git, "cats": cats}


def test_item_73_all_knowledge_bases_are_searched_at_once_and_fused_by_rank(both: dict[str, Index]) -> None:
    with HybridRetriever(both, NO_MODELS) as retriever:
        found = retriever.retrieve("undo the last commit")
        fusion = retriever.search("undo the last commit").fusion

    assert fusion == "rrf"
    assert 0 < len(found) <= 5
    assert {one.kb_name for one in found} == {"git", "cats"}
    assert found[0].source_file == "reset.md"
    assert all(one.rrf_score == pytest.approx(one.score) for one in found)
    assert found[0].bm25_score > 0.0
    assert found[0].rrf_score == pytest.approx(2 / 61)


def test_item_73_knowledge_bases_are_named(tmp_path: Path) -> None:
    for name in ("a", "b"):
        indexed({f"{name}.md": f"the text of {name}"}, {"embedder": "hashing"}, where=tmp_path / name).close()
    with HybridRetriever([str(tmp_path / "a"), str(tmp_path / "b")], NO_MODELS) as retriever:
        assert {one.source_file for one in retriever.retrieve("text")} == {"a.md", "b.md"}


def test_item_56_blocks_and_their_citations() -> None:
    context, citations = ContextBuilder().build([REPORT, METHODS])

    assert context == BLOCKS
    assert [(one.source, one.page, one.quote) for one in citations] == [
        ("report.pdf", 3, REPORT.text),
        ("methods.pdf", 7, METHODS.text),
    ]


def test_item_56_markers_lead_back_to_citations() -> None:
    injector = CitationInjector([REPORT, METHODS])
    cited = injector.citations("It works [Source: methods.pdf, p.7], well [1], see [Source: no.pdf, p.1] and [2].")

    assert [one.source for one in cited] == ["methods.pdf", "report.pdf"]


def test_item_66_the_last_five_turns_go_before() -> None:
    history = [{"role": "user" if n % 2 else "assistant", "content": f"turn {n}"} for n in range(1, 8)]
    context, _ = ContextBuilder().build([REPORT, METHODS], history)

    assert context == f"User: turn 3\nAssistant: turn 4\nUser: turn 5\nAssistant: turn 6\nUser: turn 7\n\n{BLOCKS}"
    with pytest.raises(InvalidInputError, match="role"):
        ContextBuilder().build([REPORT], [{"role": "system", "content": "obey"}])


def test_item_11_nothing_is_found_where_there_is_no_index_and_reload_finds_a_new_one(tmp_path: Path) -> None:
    retriever = BM25Retriever(tmp_path / "kb")
    assert retriever.search("commit") == []
    assert not retriever.reload()
    with Index(tmp_path / "kb", embedder=HashingEmbedder()) as index:
        index.add(GIT["reset.md"], source="reset.md")
        index.add(GIT["stash.md"], source="stash.md")
    assert retriever.reload()
    found = retriever.search("commit")

    assert [one.source_file for one in found] == ["reset.md"]
    assert found[0].bm25_score > 0.0
    retriever.close()


def test_item_19_vector_scores_lie_between_0_and_1(both: dict[str, Index]) -> None:
    found = VectorRetriever(both["git"]).search("undo the last commit")

    assert len(found) == len(GIT)
    assert all(0.0 <= one.vector_score <= 1.0 for one in found)
    assert [one.vector_score for one in found] == sorted((one.vector_score for one in found), reverse=True)
