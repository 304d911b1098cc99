"""`sync`, `add`, `rm`, `ls`, `show`: documents come, change and go."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def names(outcome: Any) -> list[str]:  # noqa: ANN401
    return [Path(one["source"]).name for one in outcome.data]


def test_a_folder_is_indexed_whole_and_the_report_says_so(run: Run, notes: Path) -> None:
    done = run("sync", notes, "-i", "notes", "--json")

    report = done.data
    assert done.code == 0
    assert sorted(Path(source).name for source in report["added"]) == ["git.md", "prices.csv", "tower.txt"]
    assert report["failed"] == []
    assert report["passages"] >= 3
    assert names(run("ls", "-i", "notes", "--json")) == ["git.md", "prices.csv", "tower.txt"]


def test_a_second_sync_sees_only_what_changed(run: Run, indexed: Path) -> None:
    (indexed / "tower.txt").write_text("The tower was painted brown.\n")
    (indexed / "prices.csv").unlink()
    (indexed / "git.md").rename(indexed / "reset.md")
    (indexed / "new.txt").write_text("Something new.\n")

    done = run("sync", indexed, "-i", "notes")

    assert done.code == 0
    assert f"+ {indexed / 'new.txt'}" in done.out
    assert f"~ {indexed / 'tower.txt'}" in done.out
    assert f"> {indexed / 'git.md'} → {indexed / 'reset.md'}" in done.out
    assert f"- {indexed / 'prices.csv'}" in done.out
    assert "1 added, 1 updated, 1 renamed, 1 deleted, 0 unchanged" in done.out
    assert names(run("ls", "-i", "notes", "--json")) == ["new.txt", "reset.md", "tower.txt"]


def test_a_plan_says_what_would_be_done_and_does_nothing(run: Run, indexed: Path) -> None:
    before = run("ls", "-i", "notes", "--json").data
    (indexed / "new.txt").write_text("Something new.\n")

    planned = run("sync", indexed, "-i", "notes", "--dry-run")
    as_data = run("sync", indexed, "-i", "notes", "--dry-run", "--json").data

    assert f"+ {indexed / 'new.txt'}" in planned.out
    assert "Nothing was written" in planned.out
    assert [Path(source).name for source in as_data["added"]] == ["new.txt"]
    assert run("ls", "-i", "notes", "--json").data == before


def test_a_plan_for_an_index_that_is_not_there_makes_none(run: Run, notes: Path) -> None:
    planned = run("sync", notes, "-i", "notes", "--dry-run", "--json")

    assert len(planned.data["added"]) == 3
    assert run("index", "list", "--json").data == []


def test_a_broken_file_is_named_and_the_rest_is_kept(run: Run, notes: Path) -> None:
    (notes / "broken.pdf").write_bytes(b"%PDF-1.7\nthis is no more than a beginning")

    done = run("sync", notes, "-i", "notes")
    report = run("sync", notes, "-i", "notes", "--json")

    assert done.code == 9
    assert f"! {notes / 'broken.pdf'}: " in done.out
    assert "1 file could not be read; everything else is kept." in done.err
    assert report.code == 9
    assert [Path(one["source"]).name for one in report.data["failed"]] == ["broken.pdf"]
    assert {"source", "kind", "message", "hint"} == report.data["failed"][0].keys()
    assert names(run("ls", "-i", "notes", "--json")) == ["git.md", "prices.csv", "tower.txt"]


def test_broken_files_that_share_a_reason_are_named_together_with_what_to_do_once(run: Run, notes: Path) -> None:
    for number in range(6):
        (notes / f"archive-{number}.gz").write_bytes(b"\x1f\x8b\x08" + bytes(40))
    (notes / "broken.pdf").write_bytes(b"%PDF-1.7\nthis is no more than a beginning")

    done = run("sync", notes, "-i", "notes")
    report = run("sync", notes, "-i", "notes", "--json")

    told = [line for line in done.out.splitlines() if line.startswith("! ")]
    first = ", ".join(str(notes / f"archive-{number}.gz") for number in range(3))
    assert told[0].startswith(f"! {first} and 3 more: ")
    assert told[1].startswith(f"! {notes / 'broken.pdf'}: ")
    assert len(told) == 2
    assert "7 files could not be read; everything else is kept." in done.err
    assert len(report.data["failed"]) == 7


def test_a_new_file_without_text_is_skipped_and_one_that_was_emptied_fails_and_keeps_its_text(
    run: Run, notes: Path
) -> None:
    (notes / "__init__.py").write_bytes(b"")
    (notes / "page.html").write_text("<html><body></body></html>")

    first = run("sync", notes, "-i", "notes", "--json")
    (notes / "tower.txt").write_bytes(b"")
    second = run("sync", notes, "-i", "notes", "--json")

    assert first.code == 0
    assert {(Path(one["path"]).name, one["reason"]) for one in first.data["skipped"]} == {
        ("__init__.py", "the file is empty"),
        ("page.html", "there is no text in the file"),
    }
    assert len(first.data["added"]) == 3
    assert second.code == 9
    assert [Path(one["source"]).name for one in second.data["failed"]] == ["tower.txt"]
    assert names(run("ls", "-i", "notes", "--json")) == ["git.md", "prices.csv", "tower.txt"]


def test_what_gzip_packed_is_read_and_what_unpacks_to_too_much_is_not(run: Run, tmp_path: Path) -> None:
    (tmp_path / "faq.txt.gz").write_bytes(gzip.compress(b"The night ferry to Ostend leaves from quay nine."))
    (tmp_path / "page.html.gz").write_bytes(gzip.compress(b"<html><body><p>The quay is closed.</p></body></html>"))
    (tmp_path / "bomb.txt.gz").write_bytes(gzip.compress(b"quay " * 20_000_000))

    report = run("sync", tmp_path, "-i", "packed", "--json")
    found = run("search", "quay", "-i", "packed", "--mode", "bm25", "--json").data

    assert report.code == 9
    assert [(Path(one["source"]).name, one["kind"]) for one in report.data["failed"]] == [("bomb.txt.gz", "limit")]
    assert {Path(hit["source"]).name for hit in found["hits"]} == {"faq.txt.gz", "page.html.gz"}
    assert "The quay is closed." in {hit["text"] for hit in found["hits"]}


def test_logs_and_changelogs_are_read_however_they_were_packed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "changelog.Debian.gz").write_bytes(gzip.compress(b"sluice (2.1) unstable\n\n  * Open by night.\n"))
    (tmp_path / "sluice.log.1").write_bytes(b"12:00 the sluice was opened by hand\n")
    (tmp_path / "sluice.log.2.xz").write_bytes(lzma.compress(b"11:00 the sluice was shut by hand\n"))
    (tmp_path / "README.bz2").write_bytes(bz2.compress(b"A sluice lets water through.\n"))
    (tmp_path / "cut.log.3.gz").write_bytes(gzip.compress(b"10:00 the sluice was cleaned\n")[:-9])

    report = run("sync", tmp_path, "-i", "packed", "--json")
    found = run("search", "sluice", "-i", "packed", "--mode", "bm25", "--json").data
    shown = run("show", str(tmp_path / "sluice.log.2.xz"), "-i", "packed")

    assert [(Path(one["source"]).name, one["message"]) for one in report.data["failed"]] == [
        ("cut.log.3.gz", "cut short.")
    ]
    assert {Path(hit["source"]).name for hit in found["hits"]} == {
        "changelog.Debian.gz", "sluice.log.1", "sluice.log.2.xz", "README.bz2"
    }  # fmt: skip
    for hit in found["hits"]:
        text = run("show", hit["document"], "-i", "packed", "--json").data["text"]
        assert text[hit["start"] : hit["end"]] == hit["text"]
    assert "11:00 the sluice was shut by hand" in shown.out


def test_a_packed_manual_page_is_found_by_its_options_and_shown_with_them(run: Run, tmp_path: Path) -> None:
    page = b".TH SLUICE 8\n.SH NAME\nsluice \\- open the gate\n"
    page += b".SH OPTIONS\n.TP\n\\fB\\-n\\fR, \\fB\\-\\-night\\fR\nWait for dusk.\n"
    (tmp_path / "sluice.8.gz").write_bytes(gzip.compress(page))
    (tmp_path / "stub.8.gz").write_bytes(gzip.compress(b".so man8/sluice.8\n"))

    report = run("sync", tmp_path, "-i", "manuals", "--json")
    hit = run("search", "sluice --night", "-i", "manuals", "--mode", "bm25", "--json").data["hits"][0]

    for question in ("what does -n do", "sluice -n?", "sluice -n --night"):
        (asked, *_) = run("search", question, "-i", "manuals", "--json").data["hits"]
        assert "-n, --night" in asked["text"]
    assert [Path(one["path"]).name for one in report.data["skipped"]] == ["stub.8.gz"]
    assert hit["title"] == "sluice(8) - open the gate"
    assert "-n, --night\n  Wait for dusk." in hit["text"]
    assert run("show", hit["document"], "-i", "manuals", "--json").data["media_type"] == "text/troff"


def test_what_is_ignored_is_left_out(run: Run, notes: Path) -> None:
    (notes / ".twofoldignore").write_text("*.csv\n")

    run("sync", notes, "-i", "notes")

    assert names(run("ls", "-i", "notes", "--json")) == ["git.md", "tower.txt"]


def test_an_index_may_be_a_path(run: Run, notes: Path, tmp_path: Path) -> None:
    run("sync", notes, "-i", tmp_path / "kept")

    assert (tmp_path / "kept" / "catalog.sqlite3").exists()
    assert len(run("ls", "-i", tmp_path / "kept", "--json").data) == 3


def test_without_a_name_the_default_index_is_used(run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("sync", notes)
    in_default = run("ls", "--json").data
    monkeypatch.setenv("TWOFOLD_INDEX", "default")

    assert len(in_default) == 3
    assert run("ls", "-i", "default", "--json").data == in_default


def test_text_from_standard_input_becomes_a_document(run: Run) -> None:
    added = run(
        "add", "-", "--source", "memo", "--title", "A memo", "--meta", "author=Ada", "-i", "x", given="Buy milk."
    )
    shown = run("show", "memo", "-i", "x", "--json").data

    assert added.code == 0
    assert "memo (1 passage)" in added.out
    assert (shown["source"], shown["title"], shown["text"]) == ("memo", "A memo", "Buy milk.")
    assert shown["metadata"]["author"] == "Ada"


@pytest.mark.parametrize("given", ["", " \n\n"])
def test_standard_input_without_text_is_refused_and_nothing_is_made(run: Run, given: str) -> None:
    done = run("add", "-", "--source", "memo", "-i", "x", given=given)

    assert (done.code, done.out) == (2, "")
    assert "Standard input holds no text" in done.err
    assert run("index", "list", "--json").data == []


def test_files_can_be_added_one_by_one(run: Run, notes: Path) -> None:
    done = run("add", notes / "git.md", notes / "tower.txt", "-i", "x", "--json")

    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [Path(line["source"]).name for line in lines] == ["git.md", "tower.txt"]


def test_documents_can_be_removed_by_the_end_of_their_names(run: Run, indexed: Path) -> None:
    done = run("rm", "tower.txt", "git.md", "-i", "notes", "--json")

    assert done.data == {"removed": 2}
    assert names(run("ls", "-i", "notes", "--json")) == ["prices.csv"]
    assert (indexed / "tower.txt").exists()


@pytest.mark.usefixtures("ready")
def test_nothing_is_removed_when_one_name_is_wrong(run: Run) -> None:
    done = run("rm", "tower.txt", "nothing.txt", "-i", "notes")

    assert done.code == 3
    assert len(run("ls", "-i", "notes", "--json").data) == 3


def test_a_document_is_shown_with_its_fields(run: Run, indexed: Path) -> None:
    shown = run("show", "git.md", "-i", "notes").out

    assert str(indexed / "git.md") in shown
    assert "Ada" in shown
    assert "reset softly" in shown


@pytest.mark.usefixtures("ready")
def test_passages_are_the_documents_own_characters(run: Run) -> None:
    shown = run("show", "git.md", "--chunks", "-i", "notes", "--json").data

    assert shown["chunks"]
    text = shown["document"]["text"]
    assert all(text[one["start"] : one["end"]] == one["text"] for one in shown["chunks"])
    assert "characters 0-" in run("show", "git.md", "--chunks", "-i", "notes").out


def test_a_document_cannot_act_on_the_terminal(run: Run) -> None:
    run(
        "add",
        "-",
        "--source",
        "evil\x1b[2J",
        "--title",
        "\x9b31m",
        "-i",
        "x",
        given="before \x1b]0;owned\x07 after\r\n",
    )

    for command in (("ls",), ("show", "evil\x1b[2J"), ("show", "evil\x1b[2J", "--chunks"), ("search", "before")):
        shown = run(*command, "-i", "x").out
        assert "evil" in shown
        assert not {char for char in shown if ord(char) < 32 and char not in "\n\t"}
        assert not {char for char in shown if 127 <= ord(char) < 160}
