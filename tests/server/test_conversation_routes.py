"""What the page keeps on the server: conversations, judgements and what is measured by them, tokens, jobs that stop."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest

from support.api_client import TEXTS, Visit, fill, visiting
from twofold.server.limits import ServerLimits

TALK: dict[str, Any] = {
    "title": "Towers",
    "indexes": ["notes"],
    "turns": [{"question": "Where is the tower?", "answer": {"text": "In Paris."}, "asked": "2026-01-01", "rating": 1}],
}
FEW = ServerLimits(conversations=2, judgements=2)


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("kept")
    fill(home)
    fill(home, "other", texts={"owl.txt": "Owls hunt at night."})
    with visiting(home, limits=FEW) as one:
        yield one


def test_a_conversation_is_kept_for_its_token_alone_and_goes_with_its_index(visit: Visit) -> None:
    mine, yours = visit.as_bearer("read:notes"), visit.as_bearer("admin")
    client = visit.client
    assert client.put("/v1/conversations/one", json=TALK, headers=mine).json()["questions"] == ["Where is the tower?"]
    assert client.get("/v1/conversations/one", headers=mine).json()["turns"] == TALK["turns"]
    assert client.get("/v1/conversations", headers=yours).json() == {"conversations": []}
    assert client.get("/v1/conversations/one", headers=yours).status_code == HTTPStatus.NOT_FOUND
    foreign = client.put("/v1/conversations/two", json={**TALK, "indexes": ["other"]}, headers=mine)
    assert foreign.status_code == HTTPStatus.FORBIDDEN

    assert client.put("/v1/conversations/two", json=TALK, headers=mine).status_code == HTTPStatus.OK
    assert (
        client.put("/v1/conversations/one", json={**TALK, "title": "Again"}, headers=mine).status_code == HTTPStatus.OK
    )
    assert [one["title"] for one in client.get("/v1/conversations", headers=mine).json()["conversations"]] == [
        "Again",
        "Towers",
    ]
    third = client.put("/v1/conversations/three", json=TALK, headers=mine)
    assert (third.status_code, third.json()["type"]) == (HTTPStatus.TOO_MANY_REQUESTS, "conversation-limit")
    assert client.delete("/v1/conversations/two", headers=mine).status_code == HTTPStatus.NO_CONTENT
    assert client.get("/v1/conversations/two", headers=mine).status_code == HTTPStatus.NOT_FOUND

    both = visit.as_bearer("admin")
    assert client.post("/v1/indexes", json={"name": "passing"}, headers=both).status_code == HTTPStatus.CREATED
    assert (
        client.put("/v1/conversations/p", json={**TALK, "indexes": ["notes", "passing"]}, headers=both).status_code
        == HTTPStatus.OK
    )
    assert client.delete("/v1/indexes/passing", headers=both).status_code == HTTPStatus.NO_CONTENT
    assert client.get("/v1/conversations/p", headers=both).status_code == HTTPStatus.NOT_FOUND


def test_a_long_conversation_is_kept_with_the_answers_that_it_had(visit: Visit) -> None:
    """200 turns of 15 kB are 3 MB: more than the megabyte that other bodies may have. 600 such are 9 MB."""
    mine = visit.as_bearer("read:notes")
    turn = {"question": "Where is the tower?", "answer": {"text": "In Paris." * 1_700}, "asked": "", "rating": 0}
    kept = visit.client.put("/v1/conversations/long", json={**TALK, "turns": [turn] * 200}, headers=mine)
    assert kept.status_code == HTTPStatus.OK
    assert visit.client.get("/v1/conversations/long", headers=mine).json()["turns"] == [turn] * 200
    refused = visit.client.put("/v1/conversations/long", json={**TALK, "turns": [turn] * 600}, headers=mine)
    assert refused.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def test_two_judges_are_kept_apart_and_their_agreement_is_worked_out(visit: Visit) -> None:
    first, second = visit.as_bearer("read:notes"), visit.as_bearer("read:notes")
    path = "/v1/indexes/notes/judgements"

    def give(who: Any, source: str, grade: int) -> int:  # noqa: ANN401  # headers
        return visit.client.put(
            path, json={"query": "tower", "source": source, "grade": grade}, headers=who
        ).status_code

    assert [give(first, "tower.txt", 1), give(first, "cat.txt", 0), give(first, "tower.txt", 3)] == [200, 200, 200]
    assert give(first, "git.txt", 0) == HTTPStatus.TOO_MANY_REQUESTS
    assert [give(second, "tower.txt", 3), give(second, "cat.txt", 1)] == [200, 200]
    said = visit.client.get(path, headers=first).json()
    mine = {one["source"]: one["grade"] for one in said["judgements"] if one["judge"] == said["judge"]}
    assert mine == {"tower.txt": 3, "cat.txt": 0}
    # Of two pairs one is equal; by chance (1/2 · 1/2) of 3 and of nothing else: kappa = (1/2 - 1/4) / (1 - 1/4).
    assert said["agreement"]["pairs"] == 2
    assert said["agreement"]["share"] == 0.5
    assert said["agreement"]["kappa"] == pytest.approx(1 / 3)
    assert visit.client.put(path, json={"query": "q", "source": "s", "grade": 4}, headers=first).status_code == 422


def test_ways_to_search_are_measured_by_what_was_judged(tmp_path: Any) -> None:  # noqa: ANN401  # a path
    fill(tmp_path, texts=TEXTS)
    with visiting(tmp_path) as visit:
        path = "/v1/indexes/notes"
        two = {
            "variants": [{"name": "A", "mode": "bm25"}, {"name": "B", "mode": "bm25", "filter": "source == cat.txt"}]
        }
        empty = visit.client.post(f"{path}/evaluations", json=two)
        assert (empty.status_code, empty.json()["detail"]) == (400, "Nothing relevant was judged yet.")
        for query, source in (("tower Paris", "tower.txt"), ("cat mat", "cat.txt"), ("undo commit", "git.txt")):
            visit.client.put(f"{path}/judgements", json={"query": query, "source": source, "grade": 2})
        visit.client.put(f"{path}/judgements", json={"query": "nothing", "source": "cat.txt", "grade": 0})
        found = visit.client.post(f"{path}/evaluations", json=two).json()
        assert (found["queries"], found["left_out"]) == (3, 1)
        means = {row["name"]: row["figures"][0]["interval"]["mean"] for row in found["rows"]}
        assert means == {"A": 1.0, "B": pytest.approx(1 / 3)}  # B finds the cat alone
        first = found["comparisons"][0]["differences"][0]
        assert (first["better"], first["same"], first["worse"]) == (2, 1, 0)

        tuned = visit.client.post(f"{path}/tune", json={})
        assert tuned.json()["detail"] == "Tuning needs 20 judged questions, and there are 3."
        for number in range(20):
            visit.client.put(f"{path}/judgements", json={"query": f"cat {number}", "source": "cat.txt", "grade": 1})
        events = visit.client.post(f"{path}/tune", json={}).text
        assert '"type":"measured"' in events
        assert '"winner":{}' in events.rsplit("data:", 1)[1]

        assert visit.client.post(f"{path}/settings", json={"settings": {"search.k": 2}}).status_code == 204
        assert len(visit.client.post(f"{path}/search", json={"query": "the", "mode": "vector"}).json()["hits"]) == 2
        refused = visit.client.post(f"{path}/settings", json={"settings": {"generator": "ollama/x"}})
        assert refused.status_code == 400


def test_tokens_are_made_listed_and_revoked_by_an_admin_of_the_server_alone(tmp_path: Any) -> None:  # noqa: ANN401
    fill(tmp_path)
    with visiting(tmp_path) as visit:
        made = visit.client.post("/v1/tokens", json={"name": "laptop", "scopes": ["admin:*"]}).json()
        admin = {"Authorization": f"Bearer {made['token']}"}
        assert visit.client.get("/v1/tokens").status_code == HTTPStatus.UNAUTHORIZED
        shown = visit.client.get("/v1/tokens", headers=admin).json()["tokens"]
        assert [(one["name"], one["scopes"], one["revoked"]) for one in shown] == [("laptop", ["admin:*"], "")]
        assert made["token"] not in visit.client.get("/v1/tokens", headers=admin).text
        reader = visit.as_bearer("admin:notes")
        assert visit.client.get("/v1/tokens", headers=reader).status_code == HTTPStatus.FORBIDDEN
        assert (
            visit.client.delete(f"/v1/tokens/{made['record']['id']}", headers=admin).status_code
            == HTTPStatus.NO_CONTENT
        )
        assert visit.client.get("/v1/tokens", headers=admin).status_code == HTTPStatus.UNAUTHORIZED


def test_a_job_that_waits_is_stopped_and_one_that_ended_is_not(visit: Visit) -> None:
    admin, reader = visit.as_bearer("admin"), visit.as_bearer("read")
    slow = [("file", (f"note-{at}.txt", f"Note {at}.".encode())) for at in range(30)]
    first = visit.client.post("/v1/indexes/other/documents", files=slow, headers=admin).json()
    second = visit.client.post("/v1/indexes/other/documents", files=slow[:1], headers=admin).json()
    assert visit.client.delete(f"/v1/jobs/{second['id']}", headers=reader).status_code == HTTPStatus.FORBIDDEN
    assert visit.client.delete(f"/v1/jobs/{second['id']}", headers=admin).status_code == HTTPStatus.NO_CONTENT
    stopped = visit.finished(second["id"], headers=admin)
    assert (stopped["state"], stopped["files"][0]["state"]) == ("cancelled", "cancelled")
    assert visit.client.delete(f"/v1/jobs/{second['id']}", headers=admin).status_code == HTTPStatus.CONFLICT
    visit.client.delete(f"/v1/jobs/{first['id']}", headers=admin)
    assert visit.finished(first["id"], headers=admin)["state"] in {"cancelled", "done"}


def test_the_server_says_what_a_page_needs_and_not_where_its_model_is(tmp_path: Any) -> None:  # noqa: ANN401  # a path
    fill(tmp_path / "home")
    (tmp_path / "root").mkdir()
    said = {"generator": "http://10.0.0.7:8080/v1#mistral"}
    with visiting(tmp_path / "home", roots=(tmp_path / "root",), said=said) as visit:
        admin, reader = visit.as_bearer("admin"), visit.as_bearer("read")
        told = visit.client.get("/v1/server", headers=admin).json()
        assert told["generator"] == "mistral"
        assert told["roots"] == [str((tmp_path / "root").resolve())]
        assert "balanced" in {one["name"] for one in told["profiles"]}
        assert visit.client.get("/v1/server", headers=reader).json()["roots"] == []
        assert visit.client.post("/v1/indexes/notes/verify", json={}, headers=admin).json() == {"findings": []}
        (tmp_path / "root" / "a.md").write_text("# A\n\nText.")
        paths = {"paths": [str(tmp_path / "root")]}
        plan = visit.client.post("/v1/indexes/notes/sync:plan", json=paths, headers=admin).json()
        assert len(plan["added"]) == 1
        outside = visit.client.post("/v1/indexes/notes/sync:plan", json={"paths": ["/etc"]}, headers=admin)
        assert outside.status_code == HTTPStatus.FORBIDDEN


@pytest.mark.parametrize(
    "path", ["/", "/ask", "/search?q=x", "/library", "/document", "/compare", "/judge", "/experiments", "/settings"]
)
def test_every_view_is_the_same_page_under_a_strict_policy(visit: Visit, path: str) -> None:
    answer = visit.client.get(path)
    assert answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "style-src 'self';" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'; trusted-types 'none'" in policy
