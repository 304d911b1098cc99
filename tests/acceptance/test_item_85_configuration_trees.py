"""Checklist 85: the YAML tree, and its three examples of high precision, high recall and fast queries."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from twofold import Index, Settings
from twofold.cli.app import application
from twofold.models.embedders.hashing import HashingEmbedder

CROSS_ENCODER = "ms-marco-MiniLM-L-12-v2"

WHOLE_TREE = r"""
retrieval:
  top_k: 7
  hybrid_search: {enabled: true, semantic_weight: 0.6, keyword_weight: 0.4}
  domain_boost:
    enabled: true
    boost_multiplier: 2.5
    code_patterns: ["ERR-\\d{3,6}", "CASE-\\d+"]
  reranking:
    enabled: true
    model: cross-encoder/ms-marco-MiniLM-L-6-v2
    top_k_initial: 30
    top_k_final: 6
    relevance_threshold: 0.4
llm:
  max_context_tokens: 6000
  context_template: |
    Document {index}: {filename}

    {content}
"""
HIGH_PRECISION = """
retrieval:
  top_k: 3
  hybrid_search: {semantic_weight: 0.5, keyword_weight: 0.5}
  reranking: {enabled: true, top_k_final: 3, relevance_threshold: 0.5}
"""
HIGH_RECALL = """
retrieval:
  top_k: 10
  hybrid_search: {semantic_weight: 0.7, keyword_weight: 0.3}
  reranking: {enabled: false}
"""
FAST = """
retrieval:
  top_k: 5
  hybrid_search: {enabled: false}
  reranking: {enabled: false}
"""


@pytest.fixture(autouse=True)
def nothing_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TWOFOLD_EMBEDDER", "TWOFOLD_PROFILE"):
        monkeypatch.delenv(name, raising=False)


def read(folder: Path, text: str) -> Settings:
    """Return the settings in force of an index that is opened with such a file."""
    path = folder / "theirs.yaml"
    path.write_text(text)
    return of_an_index(config=path)


def of_an_index(**said: Any) -> Settings:  # noqa: ANN401  # arguments of an index
    with Index(":memory:", embedder=HashingEmbedder(), **said) as index:
        return index.settings


def shown(folder: Path, text: str) -> Any:  # noqa: ANN401  # JSON
    """Return what `config show` says of such a file."""
    path = folder / "theirs.yaml"
    path.write_text(text)
    words = ["--config", str(path), "config", "show", "--all", "--json"]
    done = CliRunner().invoke(application(), words, prog_name="twofold")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_high_precision(tmp_path: Path) -> None:
    settings = read(tmp_path, HIGH_PRECISION)

    assert (settings.profile, settings.search.k, settings.search.mode) == ("orchestrator", 3, "hybrid")
    assert (settings.fusion.method, settings.fusion.vector_weight) == ("weighted_sum", 0.5)
    assert (settings.rerank.model, settings.rerank.candidates, settings.rerank.top_n) == (CROSS_ENCODER, 20, 3)
    assert (settings.rerank.threshold, settings.rerank.weight) == (0.5, 1.0)


def test_high_recall(tmp_path: Path) -> None:
    settings = read(tmp_path, HIGH_RECALL)

    assert (settings.profile, settings.search.k, settings.search.mode) == ("orchestrator", 10, "hybrid")
    assert (settings.fusion.method, settings.fusion.vector_weight) == ("weighted_sum", 0.7)
    assert settings.rerank.model == "none"


def test_fast(tmp_path: Path) -> None:
    settings = read(tmp_path, FAST)

    assert (settings.profile, settings.search.k, settings.search.mode) == ("orchestrator", 5, "vector")
    assert settings.rerank.model == "none"


def test_the_whole_tree_and_where_each_value_came_from(tmp_path: Path) -> None:
    resolved = shown(tmp_path, WHOLE_TREE)

    path = tmp_path / "theirs.yaml"
    came = {row["key"]: (row["value"], row["origin"]) for row in resolved["settings"] if str(path) in row["origin"]}
    assert came == {
        "profile": ("orchestrator", f"{path}: retrieval"),
        "search.k": (7, f"{path}: retrieval.top_k"),
        "search.mode": ("hybrid", f"{path}: retrieval.hybrid_search.enabled"),
        "fusion.vector_weight": (0.6, f"{path}: retrieval.hybrid_search.semantic_weight"),
        "boost": (
            {"patterns": [r"ERR-\d{3,6}", r"CASE-\d+"], "multiplier": 2.5, "rules": {}, "stage": "fused"},
            f"{path}: retrieval.domain_boost.boost_multiplier, retrieval.domain_boost.code_patterns",
        ),
        "rerank.model": (CROSS_ENCODER, f"{path}: retrieval.reranking.model"),
        "rerank.candidates": (30, f"{path}: retrieval.reranking.top_k_initial"),
        "rerank.top_n": (6, f"{path}: retrieval.reranking.top_k_final"),
        "rerank.threshold": (0.4, f"{path}: retrieval.reranking.relevance_threshold"),
        "answer.context": (
            {"tokens": 6000, "characters": 0, "fit": "whole", "prune": 0.0},
            f"{path}: llm.max_context_tokens",
        ),
        "answer.template": ("Document {index}: {filename}\n\n{content}\n", f"{path}: llm.context_template"),
    }
    assert resolved["unused"] == []


def test_a_boost_that_is_off_has_no_patterns(tmp_path: Path) -> None:
    off = read(tmp_path, "retrieval: {domain_boost: {enabled: false, code_patterns: ['X-1']}}")
    on = read(tmp_path, "retrieval: {domain_boost: {enabled: true}}")

    assert off.boost.patterns == ()
    assert on.boost.patterns == (r"ERR-\d{3,6}", r"TICKET-\d+", r"v\d+\.\d+\.\d+")


def test_the_presets_are_profiles_of_ours_too() -> None:
    precise, recall, fast = (of_an_index(overrides={"profile": name}) for name in ("precise", "recall", "fast"))

    assert (precise.search.k, precise.fusion.vector_weight, precise.rerank.top_n) == (3, 0.5, 3)
    assert (precise.rerank.model, precise.rerank.threshold) == (CROSS_ENCODER, 0.5)
    assert (recall.search.k, recall.fusion.vector_weight, recall.rerank.model) == (10, 0.7, "none")
    assert (fast.search.k, fast.search.mode, fast.rerank.model) == (5, "vector", "none")
