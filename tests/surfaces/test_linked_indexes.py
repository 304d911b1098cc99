"""Links in the path of an index: every spelling is the same index, and no link leads a change out of its folder."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.api_client import visiting
from twofold import Index
from twofold.domain.errors import WriterBusyError
from twofold.factory.places import folder_of
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.history import Turn
from twofold.stores.local.lock import WriterLock

Run = Callable[..., Any]


def linked_home(home: Path, aside: Path) -> None:
    """Put a link to another folder in place of the home, as on macOS, where /tmp is one."""
    shutil.move(home, aside)
    home.symlink_to(aside, target_is_directory=True)


@pytest.fixture
def home() -> Path:
    """This test's home."""
    return Path(os.environ["TWOFOLD_HOME"])


def test_every_command_works_with_a_linked_home(run: Run, notes: Path, home: Path, tmp_path: Path) -> None:
    linked_home(home, tmp_path / "disk")

    assert run("sync", notes, "-i", "n").code == 0
    assert "Eiffel" in run("search", "Eiffel tower", "-i", "n").out
    assert "Eiffel" in run("ask", notes, "Where is the Eiffel tower?").out
    assert run("index", "verify", "n").code == 0
    assert run("index", "compact", "n").code == 0
    assert run("index", "reindex", "n").code == 0
    assert len(run("ls", "-i", "n", "--json").data) == 3
    assert run("rm", "tower.txt", "-i", "n").code == 0
    assert run("doctor").code == 0
    assert run("index", "drop", "n", "--yes").code == 0
    assert not (tmp_path / "disk" / "indexes" / "n").exists()


@pytest.mark.usefixtures("ready")
def test_a_server_serves_a_linked_home(home: Path, tmp_path: Path) -> None:
    linked_home(home, tmp_path / "disk")
    with visiting(home) as visit:
        found = visit.client.post("/v1/indexes/notes/search", json={"query": "Eiffel tower"})

    assert found.status_code == 200
    assert "Eiffel" in found.json()["hits"][0]["text"]


@pytest.mark.usefixtures("ready")
def test_a_linked_index_folder_is_the_index_and_goes_with_it(run: Run, notes: Path, home: Path, tmp_path: Path) -> None:
    folder, disk = home / "indexes" / "notes", tmp_path / "disk"
    shutil.move(folder, disk)
    folder.symlink_to(disk, target_is_directory=True)

    assert [one["name"] for one in run("index", "list", "--json").data] == ["notes"]
    assert run("search", "Eiffel tower", "-i", "notes").code == 0
    assert run("sync", notes, "-i", "notes").code == 0
    assert run("index", "verify", "notes").code == 0
    assert run("index", "drop", "notes", "--yes").code == 0
    assert not os.path.lexists(folder)
    assert not disk.exists()


@pytest.mark.usefixtures("ready")
def test_a_linked_catalog_is_the_index_that_it_lies_in(run: Run, home: Path, tmp_path: Path) -> None:
    whole, link = home / "indexes" / "notes", tmp_path / "link"
    link.mkdir()
    (link / "catalog.sqlite3").symlink_to(whole / "catalog.sqlite3")

    assert run("search", "Eiffel tower", "-i", link).code == 0
    assert run("rm", "tower.txt", "-i", link).code == 0
    assert len(run("ls", "-i", "notes", "--json").data) == len(run("ls", "-i", link, "--json").data) > 0
    assert sorted(path.name for path in link.iterdir()) == ["catalog.sqlite3"]
    refused = run("index", "drop", link, "--yes")
    assert refused.code == 2
    assert "only a link" in refused.err
    assert run("index", "verify", "notes").code == 0


def test_two_spellings_share_the_lock_and_the_conversations(home: Path, tmp_path: Path) -> None:
    (tmp_path / "there").symlink_to(home, target_is_directory=True)
    straight, linked = home / "x", tmp_path / "there" / "x"
    with Index(straight, embedder=HashingEmbedder()) as one:
        one.add("The cat sat on the mat.", source="cat.txt")
        one.ask("Where is the cat?", session="s")
        with Index(linked, embedder=HashingEmbedder(), overrides={"timeouts": {"write": 0.1}}) as other:
            assert other.conversation("s")[0] == Turn("user", "Where is the cat?")
            with WriterLock(straight / "writer.lock", 0.1).locked(), pytest.raises(WriterBusyError):
                other.add("The dog ran.", source="dog.txt")
            assert folder_of(linked, home) == folder_of(straight, home)


def test_a_link_that_leads_nowhere_is_named_and_nothing_is_made_behind_it(run: Run, home: Path, tmp_path: Path) -> None:
    (home / "indexes").mkdir()
    (home / "indexes" / "gone").symlink_to(tmp_path / "unmounted" / "gone", target_is_directory=True)
    (home / "indexes" / "round").symlink_to(home / "indexes" / "round")
    (tmp_path / "note.txt").write_text("One line.")
    for name in ("gone", "round"):
        refused = run("sync", tmp_path / "note.txt", "-i", name)
        assert refused.code == 3
        assert "which is not there" in refused.err
    assert not (tmp_path / "unmounted").exists()


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(
    "name", ["catalog.sqlite3-wal", "catalog.sqlite3-shm", "catalog.acknowledged", "writer.lock", "catalog.sqlite3.new"]
)
def test_no_file_outside_is_written_through_a_link(
    run: Run, notes: Path, home: Path, tmp_path: Path, name: str
) -> None:
    victim = tmp_path / "diary.txt"
    victim.write_text("My own words.")
    place = home / "indexes" / "notes" / name
    place.unlink(missing_ok=True)
    place.symlink_to(victim)
    (notes / "new.txt").write_text("A new note.")

    for words in (["sync", notes], ["search", "note"], ["index", "verify"], ["index", "compact"]):
        done = run(*words, "-i", "notes")
        assert done.code == (0 if name.endswith(".new") else 7), done.err
    assert victim.read_text() == "My own words."


@pytest.mark.usefixtures("ready")
def test_a_linked_folder_of_segments_is_refused_and_left_alone(run: Run, home: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "diary.txt").write_text("My own words.")
    (mine / "000000000001-000000000001.segment").write_text("mine too")
    place = home / "indexes" / "notes" / "segments"
    shutil.rmtree(place)
    place.symlink_to(mine, target_is_directory=True)

    assert run("index", "compact", "notes").code == 7
    assert "is a link" in run("search", "Eiffel", "-i", "notes").err
    assert run("index", "drop", "notes", "--yes").code == 7
    assert len(list(mine.iterdir())) == 2


@pytest.mark.usefixtures("ready")
def test_a_drop_deletes_nothing_but_the_index(run: Run, home: Path, tmp_path: Path) -> None:
    place = home / "indexes" / "notes" / "segments"
    (place / "diary.txt").write_text("My own words.")
    refused = run("index", "drop", "notes", "--yes")

    assert refused.code == 2
    assert "segments/diary.txt" in refused.err
    assert run("index", "compact", "notes").code == 0
    assert (place / "diary.txt").read_text() == "My own words."
    assert json.loads(run("index", "info", "notes", "--json").out)["documents"] == 3
    (place / "diary.txt").unlink()
    (place / "000000000009-000000000009.segment").symlink_to(tmp_path)
    assert run("index", "drop", "notes", "--yes").code == 0
    assert tmp_path.is_dir()
