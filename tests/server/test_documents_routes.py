"""Documents over HTTP: uploads become jobs, jobs outlive the server, and what fails leaves nothing behind."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.api_client import Visit, visiting
from support.documents import Words, pdf_of
from twofold.server.jobs.store import JobKind, Jobs, Part, State, Task
from twofold.server.limits import DEFAULT_LIMITS
from twofold.server.state_db import StateDatabase


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Visit]:
    with visiting(tmp_path / "home") as one:
        assert one.client.post("/v1/indexes", json={"name": "notes"}).status_code == 201
        yield one


def spooled(home: Path) -> list[Path]:
    return list((home / "server" / "spool").rglob("*"))


def test_texts_are_added_and_found(visit: Visit) -> None:
    text = {"text": "The cat sat on the mat.", "source": "cat.txt", "metadata": {"year": 2020, "tags": ["a", "b"]}}

    accepted = visit.client.post("/v1/indexes/notes/documents", json={"documents": [text]})
    job = visit.finished(accepted.json()["id"])

    assert accepted.status_code == 202
    assert (job["state"], job["counts"]["added"]) == ("done", 1)
    found = visit.client.post("/v1/indexes/notes/search", json={"query": "cat", "filter": "year == 2020"}).json()
    assert found["hits"][0]["document"] == job["files"][0]["document"]
    assert found["hits"][0]["metadata"]["tags"] == ["a", "b"]


def test_files_are_read_by_what_they_hold_and_a_bad_one_says_why(visit: Visit) -> None:
    files = [
        ("file", ("../../etc/passwd", b"# Heading\n\nA dog barks.", "image/png")),
        ("file", ("broken.pdf", b"%PDF-1.4 nothing", "text/plain")),
    ]

    job = visit.finished(visit.client.post("/v1/indexes/notes/documents", files=files).json()["id"])

    assert [file["state"] for file in job["files"]] == ["done", "failed"]
    assert job["files"][1]["problem"]["detail"]
    listed = visit.client.get("/v1/indexes/notes/documents").json()
    assert [one["source"] for one in listed["documents"]] == ["../../etc/passwd"]
    assert listed["documents"][0]["media_type"] == "text/plain"
    assert listed["documents"][0]["metadata"]["source_type"] == ["text", "upload"]
    assert spooled(visit.home) == []


def test_a_name_keeps_what_joins_its_letters_and_nothing_else_that_is_not_seen(visit: Visit) -> None:
    """Persian writes `I want` with a sign of no width within the word; a sign that turns the line around is no name."""
    wanted = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.txt"
    sent = [("file", (wanted, b"Boats at night.")), ("file", ("owl\u202etxt.md", b"Owls at night."))]
    job = visit.client.post("/v1/indexes/notes/documents", files=sent).json()
    assert visit.finished(job["id"])["state"] == "done"
    listed = visit.client.get("/v1/indexes/notes/documents").json()["documents"]
    assert sorted(one["source"] for one in listed) == ["owltxt.md", wanted]


def test_a_job_whose_files_all_fail_has_failed(visit: Visit) -> None:
    job = visit.finished(
        visit.client.post(
            "/v1/indexes/notes/documents", files=[("file", ("a.txt", b"\x89PNG\r\n\x1a\n" + bytes(100)))]
        ).json()["id"]
    )

    assert job["state"] == "failed"
    assert visit.client.get("/v1/indexes/notes").json()["documents"] == 0


def test_a_document_can_be_looked_at_and_deleted(visit: Visit) -> None:
    text = "First part.\n\nSecond part."
    body = {"documents": [{"text": text, "source": "a.txt", "id": "mine"}]}
    visit.finished(visit.client.post("/v1/indexes/notes/documents", json=body).json()["id"])
    where = "/v1/indexes/notes/documents/mine"

    assert visit.client.get(where).json()["characters"] == len(text)
    assert visit.client.get(f"{where}/content").text == text
    chunks = visit.client.get(f"{where}/chunks").json()["chunks"]
    assert all(text[chunk["start"] : chunk["end"]] == chunk["text"] for chunk in chunks)
    assert visit.client.get("/v1/indexes/notes/documents/a.txt").status_code == 404
    assert visit.client.delete(where).status_code == 204
    assert visit.client.get(where).status_code == 404
    assert visit.client.delete(where).status_code == 404


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"text=1", "application/x-www-form-urlencoded", 415),
        (b'{"documents": []}', "application/json", 422),
        (b"{", "application/json", 422),
        (b"[" * 100_000, "application/json", 422),
        (b'{"documents": [{"text": "\\ud800"}]}', "application/json", 422),
        (b"--x\r\n\r\n", "multipart/form-data; boundary=x", 400),
        (b"", "multipart/form-data", 400),
    ],
)
def test_an_upload_that_is_none_is_refused_and_leaves_nothing(
    visit: Visit, content: bytes, kind: str, status: int
) -> None:
    given = visit.client.post("/v1/indexes/notes/documents", content=content, headers={"Content-Type": kind})

    assert given.status_code == status
    assert given.headers["content-type"] == "application/problem+json"
    assert spooled(visit.home) == []


def test_nothing_is_synced_outside_the_roots(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "inside-not"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.txt").write_text("A note about something.")
    (inside / "link").symlink_to(outside)
    with visiting(tmp_path / "home", roots=(inside,)) as visit:
        visit.client.post("/v1/indexes", json={"name": "notes"})
        refused = [
            visit.client.post("/v1/indexes/notes/sync", json={"paths": [path]})
            for path in (str(outside), str(inside / "link"), f"{inside}/../inside-not", "/", "a\0b", "")
        ]
        accepted = visit.client.post("/v1/indexes/notes/sync", json={"paths": [str(inside)]})
        job = visit.finished(accepted.json()["id"])

    assert {one.status_code for one in refused} <= {403, 422}
    assert (job["state"], job["counts"]["added"]) == ("done", 1)


def test_a_job_that_waited_when_the_server_ended_is_done_by_the_next_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with visiting(home) as visit:
        visit.client.post("/v1/indexes", json={"name": "notes"})
    state_db = StateDatabase(home / "server")
    jobs = Jobs(home / "server", state_db, DEFAULT_LIMITS)
    folder = jobs.new_folder()
    (folder / "0.data").write_text("A cat that waited.")
    job = jobs.submit(folder, "notes", JobKind.DOCUMENTS, Task((Part("waited.txt", "0.data", is_text=True),)))
    begun = jobs.next()
    jobs.close()
    state_db.close()

    with visiting(home) as visit:
        done = visit.finished(job.id)
        listed = visit.client.get("/v1/indexes/notes/documents").json()

    assert begun is not None
    assert begun.state is State.RUNNING
    assert done["state"] == "done"
    assert [one["source"] for one in listed["documents"]] == ["waited.txt"]


def test_what_lies_in_the_spool_without_a_job_goes_at_the_start(tmp_path: Path) -> None:
    left = tmp_path / "home" / "server" / "spool" / "0123456789abcdef"
    left.mkdir(parents=True)
    (left / "0.data").write_text("left over")

    with visiting(tmp_path / "home"):
        pass

    assert not left.exists()


def test_a_job_for_an_index_that_is_gone_fails_and_leaves_nothing(visit: Visit) -> None:
    state_db = StateDatabase(visit.home / "elsewhere")
    jobs = Jobs(visit.home / "elsewhere", state_db, DEFAULT_LIMITS)
    jobs.abandon(jobs.new_folder())

    gone = visit.client.post("/v1/indexes/gone/documents", json={"documents": [{"text": "a"}]})

    assert jobs.waiting == 0
    assert gone.status_code == 404
    assert spooled(visit.home) == []


def test_deleting_an_index_takes_everything_with_it(visit: Visit) -> None:
    visit.finished(
        visit.client.post(
            "/v1/indexes/notes/documents", files=[("file", ("a.pdf", pdf_of([[Words(72, 700, "Some words.")]])))]
        ).json()["id"]
    )
    kept = list((visit.home / "server" / "originals").rglob("*.pdf"))

    assert visit.client.delete("/v1/indexes/notes").status_code == 204

    assert len(kept) == 1
    assert visit.client.get("/v1/indexes").json() == {"indexes": []}
    assert list((visit.home / "server" / "originals").rglob("*.pdf")) == []
    assert visit.client.post("/v1/indexes/notes/search", json={"query": "words"}).status_code == 404


@pytest.mark.parametrize(
    "name",
    ["..", ".", "a/b", "~", "", "a b", "con\0", "\u202e", "x" * 65, "-rf", ".hidden", ":memory:", "\uff41", "a\\b"],
)
def test_a_name_never_becomes_a_path(visit: Visit, name: str) -> None:
    before = sorted(path for path in visit.home.rglob("*"))

    given = visit.client.post(
        "/v1/indexes", content=json.dumps({"name": name}), headers={"Content-Type": "application/json"}
    )

    assert given.status_code == 422
    assert sorted(path for path in visit.home.rglob("*")) == before


def test_an_index_is_made_once(visit: Visit) -> None:
    assert visit.client.post("/v1/indexes", json={"name": "notes"}).status_code == 400
    assert visit.client.post("/v1/indexes", json={"name": "other", "embedder": "nobody"}).status_code == 404
    assert visit.client.post("/v1/indexes", json={"name": "other", "embedder": "http://x/v1#m"}).status_code == 422


def test_a_job_that_the_end_of_the_server_cuts_short_goes_on(tmp_path: Path) -> None:
    home, notes = tmp_path / "home", tmp_path / "notes"
    notes.mkdir()
    for number in range(200):
        (notes / f"{number:03}.txt").write_text(f"Note number {number}.\n\n" + "Some more words to read. " * 50)
    with visiting(home, roots=(notes,)) as visit:
        visit.client.post("/v1/indexes", json={"name": "notes"})
        job = visit.client.post("/v1/indexes/notes/sync", json={"paths": [str(notes)]}).json()["id"]

    with visiting(home, roots=(notes,)) as visit:
        done = visit.finished(job)
        held = visit.client.get("/v1/indexes/notes").json()

    assert done["state"] == "done"
    assert held["documents"] == 200
