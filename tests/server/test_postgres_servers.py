"""Two servers of one database: each lists its indexes, and one sees at once what is written through the other."""

import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.api_client import Visit, visiting
from support.postgres_server import PostgresServer
from twofold import Index
from twofold.stores.database_address import with_index

PASSWORD = "open-sesame-78"  # noqa: S105  # to be looked for


@pytest.fixture
def database(postgres_server: PostgresServer) -> str:
    return f"{postgres_server.create_database(f'servers-{secrets.token_hex(4)}')}&password={PASSWORD}"


@pytest.fixture
def servers(database: str, tmp_path: Path) -> Iterator[tuple[Visit, Visit]]:
    with visiting(tmp_path / "a", database=database) as one, visiting(tmp_path / "b", database=database) as other:
        yield one, other


def test_what_is_written_through_one_server_is_found_through_the_other(servers: tuple[Visit, Visit]) -> None:
    one, other = servers
    assert one.client.get("/v1/indexes").json()["indexes"] == []
    assert one.client.post("/v1/indexes", json={"name": "kb"}).status_code == 201
    assert other.client.post("/v1/indexes", json={"name": "kb"}).status_code == 400
    assert other.client.get("/v1/indexes").json()["indexes"] == ["kb"]

    for number, (writer, reader) in enumerate([(one, other), (other, one), (one, other)]):
        text = {"text": f"The cat number{number} sat on the mat.", "source": f"{number}.txt"}
        job = writer.client.post("/v1/indexes/kb/documents", json={"documents": [text]}).json()["id"]
        assert writer.finished(job)["state"] == "done"
        found = [
            visit.client.post("/v1/indexes/kb/search", json={"query": f"cat number{number}"}).json()
            for visit in (reader, writer)
        ]
        assert found[0]["hits"][0]["source"] == f"{number}.txt"
        assert found[0]["hits"] == found[1]["hits"]

    assert other.client.delete("/v1/indexes/kb").status_code == 204
    assert one.client.get("/v1/indexes").json()["indexes"] == []
    assert one.client.post("/v1/indexes/kb/search", json={"query": "cat"}).status_code == 404


def test_an_index_filled_from_the_command_line_is_served(database: str, servers: tuple[Visit, Visit]) -> None:
    with Index(with_index(database, "notes"), overrides={"embedder": "hashing"}) as index:
        index.add("The dog ran.", source="dog.txt")
    listed = servers[0].client.get("/v1/indexes").json()
    found = servers[0].client.post("/v1/indexes/notes/search", json={"query": "dog"}).json()
    assert listed["indexes"] == ["notes"]
    assert [hit["source"] for hit in found["hits"]] == ["dog.txt"]
    assert PASSWORD not in repr((listed, found))


def test_the_command_serves_a_database_and_does_not_show_its_password(database: str) -> None:
    command = [sys.executable, "-m", "twofold", "serve", "--port", "0", "--root", database]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        first = server.stdout.readline()
        server.send_signal(signal.SIGTERM)
        rest = server.communicate(timeout=30)
    assert first.startswith("Serving postgresql://postgres@/servers-")
    assert PASSWORD not in first + "".join(rest)


def test_one_database_is_served_and_it_must_answer(database: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "twofold", "serve", "--port", "0", "--root"]
    two = subprocess.run([*command, database, "--root", database], capture_output=True, text=True, check=False)
    gone = subprocess.run(
        [*command, f"postgresql:///kb?host={tmp_path}&password={PASSWORD}"], capture_output=True, text=True, check=False
    )
    assert (two.returncode, gone.returncode) == (2, 10)
    assert PASSWORD not in two.stderr + gone.stderr
