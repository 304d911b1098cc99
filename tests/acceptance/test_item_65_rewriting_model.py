"""Item 65: two language models, a small one that rewords questions and a larger one that writes the answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.api_client import fill, visiting
from support.fake_llm_server import Heard, Send, chatting, finished, piece
from twofold import Index
from twofold.config.load import grouped, resolve
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.history import Turn

QUESTION = "How do I undo the last commit?"
SMALL = "qwen3:0.6b"
LARGE = "qwen3:8b"
ANSWER = "Reset softly to undo the last commit. [1]"


@dataclass(frozen=True)
class Models:
    """Two models behind one address, and the prompts that each was given."""

    address: str
    prompts: dict[str, list[str]]

    def spec(self, name: str) -> str:
        return f"{self.address}#{name}"


@pytest.fixture
def models() -> Iterator[Models]:
    prompts: dict[str, list[str]] = {SMALL: [], LARGE: []}

    def reply(heard: Heard, send: Send) -> None:
        prompts[heard.body["model"]].append(heard.prompt)
        send(piece("revert a commit" if heard.body["model"] == SMALL else ANSWER) + finished())

    with chatting(reply) as address:
        yield Models(address, prompts)


def notes(settings: dict[str, object]) -> Index:
    index = Index(":memory:", embedder=HashingEmbedder(), overrides={"answer.min_answerability": 0, **settings})
    index.add("To undo the last commit but keep your changes, reset softly.", source="git.txt")
    return index


@pytest.mark.parametrize(
    "rewording",
    [
        {"query_expansion.multi_query": 2},
        {"query_expansion.hyde": True},
        {"query_expansion.decompose": True},
        {"query_expansion.keywords": 3},
        {"query.follow_up": "standalone"},
    ],
    ids=lambda one: next(iter(one)),
)
def test_the_small_model_rewords_and_the_large_one_answers(models: Models, rewording: dict[str, object]) -> None:
    said = grouped({"generator": models.spec(LARGE), "query_expansion.generator": models.spec(SMALL), **rewording})
    history = [Turn("user", "What is git?"), Turn("assistant", "A version control system.")]

    with notes(said) as index:
        answer = index.ask(QUESTION, history=history)

    assert (answer.mode, answer.text) == ("generated", ANSWER)
    assert len(models.prompts[SMALL]) == 1
    assert len(models.prompts[LARGE]) == 1
    assert "reset softly" in models.prompts[LARGE][0]
    assert "reset softly" not in models.prompts[SMALL][0]


def test_without_a_second_model_the_first_does_both(models: Models) -> None:
    with notes({"generator": models.spec(LARGE), "query_expansion": {"multi_query": 2}}) as index:
        assert index.ask(QUESTION).text == ANSWER

    assert [len(models.prompts[name]) for name in (SMALL, LARGE)] == [0, 2]


def test_a_search_that_answers_nothing_needs_the_small_model_alone(models: Models) -> None:
    with notes({"query_expansion": {"generator": models.spec(SMALL), "multi_query": 2}}) as index:
        found = index.search(QUESTION)

    assert found.queries == (QUESTION, "revert a commit")
    assert found.warnings == ()
    assert [len(models.prompts[name]) for name in (SMALL, LARGE)] == [1, 0]


def test_an_answer_that_is_remembered_is_of_the_same_rewording_model(models: Models) -> None:
    said = {"cache": {"size": 10}, "query_expansion": {"generator": models.spec(SMALL), "multi_query": 2}}
    with notes(said) as index:
        first = index.search(QUESTION)
        other = index.search(QUESTION, settings={"query_expansion": {"generator": models.spec(LARGE)}})
        again = index.search(QUESTION)

    assert (first.cache.hit, other.cache.hit) == (False, False)
    assert first.queries != other.queries
    assert again.cache.hit


def test_a_server_has_both(models: Models, tmp_path: Path) -> None:
    fill(tmp_path)
    small = {"query_expansion": {"generator": models.spec(SMALL), "multi_query": 2}}
    said = {"generator": models.spec(LARGE), "answer.min_answerability": 0, **small}

    with visiting(tmp_path, said=said) as visit:
        asked = {"query": QUESTION, "stream": False}
        answer = visit.client.post("/v1/indexes/notes/ask", json=asked).json()

    assert answer["text"] == ANSWER
    assert [len(models.prompts[name]) for name in (SMALL, LARGE)] == [1, 1]


def test_it_is_named_by_the_user_alone(models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "twofold.yaml").write_text(f"query_expansion: {{generator: '{models.spec(SMALL)}', multi_query: 2}}\n")
    monkeypatch.chdir(tmp_path)

    found = resolve()

    assert [one.key for one in found.ignored] == ["query_expansion"]
    assert found.settings.query_expansion.generator == ""
