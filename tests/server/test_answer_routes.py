"""Answers over HTTP: events in their order, whatever becomes of the model or of the client."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.api_client import TEXTS, Visit, fill, visiting
from support.fake_llm_server import NEVER, Heard, Reply, Send, chatting, finished, piece, saying
from twofold.server.auth import Action, Scope
from twofold.server.limits import DEFAULT_LIMITS

READER = Scope(Action.READ)
ASK = "/v1/indexes/notes/ask"
TOWER = {"query": "When was the Eiffel tower finished?"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("answered")
    fill(home)
    return home


@pytest.fixture(scope="module")
def visit(filled: Path) -> Iterator[Visit]:
    with visiting(filled, said={"answer.min_answerability": 0.0}) as one:
        yield one


def ask(model: str) -> dict[str, object]:
    """Settings by which a model at that address writes."""
    return {"generator": f"{model}#test", "answer.min_answerability": 0.0, "offline": False}


def events_of(text: str) -> list[tuple[str, Any]]:
    """Read server-sent events: each one's name and data."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def test_a_request_says_how_much_effort_its_answer_is_worth(visit: Visit) -> None:
    """Without a cross-encoder there is no further search, and the answer says so."""
    low, high = (visit.client.post(ASK, json={**TOWER, "stream": False, "effort": one}) for one in ("low", "high"))
    wrong = visit.client.post(ASK, json={**TOWER, "effort": "most"})

    assert [one["stage"] for one in low.json()["warnings"]] == []
    assert [one["stage"] for one in high.json()["warnings"]] == ["search_again"]
    assert wrong.status_code == 422


def test_an_answer_comes_as_events_the_passages_first(visit: Visit) -> None:
    given = visit.client.post(ASK, json=TOWER)

    events = events_of(given.text)
    names = [name for name, _ in events]
    answer = events[-1][1]["answer"]
    assert given.headers["content-type"].startswith("text/event-stream")
    assert names.index("sources") < names.index("answer_chunk") < len(names) - 1
    assert names[-1] == "done"
    assert "".join(data["content"] for name, data in events if name == "answer_chunk") == answer["text"]
    assert "1889" in answer["text"]


def test_every_citation_is_verbatim_in_its_document(visit: Visit) -> None:
    answer = visit.client.post(ASK, json={**TOWER, "stream": False}).json()

    assert answer["citations"]
    for citation in answer["citations"]:
        text = visit.client.get(f"/v1/indexes/notes/documents/{citation['document']}/content").text
        assert text[citation["start"] : citation["end"]] == citation["quote"]


def test_what_cannot_be_asked_is_a_problem_and_no_stream(visit: Visit) -> None:
    assert visit.client.post("/v1/indexes/gone/ask", json=TOWER).status_code == 404
    assert visit.client.post(ASK, json={**TOWER, "settings": {"generator": "openai/x"}}).status_code == 400
    assert visit.client.post(ASK, json={"query": ""}).status_code == 422


def test_a_conversation_is_kept_apart_by_who_asks(filled: Path) -> None:
    with visiting(filled, said={"answer.min_answerability": 0.0}) as visit:
        one, other = (
            {"Authorization": f"Bearer {visit.tokens.create(name, [scope])[1]}"}
            for name, scope in (("ada", READER), ("eve", READER))
        )
        visit.client.post(ASK, json={**TOWER, "session": "s", "stream": False}, headers=one)
        kept = sorted(filled.rglob("sessions/*/*.jsonl"))
        visit.client.post(ASK, json={**TOWER, "session": "s", "stream": False}, headers=other)
        now = sorted(filled.rglob("sessions/*/*.jsonl"))
        visit.client.post(ASK, json={**TOWER, "stream": False}, headers=other)
        (filled / "tokens.json").unlink()

    assert len(now) == len(kept) + 1
    assert sorted(filled.rglob("sessions/*/*.jsonl")) == now


def hanging(_: Heard, send: Send) -> None:
    """Say nothing for as long as somebody listens."""
    while True:
        NEVER.wait(0.05)
        send(b": waiting\n\n")


def dripping(_: Heard, send: Send) -> None:
    """Send a byte now and then, and never a whole event."""
    for byte in b"data: " + b"x" * 10_000:
        NEVER.wait(0.02)
        send(bytes([byte]))


def broken(_: Heard, send: Send) -> None:
    send(b"data: {not json\n\n")


def endless(_: Heard, send: Send) -> None:
    while True:
        send(piece("more and more "))


@pytest.mark.parametrize(
    ("reply", "status"),
    [(hanging, 200), (dripping, 200), (broken, 200), (endless, 200), (saying(lambda _: ""), 500)],
    ids=["hangs", "drips", "broken", "endless", "fails"],
)
def test_the_passages_are_given_whatever_becomes_of_the_model(filled: Path, reply: Reply, status: int) -> None:
    with chatting(reply, status) as model:
        said = {
            "generator": f"{model}#test",
            "answer.min_answerability": 0.0,
            "timeouts": {"generate": 1.0},
            "offline": False,
        }
        with visiting(filled, said=said) as visit:
            events = events_of(visit.client.post(ASK, json=TOWER).text)

    named = dict(events)
    assert events[-1][0] in {"done", "error"}
    assert {source["source"] for source in named["sources"]["sources"]} <= TEXTS.keys()
    if events[-1][0] == "done":
        assert events[-1][1]["answer"]["degraded"] or events[-1][1]["answer"]["text"]


def test_a_model_writes_and_its_citations_are_checked(filled: Path) -> None:
    reply = saying(lambda _: "The Eiffel tower was finished in 1889 [1]. Forged [9].")
    with chatting(reply) as model:
        said = ask(model)
        with visiting(filled, said=said) as visit:
            answer = visit.client.post(ASK, json={**TOWER, "stream": False}).json()
            extracts = visit.client.post(ASK, json={**TOWER, "stream": False, "mode": "extractive"}).json()

    assert answer["mode"] == "generated"
    assert "[9]" not in answer["text"]
    assert extracts["mode"] == "extractive"


def test_a_client_that_goes_stops_the_model(filled: Path) -> None:
    reached, stopped = threading.Event(), threading.Event()

    def listened(_: Heard, send: Send) -> None:
        try:
            for _number in range(10_000):
                send(piece("word "))
                reached.set()
                NEVER.wait(0.01)
        except OSError:
            stopped.set()
            raise

    with chatting(listened) as model:
        said = ask(model)
        with visiting(filled, said=said) as visit:
            with visit.client.stream("POST", ASK, json=TOWER) as events:
                lines = events.iter_lines()
                next(lines)
                assert reached.wait(60.0)
            assert stopped.wait(60.0)
            after = visit.client.post(ASK, json={**TOWER, "mode": "extractive"})

    assert after.status_code == 200


def test_no_more_answers_are_written_at_once_than_may_be(filled: Path) -> None:
    limits = replace(DEFAULT_LIMITS, streams=1)
    with chatting(hanging) as model:
        said = ask(model)
        with visiting(filled, limits, said=said) as visit, visit.client.stream("POST", ASK, json=TOWER) as events:
            lines = events.iter_lines()
            next(lines)
            second = visit.client.post(ASK, json=TOWER)

    assert second.status_code == 429
    assert int(second.headers["retry-after"]) >= 1


def test_revoking_a_token_ends_nothing_of_another_one(tmp_path: Path) -> None:
    fill(tmp_path)
    begun, go_on = threading.Event(), threading.Event()

    def reply(_: Heard, send: Send) -> None:
        send(piece("It was finished "))
        begun.set()
        go_on.wait(60.0)
        send(piece("in 1889 [1]."))
        send(finished())

    with chatting(reply) as model, visiting(tmp_path, said=ask(model)) as visit:
        mine = visit.as_bearer("read")
        theirs, other = visit.as_bearer("read"), visit.tokens.records()[-1]
        with visit.client.stream("POST", ASK, json={**TOWER, "session": "s"}, headers=mine) as events:
            assert begun.wait(60.0)
            visit.tokens.revoke(other.id)
            refused = visit.client.post(ASK, json=TOWER, headers=theirs).status_code
            go_on.set()
            told = events_of(events.read().decode())
        after = visit.client.post(ASK, json={**TOWER, "stream": False, "session": "s"}, headers=mine)

    assert refused == 401
    assert told[-1][0] == "done"
    assert "1889" in told[-1][1]["answer"]["text"]
    assert after.status_code == 200


def test_a_stream_ends_when_the_server_does(filled: Path) -> None:
    with chatting(hanging) as model:
        said = ask(model)
        with visiting(filled, said=said) as visit, visit.client.stream("POST", ASK, json=TOWER) as events:
            lines = events.iter_lines()
            next(lines)
            visit.server.should_exit = True
            rest = list(lines)

    assert any("closing" in line for line in rest)


def test_a_stream_does_not_last_for_ever(filled: Path) -> None:
    limits = replace(DEFAULT_LIMITS, stream_seconds=0.5)
    with chatting(hanging) as model:
        said = ask(model)
        with visiting(filled, limits, said=said) as visit:
            events = events_of(visit.client.post(ASK, json=TOWER).text)
            whole = visit.client.post(ASK, json={**TOWER, "stream": False})

    assert events[-1][0] == "error"
    assert events[-1][1]["problem"]["type"] == "stream-too-long"
    assert whole.status_code == 504
