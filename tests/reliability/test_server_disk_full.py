"""A server whose disk is full: it goes on answering, refuses uploads with 507, and does all jobs when there is room."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

DISK = 8 << 20
LEFT = 1_200_000
UPLOAD_BYTES = 100_000
UPLOADS = 40
MOUNT = 'mount -t tmpfs -o size=$1 none "$2" && shift 2 && exec "$@"'
WORDS = "Notes about a full disk and what becomes of them. "


@dataclass(frozen=True, slots=True)
class SmallServer:
    """A server on a small disk that is mounted for it alone; `disk` leads to it from here."""

    client: httpx2.Client
    disk: Path

    def upload(self, number: int) -> httpx2.Response:
        text = f"Document {number}. " + WORDS * (UPLOAD_BYTES // len(WORDS))
        body = {"documents": [{"text": text, "source": f"{number}.txt"}]}
        return self.client.post("/v1/indexes/notes/documents", json=body)

    def fill_but(self, left: int) -> None:
        """Fill the disk until so many bytes are left."""
        with suppress(OSError), (self.disk / "filler").open("wb", buffering=0) as file:
            free = os.statvfs(self.disk).f_bavail * os.statvfs(self.disk).f_frsize
            for _ in range((free - left) // 4096):
                file.write(bytes(4096))


@contextmanager
def small_server(home: Path) -> Iterator[SmallServer]:
    """Serve from a disk of a few megabytes; afterwards hold it to an end without a traceback."""
    home.mkdir()
    serve = [sys.executable, "-m", "twofold", "serve", "--port", "0"]
    command = ["unshare", "-m", "sh", "-c", MOUNT, "sh", str(DISK), str(home), *serve]
    surroundings = {**os.environ, "TWOFOLD_HOME": str(home), "TWOFOLD_EMBEDDER": "hashing"}
    with subprocess.Popen(
        command, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            address = process.stdout.readline().rpartition(" ")[2].strip()
            if not address:
                pytest.skip(f"mounting a small disk needs rights: {process.stderr.read()}")
            with httpx2.Client(base_url=address, timeout=30.0, trust_env=False) as client:
                assert client.post("/v1/indexes", json={"name": "notes"}).status_code == 201
                yield SmallServer(client, Path(f"/proc/{process.pid}/root{home}"))
        finally:
            process.terminate()
            said = process.stderr.read()
    assert "Traceback" not in said
    assert "Exception in thread" not in said


def followed(client: httpx2.Client, job: str, phase: str = "") -> dict[str, object]:
    """Follow a job until it is in a phase, or to its end; give it as it is then."""
    last: dict[str, object] = {}
    with client.stream("GET", f"/v1/jobs/{job}/events") as events:
        for line in events.iter_lines():
            if line.startswith("data: "):
                last = json.loads(line.removeprefix("data: "))
                if phase and last["phase"] == phase:
                    break
    return last


def stuck(server: SmallServer, jobs: list[str]) -> dict[str, object]:
    """Give the first job that waits for room; those before it are done."""
    for job in jobs:
        seen = followed(server.client, job, "retrying")
        if seen["phase"] == "retrying":
            return seen
    message = "no job was short of room"
    raise AssertionError(message)


def test_jobs_wait_for_room_and_all_are_done_when_there_is_some(tmp_path: Path) -> None:
    with small_server(tmp_path / "home") as server:
        server.fill_but(LEFT)
        sent = []
        for number in range(UPLOADS):
            sent.append(server.upload(number))
            if sent[-1].status_code != 202:
                break
        taken = [one.json()["id"] for one in sent if one.status_code == 202]
        waits = stuck(server, taken)
        ready = server.client.get("/readyz").status_code
        found = server.client.post("/v1/indexes/notes/search", json={"query": "full disk"}).status_code
        refused = server.upload(UPLOADS)
        file = ("file", ("a.txt", b"Words. " * 200_000))
        form = server.client.post("/v1/indexes/notes/documents", files=[file])

        (server.disk / "filler").unlink()
        ended = [followed(server.client, job) for job in taken]
        held = server.client.get("/v1/indexes/notes").json()["documents"]

    assert sent[-1].status_code == 507
    assert sent[-1].json()["type"] == "storage-full"
    assert waits["state"] == "waiting"
    assert waits["problem"]["type"] == "storage-full"  # type: ignore[index]
    assert (ready, found, refused.status_code, form.status_code) == (200, 200, 507, 507)
    assert {job["state"] for job in ended} == {"done"}
    assert held == len(taken)


def test_a_server_that_has_no_room_for_its_records_says_so_and_ends(tmp_path: Path) -> None:
    serve = [sys.executable, "-m", "twofold", "serve", "--port", "0"]
    command = ["unshare", "-m", "sh", "-c", MOUNT, "sh", "4096", str(tmp_path), *serve]
    surroundings = {**os.environ, "TWOFOLD_HOME": str(tmp_path), "TWOFOLD_EMBEDDER": "hashing"}
    ended = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=60.0, check=False)
    if "ermi" in ended.stderr and "twofold" not in ended.stderr:
        pytest.skip(f"mounting a small disk needs rights: {ended.stderr}")

    assert ended.returncode == 6
    assert ended.stderr.startswith("twofold: There is no room")
    assert len(ended.stderr.splitlines()) == 2
