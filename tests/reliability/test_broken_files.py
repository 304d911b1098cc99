"""Files that are not what their names say, or no text at all: each is reported with its reason, none is indexed."""

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from twofold.cli.app import application

HIGH = random.Random(7)  # noqa: S311 no secret

BROKEN = {
    "broken.pdf": (b"garbage", "malformed", "its name says a PDF document (.pdf), but its content is not one"),
    "no-zip.docx": (b"this is no zip", "malformed", "its name says a Word document (.docx)"),
    "no-zip.xlsx": (b"a,b\n1,2\n" * 20, "malformed", "its name says an Excel workbook (.xlsx)"),
    "words.png": (b"words, and no picture", "malformed", "its name says an image (.png)"),
    "binary.pdf": (bytes(range(1, 9)) * 40, "malformed", "its name says a PDF document (.pdf)"),
    "data.xyz": (bytes(range(256)) * 20, "unsupported", "the file is not text"),
    "high.xyz": (bytes(HIGH.randrange(128, 256) for _ in range(3000)), "unsupported", "not text in any known encoding"),
    "controls.txt": (b"\a\b\x1b" * 500, "unsupported", "the file is not text"),
    "zeros.txt": (b"\0\1" * 500, "unsupported", "the file is not text"),
    "late.txt": (b"Words at first. " * 5000 + bytes(range(1, 9)) * 5000, "unsupported", "the file is not text"),
    "marked.txt": (b"\xff\xfe" + b"\1\0\2\0" * 400, "unsupported", "the file is not text"),
    "data.json": (b"garbage", "malformed", "the file is not valid JSON"),
}
SOUND = {
    "plain.txt": b"Tidal power needs a bay.",
    "colored.log": b"\x1b[31merror\x1b[0m the bay is dry\n" * 30,
    "odd.xyz": b"Words of a file with a suffix that nobody knows.",
    "wide.txt": "\ufeffTidal power in two bytes a letter.".encode("utf-16-le"),
    "western.txt": "Fünf Gezeitenkraftwerke für größere Städte. ".encode("cp1252") * 9,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of broken files and of a few that are odd but sound."""
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    made = tmp_path / "files"
    made.mkdir()
    for name, data in SOUND.items():
        (made / name).write_bytes(data)
    for name, (data, _, _) in BROKEN.items():
        (made / name).write_bytes(data)
    return made


def test_every_broken_file_is_reported_with_its_reason_and_none_is_indexed(folder: Path) -> None:
    done = CliRunner().invoke(application(), ["sync", str(folder), "-i", "notes", "--json"], prog_name="twofold")
    listed = CliRunner().invoke(application(), ["ls", "-i", "notes", "--json"], prog_name="twofold")

    report = json.loads(done.stdout)
    failed = {Path(one["source"]).name: one for one in report["failed"]}
    assert done.exit_code == 9
    assert {Path(one).name for one in report["added"]} == SOUND.keys()
    assert {Path(one["source"]).name for one in json.loads(listed.stdout)} == SOUND.keys()
    assert failed.keys() == BROKEN.keys()
    for name, (_, kind, reason) in BROKEN.items():
        assert failed[name]["kind"] == kind, name
        assert reason in failed[name]["message"], name
        assert failed[name]["hint"], name


def test_the_report_for_people_names_the_file_and_what_to_do(folder: Path) -> None:
    done = CliRunner().invoke(application(), ["sync", str(folder / "broken.pdf"), "-i", "notes"], prog_name="twofold")

    assert done.exit_code == 9
    assert f"! {folder / 'broken.pdf'}: its name says a PDF document (.pdf), but its content is not one" in done.stdout
    assert "Restore it from a good copy" in done.stdout
    assert "1 file could not be read" in done.stderr
