"""What one token says is no other token's business, whatever they are called; and none keeps things without end."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from support.api_client import Visit, fill, visiting
from support.fake_llm_server import Heard, Send, chatting, finished, piece
from twofold.server.auth import parse_scope
from twofold.server.limits import DEFAULT_LIMITS

ASK = "/v1/indexes/notes/ask"
CANARY = "the canary zebra"


@pytest.fixture
def prompts() -> list[str]:
    return []


@pytest.fixture
def visit(tmp_path: Path, prompts: list[str]) -> Iterator[Visit]:
    """A server whose model's prompts can be looked at."""

    def reply(heard: Heard, send: Send) -> None:
        prompts.append("\n".join(message["content"] for message in heard.body["messages"]))
        send(piece("It was finished in 1889 [1]."))
        send(finished())

    fill(tmp_path)
    limits = replace(DEFAULT_LIMITS, conversations=2, feedback_records=2)
    with chatting(reply) as model:
        said = {"generator": f"{model}#test", "answer.min_answerability": 0.0, "offline": False}
        with visiting(tmp_path, limits, said=said) as one:
            yield one


def bearer(visit: Visit, name: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {visit.tokens.create(name, [parse_scope('read')])[1]}"}


def ask(visit: Visit, headers: Mapping[str, str], session: str, more: str = "") -> int:
    body = {"query": f"When was the Eiffel tower finished? {more}", "session": session, "stream": False}
    return visit.client.post(ASK, json=body, headers=headers).status_code


@pytest.mark.parametrize(
    ("names", "sessions"), [(("t", "t"), ("s1", "s1")), (("t", "t/x"), ("x/s2", "s2")), (("t/x", "t"), ("s2", "x/s2"))]
)
def test_no_token_is_told_what_another_one_said(
    visit: Visit, prompts: list[str], names: tuple[str, str], sessions: tuple[str, str]
) -> None:
    first, second = (bearer(visit, name) for name in names)

    statuses = [ask(visit, first, sessions[0], CANARY), ask(visit, second, sessions[1]), ask(visit, first, sessions[0])]

    assert statuses == [200, 200, 200]
    assert [CANARY in prompt for prompt in prompts] == [True, False, True]


def test_a_token_keeps_so_many_conversations_and_may_delete_its_own(visit: Visit, prompts: list[str]) -> None:
    first, second = bearer(visit, "a"), bearer(visit, "b")

    begun = [ask(visit, first, session) for session in ("one", "two/2", "one", "three")]
    body = {"query": "When was the Eiffel tower finished?", "session": "one", "stream": False}
    named = visit.client.post(ASK, json=body, headers=first).json()["session"]
    others = ask(visit, second, "three")
    of_another = visit.client.delete("/v1/indexes/notes/sessions/two/2", headers=second).status_code
    still_full = ask(visit, first, "three")
    of_its_own = visit.client.delete("/v1/indexes/notes/sessions/two/2", headers=first).status_code
    after = ask(visit, first, "three"), ask(visit, first, "two/2")

    assert begun == [200, 200, 200, 429]
    assert (others, of_another, still_full, of_its_own) == (200, 204, 429, 204)
    assert after == (200, 429)
    assert len(prompts) == 6
    assert named == "one"


def test_a_token_gives_so_much_feedback_on_an_index(visit: Visit) -> None:
    first, second = bearer(visit, "a"), bearer(visit, "b")
    body = {"query": "When?", "rating": 1, "comment": "x" * 4_000}

    given = [visit.client.post("/v1/indexes/notes/feedback", json=body, headers=first) for _ in range(3)]
    others = visit.client.post("/v1/indexes/notes/feedback", json=body, headers=second)

    assert [one.status_code for one in given] == [201, 201, 429]
    assert given[-1].json()["type"] == "feedback-limit"
    assert given[-1].json()["hint"]
    assert others.status_code == 201


def test_a_new_index_of_the_same_name_knows_nothing_of_the_old_ones_jobs(visit: Visit) -> None:
    admin = {"Authorization": f"Bearer {visit.tokens.create('a', [parse_scope('admin')])[1]}"}
    text = {"text": "Private.", "source": "salary-of-alice-secret.md"}
    job = visit.client.post("/v1/indexes/notes/documents", json={"documents": [text]}, headers=admin).json()["id"]
    visit.finished(job, admin)

    assert visit.client.delete("/v1/indexes/notes", headers=admin).status_code == 204
    assert visit.client.post("/v1/indexes", json={"name": "notes"}, headers=admin).status_code == 201

    owner = {"Authorization": f"Bearer {visit.tokens.create('b', [parse_scope('admin:notes')])[1]}"}
    assert visit.client.get("/v1/jobs", headers=owner).json() == {"jobs": []}
    assert visit.client.get(f"/v1/jobs/{job}", headers=owner).status_code == 404
    with visiting(visit.home) as again:
        assert again.client.get("/v1/jobs", headers=owner).json() == {"jobs": []}
