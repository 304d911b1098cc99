"""A sync over the actors of a Ray cluster writes the index that a sync of this process writes, whatever is killed."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support import thread_actors
from support.postgres_server import PostgresServer
from support.ray_processes import actor_of
from support.thread_actors import ThreadActor
from surfaces.conftest import Run
from twofold import Index
from twofold.domain.errors import InvalidInputError, MismatchError, MissingExtraError
from twofold.factory.ray_workers import IN_FLIGHT, RaySpread, Worker
from twofold.indexing.sync import sync
from twofold.ingest.readers.types import Limits
from twofold.stores.database_address import with_index

SECONDS = 560
CLUSTER = Path(__file__).resolve().parent.parent / "support" / "ray_cluster.py"
ENVIRONMENT = {"RAY_memory_monitor_refresh_ms": "0", "RAY_USAGE_STATS_ENABLED": "0"}


def written(folder: Path, count: int, size: int = 600) -> Path:
    """Write documents, and a file that cannot be read."""
    folder.mkdir()
    for number in range(count):
        words = " ".join(f"word{number * place % 97}" for place in range(size))
        (folder / f"{number:03d}.md").write_text(
            f"# Cat {number}\n\n{words}\n\n## Dog\n\nERR-{number} means a conflict."
        )
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing of the kind")
    return folder


def digest(run: Run, index: str) -> str:
    made: str = run("migrate", index, f"{index}-copy", "--json").data["digest"]
    return made


def on_ray(*command: object) -> str:
    """Run a program that uses Ray, which has its own processes; return what it printed."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, **ENVIRONMENT, "COLUMNS": "100", "PYTHONPATH": str(CLUSTER.parent.parent)},
    )
    assert done.returncode in {0, 9}, done.stdout + done.stderr
    return done.stdout


def test_work_is_given_to_all_actors_a_few_calls_at_once_and_makes_the_same_index(run: Run, tmp_path: Path) -> None:
    folder = written(tmp_path / "docs", 12, size=7_000)
    with Index("here") as index:
        index.sync(folder, vectors="atomic")
    with Index("there") as index:
        actors = [ThreadActor(Worker(index.settings), lost=2 if number == 1 else 0) for number in range(3)]
        errors = SimpleNamespace(RayError=ConnectionError, RayTaskError=ConnectionAbortedError)
        api = SimpleNamespace(get=thread_actors.get, wait=thread_actors.ready, exceptions=errors)
        spread = RaySpread(actors, api)
        spread.check(index._parts.fingerprint)
        with pytest.raises(MismatchError, match="different passages"):
            spread.check(replace(index._parts.fingerprint, analyzer="another"))
        report = sync(replace(index._parts, spread=spread), [str(folder)], Limits(), lambda _: None)
        for actor in actors:
            actor.close.remote().result()
            actor.stop()
    assert (len(report.added), len(report.failed), report.pending) == (12, 1, 0)
    assert sum(actor.calls for actor in actors) == 3 * 3 + 13 + 3 + 2
    assert all(actor.calls > 3 for actor in actors)
    assert max(actor.most for actor in actors) <= 2 * IN_FLIGHT + 1
    assert digest(run, "there") == digest(run, "here")


@pytest.mark.soak
def test_a_sync_over_actors_writes_the_same_index(run: Run, tmp_path: Path) -> None:
    folder = written(tmp_path / "docs", 6)
    with Index("here") as index:
        assert len(index.sync(folder, vectors="atomic").failed) == 1
    printed = on_ray("-m", "twofold", "sync", folder, "--index", "there", "--on", "ray:local")
    assert "6 added" in printed
    assert "1 failed" in printed
    assert digest(run, "there") == digest(run, "here")


@pytest.mark.soak
@pytest.mark.parametrize("victim", ["actor", "node"])
def test_a_killed_actor_or_node_costs_only_time(run: Run, tmp_path: Path, victim: str) -> None:
    folder = written(tmp_path / "docs", 300)
    with Index("here") as index:
        index.sync(folder, vectors="atomic")
    printed = on_ray(CLUSTER, folder, "there", victim)
    assert printed.splitlines()[-1] == "300 1 1"
    assert digest(run, "there") == digest(run, "here")


@pytest.fixture(params=["folder", "s3", "postgres"])
def served(request: pytest.FixtureRequest) -> tuple[str, list[str]]:
    """The address of an index `kb` that is not there yet, and what `serve` is told so that it serves it."""
    if request.param == "folder":
        return "kb", []
    if request.param == "s3":
        root = str(request.getfixturevalue("s3"))
        return f"{root}/kb", ["--root", root]
    server: PostgresServer = request.getfixturevalue("postgres_server")
    database = server.create_database(f"ray-{secrets.token_hex(4)}")
    return with_index(database, "kb"), ["--root", database]


@pytest.mark.soak
def test_a_server_over_actors_answers_as_one_machine_and_names_what_a_lost_one_holds(
    served: tuple[str, list[str]], tmp_path: Path
) -> None:
    where, root = served
    with Index(where) as index:
        for folder in ("one", "two", "three"):  # a segment for each
            index.sync(written(tmp_path / folder, 40))
        expected = index.search("word7 conflict", k=20)
    command = [sys.executable, "-m", "twofold", "serve", "--port", "0", "--on", "ray:local", *root]
    surroundings = {**os.environ, **ENVIRONMENT}
    with subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split()[-1]
            whole = asked(address)
            assert [(hit["chunk_id"], hit["score"]) for hit in whole["hits"]] == [
                (hit.chunk_id, hit.score) for hit in expected.hits
            ]
            assert len(whole["hits"]) == 20
            assert whole["warnings"] == []
            os.kill(actor_of(process.pid, "SearcherActor"), signal.SIGKILL)
            lost = until(lambda: asked(address), lambda said: said["warnings"] != [])
            assert lost["degraded"]
            assert "is being started again" in lost["warnings"][0]["message"]
            again = until(lambda: asked(address), lambda said: said["warnings"] == [])
            assert again["hits"] == whole["hits"]
            with Index(where) as index:  # another process writes; the server finds it
                index.add("word7 conflict, and a quokka", source="new.md")
                expected = index.search("word7 conflict", k=20)
            later = until(lambda: asked(address), lambda said: said["hits"][0]["source"] == "new.md")
            assert [hit["score"] for hit in later["hits"]] == [hit.score for hit in expected.hits]
        finally:
            process.terminate()
        assert process.wait(SECONDS) == 0


@pytest.mark.soak
def test_a_cluster_is_reached_from_outside_by_its_client_address(run: Run, tmp_path: Path) -> None:
    folder = written(tmp_path / "docs", 6)
    with Index("here") as index:
        index.sync(folder, vectors="atomic")
    ports = [free_port(), free_port()]
    command = ["start", "--head", "--block", "--node-ip-address", "127.0.0.1", "--port", ports[0], "--num-cpus", 1]
    command += [
        "--ray-client-server-port",
        ports[1],
        "--include-dashboard=false",
        "--object-store-memory",
        100 * 1024**2,
    ]
    ray = Path(sys.executable).with_name("ray")
    surroundings = {**os.environ, **ENVIRONMENT}
    with subprocess.Popen([ray, *map(str, command)], env=surroundings, stdout=subprocess.DEVNULL) as cluster:
        try:
            until_open(ports[1], cluster)
            printed = on_ray("-m", "twofold", "sync", folder, "--index", "there", "--on", f"ray://127.0.0.1:{ports[1]}")
            assert "6 added" in printed
        finally:
            cluster.terminate()
    assert digest(run, "there") == digest(run, "here")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        found: int = held.getsockname()[1]
    return found


def until_open(port: int, cluster: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + SECONDS
    while True:
        assert cluster.poll() is None, "the cluster ended; a client's address needs `ray[client]`"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
        except OSError:
            assert time.monotonic() < deadline
        else:
            return


def asked(address: str) -> dict[str, Any]:
    connection = HTTPConnection(address.removeprefix("http://"), timeout=SECONDS)
    with closing(connection):
        body = json.dumps({"query": "word7 conflict", "k": 20})
        connection.request("POST", "/v1/indexes/kb/search", body, {"Content-Type": "application/json"})
        found: dict[str, Any] = json.loads(connection.getresponse().read())
    return found


def until(ask: Callable[[], dict[str, Any]], holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    deadline = time.monotonic() + SECONDS
    while not holds(said := ask()):
        assert time.monotonic() < deadline
    return said


def test_what_cannot_be_asked_is_refused(run: Run, tmp_path: Path) -> None:
    folder = written(tmp_path / "docs", 1)
    assert run("sync", folder, "--on", "ray:local", "--dry-run").code == 2
    with Index("kb") as index, pytest.raises(InvalidInputError, match="no place to work on"):
        index.sync(folder, on="dask:local")
    code = "import sys; sys.modules['ray'] = None; from twofold import Index; Index('kb').sync('.', on='ray:local')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert MissingExtraError.__name__ in done.stderr
    assert "twofold[ray]" in done.stderr
