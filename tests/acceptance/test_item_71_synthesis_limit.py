"""Checklist 71: an answer may take 120 s; whatever becomes of the model, the passages are there, and why."""

import time
from collections.abc import Callable

import pytest

from support.fake_llm_server import NEVER, Heard, Reply, Send, chatting, finished, piece
from twofold import Index
from twofold.answer.types import REFUSAL, Answer
from twofold.config.load import Settings, grouped
from twofold.domain.errors import ModelError
from twofold.models.embedders.hashing import HashingEmbedder

TEXT = "The tower is 330 metres tall. It stands in Paris."


def asked(reply: Reply, status: int = 200, **settings: object) -> Answer:
    values: dict[str, object] = {
        "answer.min_answerability": 0.0,
        **grouped({key.replace("__", "."): one for key, one in settings.items()}),
    }
    with Index(":memory:", embedder=HashingEmbedder()) as index, chatting(reply, status) as address:
        index.add(TEXT, source="tower.txt")
        return index.ask("How tall is the tower?", llm=f"{address}#m", settings=values)


def hanging(_: Heard, send: Send) -> None:
    while not NEVER.wait(0.02):
        send(b": wait\n\n")


def dripping(_: Heard, send: Send) -> None:
    for byte in piece("It is tall.") * 1_000:
        send(bytes([byte]))
        NEVER.wait(0.02)


def dying(_: Heard, send: Send) -> None:
    send(b": hello\n\n")
    raise ConnectionResetError


def rubbish(_: Heard, send: Send) -> None:
    send(b"data: {]]] \xff\xfe\n\n" * 3)


def empty(_: Heard, send: Send) -> None:
    send(finished())


def signs_alone(_: Heard, send: Send) -> None:
    send(piece("![](http://evil.example) [9] <img src=x> ") + finished())


def endless(_: Heard, send: Send) -> None:
    while True:
        send(piece("tall " * 100))


def test_the_limit_is_the_checklist_s() -> None:
    assert Settings().timeouts.generate == 120.0


@pytest.mark.parametrize("reply", [hanging, dripping, dying, rubbish, empty, signs_alone])
def test_a_model_that_gives_nothing_leaves_extracts_and_says_so(reply: Callable[[Heard, Send], None]) -> None:
    started = time.monotonic()
    answer = asked(reply, timeouts__generate=0.5)

    assert time.monotonic() - started < 30.0
    assert [one.source for one in answer.sources] == ["tower.txt"]
    assert answer.mode == "extractive"
    assert answer.citations[0].quote == "The tower is 330 metres tall."
    assert [one.stage for one in answer.warnings] == ["generate"]


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_server_that_refuses_does_too(status: int) -> None:
    answer = asked(empty, status, timeouts__generate=5.0)

    assert answer.mode == "extractive"
    assert str(status) in str(answer.warnings[0])


def test_what_was_written_before_it_broke_off_is_kept_and_checked() -> None:
    def breaking_off(_: Heard, send: Send) -> None:
        send(piece("The tower is 330 metres tall [1]. It was built in"))
        send(b"data: {]\n\n")

    answer = asked(breaking_off)

    assert answer.mode == "generated"
    assert answer.text == "The tower is 330 metres tall. [1] It was built in"
    assert [one.supported for one in answer.sentences] == [True, False]
    assert (answer.degraded, answer.warnings[0].stage, answer.warnings[0].code) == (True, "generate", "unavailable")


def test_a_model_that_never_ends_is_ended() -> None:
    answer = asked(endless, answer__reply={"tokens": 64})

    assert (answer.degraded, answer.warnings[0].stage, answer.warnings[0].code) == (True, "generate", "unavailable")
    assert len(answer.text) < 10_000
    assert answer.sources


def test_an_error_is_raised_where_that_is_asked_for() -> None:
    with pytest.raises(ModelError):
        asked(rubbish, search__on_failure="raise")


def test_nothing_is_said_where_that_is_asked_for() -> None:
    answer = asked(rubbish, search__on_failure="empty")

    assert answer.text == ""
    assert answer.sources
    assert answer.degraded


def test_a_verified_answer_that_broke_off_is_refused() -> None:
    def breaking_off(_: Heard, send: Send) -> None:
        send(piece("Dentists painted everything green. It was"))
        send(b"data: {]\n\n")

    answer = asked(breaking_off, answer__unsupported="refuse")

    assert answer.text == REFUSAL
    assert answer.refused
