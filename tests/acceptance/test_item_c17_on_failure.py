"""Contradiction C17, items 75 and 77: degraded, nothing, an error, or a bare model, which is never asked unasked."""

from collections.abc import Sequence

import pytest

from support.fake_llm_server import Heard, Send, chatting, finished, piece
from twofold import Index
from twofold.answer.generate import UNGROUNDED
from twofold.domain.errors import ModelError
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder

SEMANTIC: dict[str, object] = {"search.mode": "vector"}


class Failing(HashingEmbedder):
    """Embeds passages, and fails at questions."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        assert texts
        raise ModelError("the model is gone.", "Bring it back.")


def broken() -> Index:
    index = Index(":memory:", embedder=Failing())
    index.add("The tower is 330 metres tall. It stands in Paris.", source="tower.txt")
    return index


def knowing(_: Heard, send: Send) -> None:
    send(piece("I believe it is 330 metres tall [1]. See http://evil.example.") + finished())


def test_degrade_raises_where_the_search_has_nothing_to_fall_back_on() -> None:
    with broken() as index, chatting(knowing) as address, pytest.raises(ModelError):
        index.ask("How tall?", llm=f"{address}#m", settings=SEMANTIC)


def test_empty_answers_nothing_and_says_why() -> None:
    with broken() as index:
        answer = index.ask("How tall?", settings={**SEMANTIC, "search.on_failure": "empty"})

    assert (answer.text, answer.sources, answer.citations) == ("", (), ())
    assert tuple(map(str, answer.warnings)) == (
        "vector unavailable: the model is gone.",
        "retrieval empty: no retriever was left to search with.",
    )


def test_a_bare_model_answers_only_where_that_was_asked_for_and_says_so_first() -> None:
    with broken() as index, chatting(knowing) as address:
        answer = index.ask("How tall?", llm=f"{address}#m", settings={**SEMANTIC, "search.on_failure": "llm"})

    assert answer.mode == "ungrounded"
    assert answer.text.startswith(f"{UNGROUNDED}\n\nI believe it is 330 metres tall.")
    assert "[1]" not in answer.text
    assert "evil.example" not in answer.text
    assert answer.citations == ()
    assert tuple(map(str, answer.warnings)) == ("search unavailable: the model is gone.",)


def test_without_a_model_there_is_none_to_ask() -> None:
    with broken() as index, pytest.raises(ModelError):
        index.ask("How tall?", settings={**SEMANTIC, "search.on_failure": "llm"})


def test_one_failing_arm_degrades_the_search_and_the_answer_stands() -> None:
    with broken() as index:
        answer = index.ask("How tall is the tower?", settings={"answer.min_answerability": 0.0})

    assert answer.citations[0].quote == "The tower is 330 metres tall."
    assert any("model is gone" in note for note in map(str, answer.warnings))
