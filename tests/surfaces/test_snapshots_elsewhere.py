"""Snapshots of an index in a database or a bucket: those of a local index, bit for bit."""

from pathlib import Path

import pytest

from support.indexes import GIT
from surfaces.conftest import Run

QUESTIONS = ["undo a commit", '"soft reset" -merge', "ERR-12345", "two parents"]
SECRET = "open-sesame-77"  # noqa: S105  # to be looked for


@pytest.fixture(params=["postgres", "s3"])
def changed(request: pytest.FixtureRequest, run: Run, tmp_path: Path) -> tuple[str, str]:
    """A local index and one elsewhere, each with a snapshot, where documents were changed and deleted since."""
    documents = tmp_path / "git"
    documents.mkdir()
    for name, text in GIT.items():
        (documents / name).write_text(text)
    indexes = ("kb", str(request.getfixturevalue(request.param)))
    for index in indexes:
        assert run("sync", documents, "--index", index).code == 0
        assert run("index", "snapshot", "monday", "--index", index).code == 0
    (documents / "stash.md").unlink()
    (documents / "merge.md").write_text("# Merge\n\nA merge may be fast-forward.")
    for index in indexes:
        assert run("sync", documents, "--index", index).code == 0
        assert run("index", "compact", "--index", index).code == 0
    return indexes


def test_snapshots_of_an_address_are_those_of_a_local_index_bit_for_bit(run: Run, changed: tuple[str, str]) -> None:
    for question in QUESTIONS:
        asked = ("search", question, "--as-of", "monday", "--json", "--explain", "--index")
        here, there = (run(*asked, index).data for index in changed)
        assert here["hits"] == there["hits"]
        assert here["hits"]
    for words in (("ls", "--as-of", "monday", "--json"), ("index", "diff", "monday", "--json")):
        here, there = (run(*words, "--index", index).data for index in changed)
        assert here == there
    (one,), (other,) = (run("index", "snapshots", "--json", "--index", index).data for index in changed)
    assert one["retained_bytes"] == other["retained_bytes"] > 0
    assert {**one, "created": ""} == {**other, "created": ""}
    assert run("index", "snapshot", "--delete", "monday", "--index", changed[1]).code == 0
    assert run("search", "x", "--as-of", "monday", "--index", changed[1]).code == 3
    assert run("index", "verify", "--index", changed[1]).code == 0


def test_a_snapshot_becomes_a_file_and_indexes_of_the_same_place(
    run: Run, changed: tuple[str, str], tmp_path: Path
) -> None:
    files = [tmp_path / "here.twofold", tmp_path / "there.twofold"]
    for index, file in zip(changed, files, strict=True):
        assert run("index", "export", file, "--as-of", "monday", "--index", index).code == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    shared = changed[1]
    password = "" if shared.startswith("s3:") else f"&password={SECRET}"
    branch, broken = f"{shared}-branch{password}", tmp_path / "broken.twofold"
    made = run("index", "branch", "monday", branch, "--index", shared)
    taken = run("index", "branch", "monday", branch, "--index", shared)
    assert (made.code, taken.code) == (0, 2)
    assert SECRET not in made.out + made.err + taken.err
    assert run("index", "import", files[0], "--index", f"{shared}-file").code == 0
    then = run("search", QUESTIONS[0], "--as-of", "monday", "--json", "--index", shared).data
    for index in (branch, f"{shared}-file"):
        assert run("search", QUESTIONS[0], "--json", "--index", index).data["hits"] == then["hits"]
        assert run("index", "verify", "--index", index).code == 0

    broken.write_bytes(files[0].read_bytes()[:-1])
    assert run("index", "import", broken, "--index", f"{shared}-broken").code != 0
    assert run("index", "info", "--index", f"{shared}-broken").code == 3
