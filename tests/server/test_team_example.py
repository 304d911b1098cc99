"""`examples/team` runs: one database, two servers, HTTPS in front, and the team goes on when a server dies."""

import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from typer.testing import CliRunner

from support.postgres_server import PostgresServer
from twofold.cli.app import application
from twofold.config.settings import known_settings

TEAM = Path(__file__).parents[2] / "examples" / "team"
COMPOSE = yaml.safe_load((TEAM / "compose.yaml").read_text())
SERVERS = ("one", "two")


@pytest.fixture
def state() -> Iterator[Path]:
    """A folder that the database's own user reaches, with a short path: it holds a socket."""
    made = Path(tempfile.mkdtemp(prefix="team-"))
    yield made
    shutil.rmtree(made)


@contextmanager
def team(documents: Path, state: Path, server: PostgresServer) -> Iterator[dict[str, list[str]]]:
    """Run the example until the block ends, and give what it said."""
    surroundings = {**os.environ, "TWOFOLD_EMBEDDER": "hashing", "PATH": f"{server.programs}:{os.environ['PATH']}"}
    command: list[str | Path] = [sys.executable, TEAM / "team.py", documents, "--state", state, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=surroundings) as process:
        assert process.stdout is not None
        lines: list[str] = []
        try:
            for line in process.stdout:
                lines.append(line)
                if line.startswith("Ask "):
                    break
            said = "".join(lines)
            yield {
                "address": re.findall(r"^Ask (https://localhost:\d+)", said, re.MULTILINE),
                "authority": re.findall(r"authority: (.*)\)", said),
                "tokens": re.findall(r"shown once\): (\S+)", said),
                "processes": re.findall(r"process (\d+)", said),
                "summary": re.findall(r"^\d+ added.*", said, re.MULTILINE),
            }
        finally:
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
            assert process.wait() == 0


def client(said: dict[str, list[str]], token: str) -> httpx2.Client:
    trusted = ssl.create_default_context(cafile=said["authority"][0])
    bearer = {"Authorization": f"Bearer {token}"}
    return httpx2.Client(base_url=said["address"][0], verify=trusted, headers=bearer, timeout=60.0, trust_env=False)


def found(asking: httpx2.Client, query: str) -> Any:  # noqa: ANN401  # JSON
    answer = asking.post("/v1/indexes/handbook/search", json={"query": query})
    assert answer.status_code == 200, answer.text
    return [Path(hit["source"]).name for hit in answer.json()["hits"]]


def test_a_team_searches_through_https_and_goes_on_when_a_server_dies(
    tmp_path: Path, state: Path, postgres_server: PostgresServer
) -> None:
    (tmp_path / "leave.md").write_text("# Leave\n\nParental leave lasts for fourteen months.")
    (tmp_path / "travel.md").write_text("# Travel\n\nTrains are booked by everyone for themselves.")
    with team(tmp_path, state, postgres_server) as said:
        assert said["summary"][0].startswith("2 added")
        reads, writes = said["tokens"]
        with client(said, reads) as reading, client(said, writes) as writing:
            assert found(reading, "parental leave")[0] == "leave.md"
            added = {"documents": [{"text": "Dogs are welcome on Fridays.", "source": "dogs.md"}]}
            assert reading.post("/v1/indexes/handbook/documents", json=added).status_code == 403
            job = writing.post("/v1/indexes/handbook/documents", json=added).json()["id"]
            assert writing.get(f"/v1/jobs/{job}/events").status_code == 200
            assert found(reading, "dogs on Fridays")[0] == "dogs.md"
            os.kill(int(said["processes"][0]), signal.SIGKILL)
            for asking in (reading, writing):
                assert found(asking, "parental leave")[0] == "leave.md"
    with team(tmp_path, state, postgres_server) as said:
        assert said["summary"][0].startswith("0 added, 0 updated, 0 renamed, 0 deleted, 2 unchanged")
        assert said["tokens"] == []
        with client(said, reads) as reading:
            assert found(reading, "dogs on Fridays")[0] == "dogs.md"
            assert reading.get("/").headers["content-type"].startswith("text/html")


def test_the_compose_file_says_what_the_program_understands() -> None:
    known = CliRunner().invoke(application(), ["serve", "--help"], env={"COLUMNS": "200"}).stdout
    services = COMPOSE["services"]
    for name in SERVERS:
        said = services[name]["command"]
        assert said[0] == "serve"
        assert {word for word in said if word.startswith("--")} <= set(re.findall(r"--[a-z-]+", known))
        variables = {one for one in services[name]["environment"] if one.startswith("TWOFOLD_")}
        assert variables <= {one.variable for one in known_settings().values()}
        assert "ports" not in services[name]
        assert services[name]["read_only"] is True
    caddy = (TEAM / "Caddyfile").read_text()
    told = services["proxy"]["environment"]
    assert set(re.findall(r"\{\$(\w+)\}", caddy)) == {one for one in told if one.startswith("TEAM_")}
    assert {one.partition(":")[0] for one in told["TEAM_SERVERS"].split()} == set(SERVERS)
    assert (
        "postgres" in (TEAM.parents[1] / "deploy" / "Dockerfile").read_text().partition("/source[")[2].partition("]")[0]
    )
