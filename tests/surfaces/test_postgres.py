"""An index in a PostgreSQL database, through the library and the command line, next to a local one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from surfaces.conftest import Run
from twofold import Index
from twofold.domain.errors import InvalidInputError, MissingExtraError, NotFoundError, StoreError

QUESTIONS = ["undo a commit", '"soft reset" -merge', "ERR-12345", "two parents", "nothing of the kind"]
SECRET = "open-sesame-77"  # noqa: S105  # to be looked for


def test_commands_work_on_an_address_and_never_show_its_password(run: Run, documents: Path, postgres: str) -> None:
    where = f"{postgres}&password={SECRET}"
    written = [
        run("sync", documents, "--index", where),
        run("search", "undo a commit", "--index", where),
        run("ask", "How many parents has a merge commit?", "--index", where),
        run("ls", "--index", where),
        run("index", "info", "--index", where),
        run("index", "verify", "--index", where),
        run("doctor", "--index", where),
        run("index", "compact", "--index", where),
        run("--set", f"index={where}", "config", "show"),
        run("--set", f"index={where}", "config", "show", "--json"),
        run("index", "create", "--index", where),
        run("search", "undo", "--index", where, "--index", "other"),
        run("search", "undo", "--index", where, "--json"),
        run("index", "drop", "--yes", "--index", where),
        run("search", "undo", "--index", where),
        run("index", "info", "--index", f"postgresql://me:{SECRET}@localhost:1/db"),
        run("index", "info", "--index", f"postgresql://me:{SECRET}%@localhost:1/db"),
        run("index", "info", "--index", f"postgresql://me:{SECRET}@localhost:nowhere/db"),
    ]

    assert "5 added" in written[0].out
    assert "reset.md" in written[1].out
    assert "two parents" in written[2].out
    assert written[13].out.startswith("Deleted postgresql://postgres@/postgres")
    assert [one.code for one in written] == [0] * 10 + [2] + [0] * 3 + [3, 10, 2, 2]
    assert SECRET not in "".join(one.out + one.err for one in written)


def test_names_are_values(postgres: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot be the name"):
        Index(postgres + "%22%3B%20DROP%20SCHEMA%20twofold%20CASCADE%3B--")
    with pytest.raises(NotFoundError, match="no index"):
        Index(postgres, create=False)


def test_what_was_deleted_by_another_process_is_gone(postgres: str) -> None:
    with Index(postgres) as first, Index(postgres) as second:
        first.add("The cat sat.", source="cat.txt")
        assert len(second) == 1
        first.drop()
        with pytest.raises(NotFoundError, match="no longer"):
            second.search("cat")


def test_a_server_that_does_not_answer_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be reached"):
        Index(f"postgresql:///kb?host={tmp_path}", create=False)


def test_without_the_extra_the_error_names_it(documents: Path) -> None:
    code = "import sys; sys.modules['psycopg'] = None; from twofold import Index; Index('postgresql:///kb')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert MissingExtraError.__name__ in done.stderr
    assert "twofold[postgres]" in done.stderr
    assert documents.is_dir()


def test_queries_and_conversations_of_an_address_are_kept_on_this_machine(
    run: Run, postgres: str, tmp_path: Path
) -> None:
    with Index(postgres, overrides={"log": {"queries": True}}) as index:
        index.add("The cat sat.", source="cat.txt")
        index.search("cat")
    listed = run("--set", f"index={postgres}", "--set", "log=queries:true", "log", "--json")
    assert [one["question"] for one in json.loads(listed.out)] == ["cat"]
    assert tmp_path.is_dir()
