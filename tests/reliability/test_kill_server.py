"""SIGKILL of a server that does upload jobs: what it acknowledged is done after the next start, once and whole."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2

KILLS = 5
FILES = 4
WORDS = "Something more to be read. "


@contextmanager
def served(home: Path) -> Iterator[httpx2.Client]:
    """Serve until the block ends, and then kill the server."""
    surroundings = {**os.environ, "TWOFOLD_HOME": str(home), "TWOFOLD_EMBEDDER": "hashing"}
    command = [sys.executable, "-m", "twofold", "serve", "--port", "0"]
    with subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().rpartition(" ")[2].strip()
            with httpx2.Client(base_url=address, timeout=30.0, trust_env=False) as client:
                yield client
        finally:
            process.kill()


def texts_of(number: int) -> dict[str, str]:
    """The documents of one upload: some of its own, and one that each upload puts in the place of the last."""
    own = {f"{number}-{file}.txt": f"Upload {number}, file {file}. {WORDS * 20 * (file + 1)}" for file in range(FILES)}
    return {**own, "always.txt": f"The state after upload {number}. {WORDS * 5}"}


def upload(client: httpx2.Client, number: int) -> str:
    files = [("file", (name, text.encode())) for name, text in texts_of(number).items()]
    given = client.post("/v1/indexes/notes/documents", files=files)
    assert given.status_code == 202
    return str(given.json()["id"])


def seen(client: httpx2.Client, job: str) -> Iterator[str]:
    """Give the states of a job as it goes; the last is `done` or `failed`."""
    with client.stream("GET", f"/v1/jobs/{job}/events") as events:
        for line in events.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))["state"]


def test_a_killed_server_loses_no_job_and_does_none_by_half(tmp_path: Path) -> None:
    jobs = []
    for number in range(KILLS):
        with served(tmp_path) as client:
            if not number:
                assert client.post("/v1/indexes", json={"name": "notes"}).status_code == 201
            jobs.append(upload(client, number))
            states = seen(client, jobs[-1])
            with suppress(StopIteration):
                for _ in range(number):
                    next(states)

    with served(tmp_path) as client:
        ended = [list(seen(client, job))[-1] for job in jobs]
        listed = client.get("/v1/indexes/notes/documents", params={"limit": 1000}).json()["documents"]
        texts = {one["source"]: client.get(f"/v1/indexes/notes/documents/{one['id']}/content").text for one in listed}
        found = client.post("/v1/indexes/notes/search", json={"query": f"upload {KILLS - 1}", "k": 100}).json()["hits"]
        left = list((tmp_path / "server" / "spool").iterdir())

    expected = {name: text for number in range(KILLS) for name, text in texts_of(number).items()}
    assert set(ended) == {"done"}
    assert len(listed) == len(expected)
    assert {name: text.strip() for name, text in texts.items()} == {name: one.strip() for name, one in expected.items()}
    assert all(expected[hit["source"]][hit["start"] : hit["end"]] == hit["text"] for hit in found)
    assert left == []
