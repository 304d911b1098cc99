"""A server that cannot open its own records: it says so in two lines, with the error's exit code."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

RECORDS = "server/server.sqlite3"


def started(home: Path) -> subprocess.CompletedProcess[str]:
    """Start a server that is expected to end by itself."""
    surroundings = {**os.environ, "TWOFOLD_HOME": str(home), "TWOFOLD_EMBEDDER": "hashing"}
    command = [sys.executable, "-m", "twofold", "serve", "--port", "0"]
    return subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=60.0, check=False)


def a_folder(path: Path) -> None:
    path.mkdir()


def no_database(path: Path) -> None:
    path.write_text("These are no records of a server at all. " * 100)


def another_version(path: Path) -> None:
    with apsw.Connection(str(path)) as connection:
        connection.execute("CREATE TABLE feedback (number INTEGER PRIMARY KEY, record BLOB NOT NULL)")


def no_job(path: Path) -> None:
    with apsw.Connection(str(path)) as connection:
        connection.execute("CREATE TABLE jobs (number INTEGER PRIMARY KEY, id TEXT UNIQUE, record BLOB NOT NULL)")
        connection.execute("INSERT INTO jobs (id, record) VALUES ('0123456789abcdef', x'7b7d')")


@pytest.mark.parametrize(("damage", "code"), [(a_folder, 10), (no_database, 7), (another_version, 7), (no_job, 7)])
def test_records_that_cannot_be_opened_are_told_in_words(
    tmp_path: Path, damage: Callable[[Path], None], code: int
) -> None:
    (tmp_path / "server").mkdir()
    damage(tmp_path / RECORDS)

    ended = started(tmp_path)

    assert ended.returncode == code
    assert ended.stdout == ""
    assert ended.stderr.startswith("twofold: ")
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 2
