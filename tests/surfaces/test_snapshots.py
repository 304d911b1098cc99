"""An index as it was: named, searched, compared, branched, and written to one file that makes the same index again."""

import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from support.indexes import GIT, indexed
from twofold import Index
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.stores.local.checksums import ChecksumVFS

Run = Callable[..., Any]
QUESTIONS = ("undo the last commit", "merge two branches", "ERR-12345", "changes for later", "nothing of the sort")


@pytest.fixture
def changed(run: Run, documents: Path) -> Path:
    """An index with a snapshot, where two documents were changed and deleted since."""
    assert run("sync", documents, "-i", "kb").code == 0
    assert run("index", "snapshot", "monday", "-i", "kb").code == 0
    (documents / "stash.md").unlink()
    (documents / "merge.md").write_text("# Merge\n\nA merge may be fast-forward.")
    (documents / "tags.md").write_text("# Tags\n\nA tag names a commit.")
    assert run("sync", documents, "-i", "kb").code == 0
    return documents


def found(index: Index, question: str) -> list[dict[str, Any]]:
    return [hit.to_dict() for hit in index.search(question, k=20).hits]


@pytest.mark.usefixtures("changed")
def test_a_snapshot_is_searched_listed_shown_and_asked(run: Run) -> None:
    then = run("search", "put changes aside", "-i", "kb", "--as-of", "monday", "--json").data
    now = run("search", "put changes aside", "-i", "kb", "--json").data
    shown = run("show", "merge.md", "-i", "kb", "--as-of", "monday").out
    answered = run("ask", "how do I put changes aside?", "-i", "kb", "--as-of", "monday", "--json").out

    assert then["hits"][0]["source"].endswith("stash.md")
    assert "stash.md" not in json.dumps(now)
    assert "two parents" in shown
    assert "stash.md" in answered
    assert len(run("ls", "-i", "kb", "--as-of", "monday", "--json").data) == 5
    assert len(run("ls", "-i", "kb", "--json").data) == 5


@pytest.mark.usefixtures("changed")
def test_the_list_says_what_each_retains_and_deleting_frees_it(run: Run) -> None:
    (first,) = run("index", "snapshots", "-i", "kb", "--json").data
    run("index", "snapshot", "tuesday", "-i", "kb")
    run("index", "snapshot", "wednesday", "-i", "kb")
    run("rm", "errors.md", "-i", "kb")
    monday, tuesday, _ = run("index", "snapshots", "-i", "kb", "--json").data
    listed = run("index", "snapshots", "-i", "kb").out
    deleted = run("index", "snapshot", "--delete", "monday", "-i", "kb")

    assert (first["name"], first["documents"], first["shared_bytes"]) == ("monday", 5, 0)
    assert first["retained_bytes"] > len(GIT["stash.md"]) + len(GIT["merge.md"])
    assert monday["retained_bytes"] == first["retained_bytes"]  # errors.md is in all three
    assert monday["shared_bytes"] == tuesday["shared_bytes"] > 0
    assert tuesday["retained_bytes"] == 0
    assert "retains 0 B" in listed
    assert deleted.code == 0
    assert run("search", "x", "-i", "kb", "--as-of", "monday").code == 3
    assert run("search", "error", "-i", "kb", "--as-of", "tuesday", "--json").data["hits"]


@pytest.mark.usefixtures("changed")
def test_a_date_means_the_last_snapshot_by_then(run: Run) -> None:
    (one,) = run("index", "snapshots", "-i", "kb", "--json").data

    assert len(run("search", "aside", "-i", "kb", "--as-of", one["created"], "--json").data["hits"]) > 0
    assert run("search", "aside", "-i", "kb", "--as-of", one["created"][:10]).code == 0
    assert run("search", "aside", "-i", "kb", "--as-of", "2001-01-01").code == 3
    assert run("search", "aside", "-i", "kb", "--as-of", "nobody").code == 3


def test_what_changed_is_shown_by_document_and_by_question(
    run: Run, changed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(changed.parent)  # names are shown as seen from here
    questions = tmp_path / "questions.txt"
    questions.write_text("put changes aside\nundo a commit softly\n")
    found = run("index", "diff", "monday", "now", "--queries", questions, "-i", "kb", "--json").data
    shown = run("index", "diff", "monday", "--queries", questions, "-i", "kb").out

    kinds = {Path(one["source"]).name: one["kind"] for one in found["documents"]}
    assert kinds == {"stash.md": "removed", "merge.md": "changed", "tags.md": "added"}
    assert found["queries"] == 2
    aside = next(one for one in found["rankings"] if one["query"] == "put changes aside")
    assert [one["rank"] for one in aside["before"]] == [1, 2, 3, 4, 5]
    assert Path(aside["before"][0]["source"]).name == "stash.md"
    assert f"- {changed.name}/stash.md\n" in shown
    assert f"  -   1  {changed.name}/stash.md › Stash\n" in shown
    assert "1 added, 1 removed, 1 changed" in shown
    assert "no question to compare" in run("index", "diff", "monday", "--log", "-i", "kb").out
    assert run("index", "diff", "monday", "monday", "-i", "kb", "--json").data["documents"] == []


@pytest.mark.usefixtures("changed")
def test_a_branch_is_an_index_of_its_own(run: Run) -> None:
    made = run("index", "branch", "monday", "old", "-i", "kb")
    run("rm", "errors.md", "-i", "old")

    assert made.code == 0
    assert len(run("ls", "-i", "old", "--json").data) == 4
    assert len(run("ls", "-i", "kb", "--as-of", "monday", "--json").data) == 5
    assert run("index", "branch", "now", "old", "-i", "kb").code == 2
    assert {one["name"] for one in run("index", "list", "--json").data} == {"kb", "old"}
    assert run("index", "verify", "old").code == 0


def test_a_past_state_is_not_changed(tmp_path: Path) -> None:
    with indexed(GIT, where=tmp_path / "kb") as index:
        index.snapshot("monday")
        with pytest.raises(InvalidInputError, match="already"):
            index.snapshot("monday")
        for name in ("now", "", "a/b", "x" * 65, ".hidden"):
            with pytest.raises(InvalidInputError, match="name of a snapshot"):
                index.snapshot(name)
        with index.at("monday") as past:
            for change in (
                lambda: past.add("more", source="x"),
                lambda: past.delete("merge.md"),
                past.compact,
                lambda: past.set_settings({"search.k": 3}),
                lambda: past.snapshot("again"),
            ):
                with pytest.raises(InvalidInputError):
                    change()
        index.delete_snapshot("monday")
        with pytest.raises(NotFoundError):
            index.at("monday")
        with pytest.raises(NotFoundError):
            index.delete_snapshot("monday")


@pytest.mark.parametrize("reindexes", [False, True])
def test_the_result_at_a_snapshot_is_that_of_a_copied_folder_bit_for_bit(tmp_path: Path, *, reindexes: bool) -> None:
    folder, copy = tmp_path / "kb", tmp_path / "copy"
    with indexed(GIT, where=folder) as index:
        index.set_settings({"search.k": 7})
        index.snapshot("monday")
    shutil.copytree(folder, copy)
    with Index(folder, embedder=HashingEmbedder()) as index:
        index.set_settings({"search.k": 2})
        index.delete("stash.md", "errors.md")
        index.add("# Merge\n\nundo undo undo", source="merge.md")
        index.add("merge of changes for later", source="more.md")
    if reindexes:
        with Index(folder, embedder=HashingEmbedder(64), overrides={"analyzer": "simple"}) as index:
            index.reindex()
            index.compact()
    with (
        Index(folder, as_of="monday", embedder=HashingEmbedder()) as past,
        Index(copy, embedder=HashingEmbedder()) as before,
    ):
        assert past.documents() == before.documents()
        assert past.get_settings() == before.get_settings() == {"search.k": "7"}
        assert past.info().fingerprint == before.info().fingerprint
        for question in QUESTIONS:
            assert found(past, question) == found(before, question)
            assert past.ask(question, llm="none").text == before.ask(question, llm="none").text
    with Index(folder, embedder=HashingEmbedder(64 if reindexes else 256), create=False) as index:
        assert index.verify() == []
        assert len(index) == 4


def test_an_exported_file_follows_from_the_documents_alone_and_makes_them_again(tmp_path: Path) -> None:
    one, two = tmp_path / "one.twofold", tmp_path / "two.twofold"
    with indexed(GIT, where=tmp_path / "kb") as index:
        checksum = index.export(one)
        with pytest.raises(InvalidInputError, match="already"):
            index.export(one)
    with Index(tmp_path / "other", embedder=HashingEmbedder()) as index:  # another history of the same documents
        index.add("passing", source="passing.md")
        for source in sorted(GIT, reverse=True):
            index.add("first " + GIT[source], source=source)
            index.add(GIT[source], source=source)
        index.delete("passing.md")
        index.compact()
        index.export(two)
    assert one.read_bytes() == two.read_bytes()
    assert checksum == hashlib.sha256(one.read_bytes()).hexdigest()

    with (
        Index(tmp_path / "kb", embedder=HashingEmbedder()) as before,
        Index.from_export(one, tmp_path / "again") as after,
    ):
        assert after.documents() == before.documents()
        assert [found(after, question) for question in QUESTIONS] == [found(before, question) for question in QUESTIONS]
        assert after.verify() == []
        after.export(tmp_path / "three.twofold")
    assert (tmp_path / "three.twofold").read_bytes() == one.read_bytes()


def test_snapshots_in_memory_are_the_same(tmp_path: Path) -> None:
    with indexed(GIT) as memory, indexed(GIT, where=tmp_path / "kb") as local:
        for index in (memory, local):
            index.snapshot("monday")
            index.delete("stash.md")
        with memory.at("monday") as one, local.at("monday") as other:
            assert [found(one, question) for question in QUESTIONS] == [
                found(other, question) for question in QUESTIONS
            ]
            assert len(one) == len(other) == 5
        assert len(memory) == 4


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM retained_chunk",
        "UPDATE retained_chunk SET text = 'another'",
        "UPDATE retained_chunk SET vector = x'00'",
        "UPDATE retained_document SET blocks = 'x'",
        "DELETE FROM retained_document",
        "UPDATE snapshot SET chunks = chunks + 1",
    ],
)
def test_verify_finds_damage_to_what_is_retained(run: Run, changed: Path, damage: str) -> None:
    assert run("index", "verify", "kb").code == 0
    folder = Path(run("index", "info", "kb", "--json").data["folder"])
    vfs = ChecksumVFS("damaging", "")
    with closing(apsw.Connection(str(folder / "catalog.sqlite3"), vfs=vfs.name)) as connection:
        connection.execute(damage)

    assert run("index", "verify", "kb").code == 7
    assert run("search", "merge", "-i", "kb").code == 0
    assert changed.exists()


def test_who_may_read_a_past_state_is_who_may_today(tmp_path: Path) -> None:
    with indexed(
        {"a.md": "the cat", "b.md": "the cat again", "c.md": "the cat once more"}, where=tmp_path / "kb"
    ) as index:
        index.snapshot("monday")
        index.set_readers("a.md", ["user:ann"])
        index.set_readers("b.md", ["user:ann"])
        index.add("changed", source="a.md")
        index.delete("b.md")
        with index.at("monday") as then:
            assert [hit.source for hit in then.as_principals(["user:bob"]).search("cat").hits] == ["c.md"]
            assert len(then.as_principals(["user:ann"]).search("cat").hits) == 3
            assert len(then.search("cat").hits) == 3
        index.set_settings({"acl": "default:nobody"})
        with index.at("monday") as then:
            assert len(then.as_principals(["user:ann"]).search("cat").hits) == 2
            assert then.as_principals(["user:bob"]).documents() == []
