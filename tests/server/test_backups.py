"""Backups while a server goes on writing: each file is one moment, and holds all that was acknowledged before it."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from support.api_client import Visit, visiting

BACKUPS = 2


@dataclass
class Writing:
    """How many documents a server has said are stored, numbered from 0."""

    stored: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    more: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, number: int) -> None:
        """Wait until that many are stored."""
        with self.more:
            assert self.more.wait_for(lambda: self.stored >= number, timeout=120)


@contextmanager
def written_to(visit: Visit) -> Iterator[Writing]:
    """Add one document after the other over HTTP until the block ends."""
    state = Writing()

    def write() -> None:
        with httpx2.Client(base_url=visit.address, timeout=60) as client:
            while not state.stop.is_set():
                name = f"ship{state.stored}.txt"
                added = client.post("/v1/indexes/notes/documents", files=[("file", (name, f"Ship {name} came in."))])
                with client.stream("GET", f"/v1/jobs/{added.json()['id']}/events") as events:
                    events.read()
                assert client.get(f"/v1/jobs/{added.json()['id']}").json()["state"] == "done"
                with state.more:
                    state.stored += 1
                    state.more.notify_all()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield state
    finally:
        state.stop.set()
        thread.join()


def twofold(home: Path, *words: object) -> str:
    command = [sys.executable, "-m", "twofold", *(str(word) for word in words)]
    environment = {**os.environ, "TWOFOLD_HOME": str(home), "TWOFOLD_EMBEDDER": "hashing"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_index_is_backed_up_and_restored_elsewhere_while_it_is_written_to(tmp_path: Path) -> None:
    home = tmp_path / "home"
    taken: list[tuple[int, Path]] = []
    with visiting(home, said={"embedder": "hashing"}) as visit:
        assert visit.client.post("/v1/indexes", json={"name": "notes"}).status_code == 201
        with written_to(visit) as state:
            for number in range(BACKUPS):
                state.wait_for((number + 1) * 2)
                before, file = state.stored, tmp_path / f"backup{number}.twofold"
                twofold(home, "index", "export", file, "-i", "notes")
                taken.append((before, file))
            state.wait_for(taken[-1][0] + 1)  # the server went on

    for before, file in taken:
        other = tmp_path / f"restored-{file.stem}"
        twofold(other, "index", "import", file, "-i", "notes")
        twofold(other, "index", "verify", "-i", "notes")
        names = {Path(one["source"]).name for one in json.loads(twofold(other, "ls", "-i", "notes", "--json"))}
        assert names == {f"ship{number}.txt" for number in range(len(names))}
        assert len(names) >= before
        found = json.loads(twofold(other, "search", f"ship{before - 1}", "-i", "notes", "--json"))["hits"][0]
        assert found["source"].endswith(f"ship{before - 1}.txt")
