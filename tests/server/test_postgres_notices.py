"""A server of a database loads what others write when they do: by notification, or by asking now and then."""

import json
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from support.api_client import Visit, visiting
from support.postgres_pooler import pooled
from support.postgres_server import PostgresServer
from twofold import Index
from twofold.stores.database_address import with_index

SECONDS = 60.0


@pytest.fixture
def database(postgres_server: PostgresServer) -> str:
    return postgres_server.create_database(f"notices-{secrets.token_hex(4)}")


@contextmanager
def written(database: str, home: Path, *texts: str) -> Iterator[Index]:
    """Write texts to the index `kb`, with one segment of all, as another process would."""
    overrides = {"embedder": "hashing", "home": str(home)}
    with Index(with_index(database, "kb"), overrides=overrides) as index:
        for number, text in enumerate(texts):
            index.add(text, source=f"{number}.txt")
        index.compact()
        yield index


def copied(visit: Visit) -> set[str]:
    """Return the segments that a server has copies of."""
    return {path.name for path in (visit.home / "databases" / "segments").glob("*.segment")}


def wait_for_more(visit: Visit, before: set[str]) -> None:
    deadline = time.monotonic() + SECONDS
    while copied(visit) <= before:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def found(visit: Visit, question: str) -> list[str]:
    hits = visit.client.post("/v1/indexes/kb/search", json={"query": question}).json()["hits"]
    return [hit["source"] for hit in hits]


def test_a_server_loads_what_another_process_wrote_before_it_is_asked(database: str, tmp_path: Path) -> None:
    with written(database, tmp_path / "w", "The cat sat."), visiting(tmp_path / "s", database=database) as visit:
        assert found(visit, "cat") == ["0.txt"]
        before = copied(visit)
        with written(database, tmp_path / "w", "The cat sat.", "A dog ran."):
            wait_for_more(visit, before)
        assert "1.txt" in found(visit, "dog")


def test_a_server_that_lost_its_connections_hears_of_changes_again(database: str, tmp_path: Path) -> None:
    with written(database, tmp_path / "w", "The cat sat."):
        pass
    with visiting(tmp_path / "s", database=database) as visit:
        assert found(visit, "cat") == ["0.txt"]
        before = copied(visit)
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        with written(database, tmp_path / "w", "The cat sat.", "A dog ran."):
            wait_for_more(visit, before)
        assert found(visit, "dog") == ["1.txt", "0.txt"]


def test_behind_a_pooler_a_server_asks_for_changes_and_says_so_once(
    postgres_server: PostgresServer, database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pooled(postgres_server) as pooler:
        behind = database.replace(str(postgres_server.folder), str(pooler.folder))
        with written(database, tmp_path / "w", "The cat sat."), visiting(tmp_path / "s", database=behind) as visit:
            assert found(visit, "cat") == ["0.txt"]
            before = copied(visit)
            with written(database, tmp_path / "w", "The cat sat.", "A dog ran."):
                wait_for_more(visit, before)
    said = [one.getMessage() for one in caplog.records if "asks for changes every 2 s" in one.getMessage()]
    assert len(said) == 1
    assert "pooler" in said[0]


def test_doctor_says_whether_notifications_arrive(
    postgres_server: PostgresServer, database: str, tmp_path: Path
) -> None:
    with pooled(postgres_server) as pooler, written(database, tmp_path / "w", "The cat sat."):
        behind = database.replace(str(postgres_server.folder), str(pooler.folder))
        states = []
        for where in (database, behind):
            command = [sys.executable, "-m", "twofold", "doctor", "--json", "--index", with_index(where, "kb")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            checks = {one["what"]: one for one in json.loads(done.stdout)}
            states.append((checks["notifications"]["state"], "pooler" in checks["notifications"]["says"]))
    assert states == [("ok", False), ("warn", True)]


def test_a_search_asks_the_database_twice_and_waits_for_nothing_else(
    postgres_server: PostgresServer, database: str, tmp_path: Path
) -> None:
    """The beginning with the state, and the texts; the end of the transaction is not waited for, but counted here."""
    with pooled(postgres_server, notifies=True) as pooler, written(database, tmp_path / "w", "The cat sat."):
        behind = database.replace(str(postgres_server.folder), str(pooler.folder))
        overrides = {"embedder": "hashing", "home": str(tmp_path / "r")}
        with Index(with_index(behind, "kb"), overrides=overrides, create=False) as index:
            assert index.search("cat").hits[0].source == "0.txt"
            before = pooler.answers
            for _ in range(10):
                assert index.search("cat").hits[0].source == "0.txt"
            # The end of the transaction before them may be answered, and counted, among them as well.
            assert pooler.answers - before <= 3 * 10 + 1
