"""Checklist 86 (with 53, 68, 71): the flags of a screen, and the maps RETRIEVAL_, MODEL_ and PERFORMANCE_CONFIG."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from twofold import Index, Settings
from twofold.cli.app import application
from twofold.models.embedders.hashing import HashingEmbedder

CROSS_ENCODER = "ms-marco-MiniLM-L-12-v2"
FLAGS = {
    "searchType": "fts",
    "retrievalK": 10,
    "contextWindowSize": 5,
    "rerankerTopK": 20,
    "denseWeight": 0.5,
    "aiRerank": False,
    "verify": False,
}
MAPS: dict[str, dict[str, object]] = {
    "RETRIEVAL_CONFIG": {
        "retriever": "multivector",
        "search_type": "hybrid",
        "retrieval_k": 20,
        "reranker_top_k": 10,
        "dense_weight": 0.7,
        "late_chunking": {"enabled": True, "window_size": 5},
        "ai_rerank": True,
        "verify_answers": False,
        "cache_enabled": True,
        "cache_ttl": 300,
        "semantic_cache_threshold": 0.98,
    },
    "MODEL_CONFIG": {
        "embedding_model": "Qwen/Qwen3-Embedding-0.6B",
        "generation_model": "qwen3:8b",
        "enrichment_model": "qwen3:0.6b",
        "reranker_model": "answerdotai/answerai-colbert-small-v1",
        "fallback_reranker": "BAAI/bge-reranker-base",
    },
    "PERFORMANCE_CONFIG": {
        "batch_sizes": {"embedding": 32, "reranking": 16, "synthesis": 1},
        "timeouts": {"embedding": 30, "retrieval": 60, "reranking": 30, "synthesis": 120},
        "memory_limits": {"max_cache_size": 1000, "max_results_per_query": 100, "chunk_size_limit": 2048},
    },
}


@pytest.fixture(autouse=True)
def nothing_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TWOFOLD_EMBEDDER", "TWOFOLD_PROFILE"):
        monkeypatch.delenv(name, raising=False)


def read(folder: Path, content: object) -> Settings:
    """Return the settings in force of an index that is opened with such a file."""
    path = folder / "theirs.yaml"
    path.write_text(yaml.safe_dump(content))
    return of_an_index(config=path)


def of_an_index(**said: Any) -> Settings:  # noqa: ANN401  # arguments of an index
    with Index(":memory:", embedder=HashingEmbedder(), **said) as index:
        return index.settings


def unused(folder: Path, content: object) -> list[str]:
    """Return what `config show` says has no counterpart here."""
    path = folder / "theirs.yaml"
    path.write_text(yaml.safe_dump(content))
    words = ["--config", str(path), "config", "show", "--json"]
    done = CliRunner().invoke(application(), words, prog_name="twofold")
    assert done.exit_code == 0, done.output
    found: list[str] = json.loads(done.stdout)["unused"]
    return found


def test_the_flags_at_their_defaults_are_the_profile_of_the_screen(tmp_path: Path) -> None:
    assert read(tmp_path, FLAGS) == of_an_index(overrides={"profile": "localgpt-ui"})
    assert unused(tmp_path, FLAGS) == []


def test_each_flag_has_its_setting(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        {"searchType": "dense", "retrievalK": 33, "contextWindowSize": 2, "rerankerTopK": 15, "denseWeight": 0.9,
         "aiRerank": True},
    )  # fmt: skip

    assert (settings.search.mode, settings.search.candidates, settings.search.context_window) == ("vector", "33", 2)
    assert (settings.rerank.candidates, settings.rerank.model) == (15, CROSS_ENCODER)
    assert settings.fusion.vector_weight == 0.9


def test_the_maps_as_they_stand(tmp_path: Path) -> None:
    settings = read(tmp_path, MAPS)

    assert (settings.profile, settings.search.mode, settings.search.candidates) == ("localgpt", "hybrid", "20")
    assert (settings.search.k, settings.search.context_window) == (10, 5)
    assert (settings.fusion.method, settings.fusion.vector_weight) == ("linear", 0.7)
    assert (settings.rerank.model, settings.rerank.fallback) == (CROSS_ENCODER, CROSS_ENCODER)
    assert (settings.rerank.top_n, settings.rerank.candidates, settings.rerank.weight) == (10, 20, 1.0)
    assert (settings.batch.embed, settings.batch.rerank, settings.search.max_results) == (32, 16, 100)
    assert (settings.cache.size, settings.cache.ttl_seconds, settings.cache.semantic_threshold) == (1000, 300.0, 0.98)
    timeouts = settings.timeouts
    assert (timeouts.embed, timeouts.retrieve) == (30.0, 60.0)
    assert (timeouts.rerank, timeouts.generate) == (30.0, 120.0)


def test_what_the_maps_say_in_vain_is_named(tmp_path: Path) -> None:
    names = {name.partition(" ")[0] for name in unused(tmp_path, MAPS)}

    assert names == {
        "RETRIEVAL_CONFIG.retriever",
        "MODEL_CONFIG.embedding_model",
        "MODEL_CONFIG.generation_model",
        "MODEL_CONFIG.enrichment_model",
        "PERFORMANCE_CONFIG.batch_sizes.synthesis",
        "PERFORMANCE_CONFIG.memory_limits.chunk_size_limit",
    }


def test_switches_that_are_off_leave_their_parts_out(tmp_path: Path) -> None:
    off = {"ai_rerank": False, "cache_enabled": False, "late_chunking": {"enabled": False, "window_size": 5}}
    settings = read(tmp_path, {**MAPS, "RETRIEVAL_CONFIG": {**MAPS["RETRIEVAL_CONFIG"], **off}})

    assert (settings.rerank.model, settings.cache.size, settings.search.context_window) == ("none", 0, 0)
