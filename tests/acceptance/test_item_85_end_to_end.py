"""Checklist 85, 86, C4, C5, C6, C7: a YAML file of another system in the folder searches as it says."""

from pathlib import Path

import pytest

from support.indexes import indexed, sources
from support.scripted_reranker import Dictated
from twofold.search.result import SearchResult

TEXTS = {
    "a.md": "The fix for ERR-12345 is a restart of the service.",
    "b.md": "A restart of the service is no fix for anything but time, says the fix list of the service.",
    "c.md": "Gardens of roses and other flowers.",
}
TREE = r"""
retrieval:
  top_k: 2
  hybrid_search: {enabled: true, semantic_weight: 0.6, keyword_weight: 0.4}
  domain_boost: {enabled: true, boost_multiplier: 1.5, code_patterns: ["ERR-\\d{3,6}"]}
  reranking: {enabled: true, top_k_initial: 20, top_k_final: 5, relevance_threshold: 0.3}
"""
HIGH_RECALL = """
retrieval:
  top_k: 10
  hybrid_search: {semantic_weight: 0.7, keyword_weight: 0.3}
  reranking: {enabled: false}
"""
FLAGS = "searchType: fts\nretrievalK: 10\ncontextWindowSize: 5\naiRerank: false\n"


def searched(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, reader: Dictated | None = None) -> SearchResult:
    (folder / "twofold.yaml").write_text(text)
    monkeypatch.chdir(folder)
    return indexed(TEXTS).search("fix for ERR-12345", rerank=reader)


def test_item_85_the_tree_searches_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Dictated({"ERR-12345": 0.4, "fix list": 0.9, "roses": 0.1})
    result = searched(tmp_path, monkeypatch, TREE, reader)

    assert (result.profile, result.fusion) == ("orchestrator", "weighted_sum")
    assert sources(result) == ["b.md", "a.md"]
    assert result.rerank is not None
    assert (result.rerank.dropped, result.rerank.weight) == (1, 1.0)
    lifted = result.hits[1].trace
    assert [step.stage for step in lifted.steps] == ["boost_fused", "rerank"]
    assert [retriever.weight for retriever in lifted.retrievers] == pytest.approx(
        [0.4, 0.6]
    )  # keyword_weight, semantic_weight


def test_item_85_high_recall_weighs_and_does_not_rerank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = searched(tmp_path, monkeypatch, HIGH_RECALL)

    assert result.rerank is None
    assert len(result.hits) == 3


def test_item_86_flags_search_by_words_with_five_neighbors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = searched(tmp_path, monkeypatch, FLAGS)

    assert (result.mode, result.profile) == ("bm25", "localgpt-ui")
    assert all(hit.joined is not None for hit in result.hits)


@pytest.mark.parametrize(("norm", "value"), [("max", 1.0), ("minmax", 1.0), ("none", None)])
def test_c5_a_single_hit_is_never_nothing(norm: str, value: float | None) -> None:
    index = indexed({"only.md": "zebra", "other.md": "horse"})
    settings = {"fusion.method": "linear", "fusion.parameters": {"bm25_norm": norm}}
    hit = index.search("zebra", settings=settings).hits[0]

    assert hit.source == "only.md"
    assert hit.trace.bm25 is not None
    assert hit.trace.bm25.raw is not None
    assert hit.trace.bm25.normalized == (hit.trace.bm25.raw if value is None else value) > 0.0


def test_c6_a_cosine_stays_as_it_is_and_bm25_is_divided_by_its_best() -> None:
    result = indexed(TEXTS).search("fix service", profile="modes")
    best = max(hit.trace.bm25.raw or 0.0 for hit in result.hits if hit.trace.bm25 is not None)

    for hit in result.hits:
        assert hit.trace.bm25 is not None
        assert hit.trace.vector is not None
        assert hit.trace.bm25.raw is not None
        assert hit.trace.vector.raw is not None
        assert hit.trace.bm25.normalized == pytest.approx(hit.trace.bm25.raw / best)
        assert hit.trace.vector.normalized == max(0.0, hit.trace.vector.raw)
        assert hit.trace.bm25.weight == hit.trace.vector.weight == 0.5
