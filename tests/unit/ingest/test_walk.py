"""Walking folders: what is found, what is ignored, what is reported, and that nothing leads out."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from twofold.domain.errors import NotFoundError, ReadError
from twofold.ingest.readers.types import DEFAULT_LIMITS
from twofold.ingest.walk import Found, Skipped, load, source_name, walk


def grow(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def found(root: Path) -> list[str]:
    base = os.path.realpath(root)
    return [os.path.relpath(each.path, base) for each in walk(root) if isinstance(each, Found)]


def skipped(root: Path) -> dict[str, str]:
    base = os.path.realpath(root)
    return {os.path.relpath(each.path, base): each.reason for each in walk(root) if isinstance(each, Skipped)}


def test_files_come_in_the_order_of_their_paths_bytes_with_what_tells_changes(tmp_path: Path) -> None:
    grow(tmp_path, {"b.txt": "12", "a/z": "", "a.b": "", "A": "", "ä": "", "a/b/c": ""})
    names = found(tmp_path)

    assert names == sorted(names, key=os.fsencode)
    assert len(names) == 6
    last = next(each for each in walk(tmp_path / "b.txt") if isinstance(each, Found))
    status = (tmp_path / "b.txt").stat()
    assert (last.size, last.mtime_ns) == (2, status.st_mtime_ns)
    assert last.source == str((tmp_path / "b.txt").resolve())


def test_hidden_files_and_version_control_are_left_out(tmp_path: Path) -> None:
    grow(tmp_path, {".env": "", ".git/config": "", ".notes/a": "", "node_modules/x/y": "", "kept": ""})

    assert found(tmp_path) == ["kept"]
    assert skipped(tmp_path) == {}


IGNORING: tuple[tuple[str, set[str]], ...] = (
    ("*.log", {"a.log", "sub/b.log"}),
    ("/a.log", {"a.log"}),
    ("build/", {"build/x", "sub/build/y"}),
    ("# comment\n\n*.log\n!b.log", {"a.log"}),
    ("sub/*\n!sub/b.log", {"sub/c.txt", "sub/build/y"}),
    ("build/\n!build/x", {"build/x", "sub/build/y"}),
    ("**/b.*", {"sub/b.log"}),
    ("sub/**", {"sub/b.log", "sub/c.txt", "sub/build/y"}),
    ("a.[kl]og", {"a.log"}),
    ("\\!odd", {"!odd"}),
    ("[", set()),
    ("", set()),
    ("*\n!*/\n!*.txt", {"a.log", "build/x", "sub/b.log", "sub/build/y", "!odd", "name with blank "}),
    ("name with blank\\ ", {"name with blank "}),
)
TREE = ("a.log", "build/x", "sub/b.log", "sub/c.txt", "sub/build/y", "!odd", "name with blank ")


@pytest.mark.parametrize("file", [".gitignore", ".twofoldignore"])
@pytest.mark.parametrize(("rules", "ignored"), IGNORING)
def test_ignore_files_mean_what_git_says(tmp_path: Path, file: str, rules: str, ignored: set[str]) -> None:
    grow(tmp_path, dict.fromkeys(TREE, "") | {file: rules})

    assert set(found(tmp_path)) == set(TREE) - ignored


def test_the_nearest_ignore_file_decides_and_ours_comes_after_gits(tmp_path: Path) -> None:
    grow(
        tmp_path,
        {
            ".gitignore": "*.log\n*.tmp",
            "sub/.gitignore": "!*.log",
            "sub/a.log": "",
            "sub/a.tmp": "",
            "b.log": "",
            ".twofoldignore": "!b.tmp\nsecret",
            "b.tmp": "",
            "secret": "",
            "sub/deep/secret": "",
        },
    )

    assert found(tmp_path) == ["b.tmp", "sub/a.log"]


def test_patterns_that_would_cost_other_engines_ages_are_matched_at_once(tmp_path: Path) -> None:
    grow(tmp_path, {"a" * 200: "", ".gitignore": "*a" * 60 + "b"})

    assert len(found(tmp_path)) == 1


def test_links_are_reported_and_never_followed(tmp_path: Path) -> None:
    outside = grow(tmp_path / "outside", {"secret": "", "folder/secret": ""})
    root = grow(tmp_path / "root", {"real/file": ""})
    (root / "to-file").symlink_to(outside / "secret")
    (root / "to-folder").symlink_to(outside / "folder")
    (root / "up").symlink_to("..")
    (root / "sibling").symlink_to(tmp_path / "root-like")
    grow(tmp_path / "root-like", {"secret": ""})
    (root / "inside").symlink_to("real")
    (root / "real" / "loop").symlink_to("..")
    (root / "self").symlink_to("self")
    (root / "gone").symlink_to("nowhere")

    assert found(root) == ["real/file"]
    out, inside, broken = "a link that leads out of the folder", "a link to what is found in its own place", "nowhere"
    reasons = skipped(root)
    assert {name for name, reason in reasons.items() if reason == out} == {"to-file", "to-folder", "up", "sibling"}
    assert {name for name, reason in reasons.items() if reason == inside} == {"inside", "real/loop", "self"} - (
        {"self"} if broken in reasons["self"] else set()
    )
    assert broken in reasons["gone"]


def test_the_root_itself_may_be_a_link_and_a_single_file(tmp_path: Path) -> None:
    grow(tmp_path, {"real/a": "", "real/.hidden": ""})
    (tmp_path / "link").symlink_to("real")

    assert found(tmp_path / "link") == ["a"]
    assert [each.source for each in walk(tmp_path / "real" / ".hidden")] == [str((tmp_path / "real/.hidden").resolve())]


def test_large_and_special_files_are_reported(tmp_path: Path) -> None:
    grow(tmp_path, {"large": "x" * 11, "small": "x" * 10})
    os.mkfifo(tmp_path / "pipe")
    outcomes = {Path(each.path).name: each for each in walk(tmp_path, replace(DEFAULT_LIMITS, file_bytes=10))}

    assert {name for name, each in outcomes.items() if isinstance(each, Found)} == {"small"}


def test_a_root_that_is_not_there_is_an_error_and_not_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        list(walk(tmp_path / "missing"))


def test_a_folder_that_vanishes_during_the_walk_is_reported(tmp_path: Path) -> None:
    grow(tmp_path, {"a": "", "b/c": "", "z": ""})
    steps = walk(tmp_path)
    first = next(steps)
    (tmp_path / "b" / "c").unlink()
    (tmp_path / "b").rmdir()
    (tmp_path / "z").unlink()
    rest = list(steps)

    assert isinstance(first, Found)
    assert [(type(each), Path(each.path).name) for each in rest] == [(Skipped, "b"), (Skipped, "z")]


def test_names_that_are_not_utf_8_are_found_shown_and_opened(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    with open(odd, "wb") as file:  # noqa: PTH123 pathlib takes no bytes
        file.write(b"coffee")
    (each,) = walk(tmp_path)

    assert isinstance(each, Found)
    assert each.source.endswith("caf\\xe9.txt")
    assert each.source.encode("utf-8")
    assert load(each).data == b"coffee"
    assert source_name("ä") == "ä"


def test_folders_too_deep_for_the_system_are_reported(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("deep-folder" * 20, dir_fd=here)
        inner = os.open("deep-folder" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    outcomes = list(walk(tmp_path))
    subprocess.run(["rm", "-r", str(tmp_path / ("deep-folder" * 20))], check=True)  # pytest cannot clear it away later

    assert [type(each) for each in outcomes] == [Skipped]


def test_a_file_swapped_for_a_link_or_grown_or_gone_is_not_read(tmp_path: Path) -> None:
    grow(tmp_path, {"a": "inside", "secret": "outside"})
    each = next(one for one in walk(tmp_path / "a") if isinstance(one, Found))

    assert load(each).data == b"inside"
    with pytest.raises(ReadError, match="larger"):
        load(each, replace(DEFAULT_LIMITS, file_bytes=5))
    (tmp_path / "a").unlink()
    with pytest.raises(ReadError) as gone:
        load(each)
    (tmp_path / "a").symlink_to("secret")
    with pytest.raises(ReadError) as swapped:
        load(each)
    (tmp_path / "a").unlink()
    os.mkfifo(tmp_path / "a")
    with pytest.raises(ReadError) as pipe:
        load(each)

    assert {error.value.kind for error in (gone, swapped, pipe)} == {"unreadable"}
