"""The command line as a process: signals, pipes, terminals, encodings, start-up."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twofold.cli.app import command_of

Run = Callable[..., Any]
TWOFOLD = [sys.executable, "-m", "twofold"]


def read_until(terminal: int, wanted: bytes) -> bytes:
    """Read what a terminal shows until `wanted` is on it, or nobody writes to it any more."""
    seen = b""
    while wanted not in seen:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    return seen


def test_ctrl_c_in_mid_sync_leaves_an_index_that_goes_on(start: Run, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number:03}.txt").write_text(f"Document number {number}.\n\n" + "Some more words to read. " * 200)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*TWOFOLD, "sync", folder, "-i", "many"], stdout=subprocess.PIPE, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        seen = read_until(ours, b"passages/s")
        os.killpg(process.pid, signal.SIGINT)
        seen += read_until(ours, b"go on.")
        assert process.wait() == 130
    os.close(ours)

    verified = start("index", "verify", "many", "--json")
    again = start("sync", folder, "-i", "many", "--json")

    assert b"passages/s" in seen
    assert b"The index is consistent" in seen
    assert b"Traceback" not in seen
    assert verified.data == []
    assert 0 < len(again.data["added"]) <= 300
    assert len(again.data["added"]) + again.data["unchanged"] == 300


def test_watching_reports_each_change_and_ends_with_ctrl_c(notes: Path) -> None:
    command = [*TWOFOLD, "sync", str(notes), "-i", "notes", "--watch", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = json.loads(process.stdout.readline())
        written = 0
        while not select.select([process.stdout], [], [], 0.5)[0]:  # the watcher may not be looking yet
            (notes / f"new-{written}.txt").write_text("Something new.\n")
            written += 1
            assert written < 100
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()

    assert len(first["added"]) == 3
    assert {Path(source).name for source in second["added"]} <= {f"new-{number}.txt" for number in range(written)}
    assert second["added"]
    assert process.returncode == 130
    assert said.endswith("run the command again to go on.\n")


@pytest.mark.usefixtures("ready")
def test_a_reader_that_goes_away_is_no_error_to_talk_about() -> None:
    with subprocess.Popen([*TWOFOLD, "ls", "-i", "notes"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()

    assert said == b""
    assert process.returncode == 141


@pytest.mark.usefixtures("ready")
def test_colors_are_for_terminals_that_want_them() -> None:
    def shown(**more: str) -> bytes:
        ours, theirs = pty.openpty()
        surroundings = {**os.environ, "TERM": "xterm", **more}
        with subprocess.Popen([*TWOFOLD, "search", "tower", "-i", "notes"], stdout=theirs, env=surroundings) as process:
            os.close(theirs)
            seen = read_until(ours, b" ms")
            os.close(ours)
            process.wait()
        return seen

    assert b"\x1b[" in shown()
    assert b"\x1b[" not in shown(NO_COLOR="1")


def test_progress_never_mixes_with_data(start: Run, notes: Path) -> None:
    done = start("sync", notes, "-i", "notes", "--json")

    assert len(done.out.splitlines()) == 1
    assert json.loads(done.out)["added"]
    assert done.err == ""


def test_json_is_utf8_whatever_the_locale_and_the_file_names(notes: Path) -> None:
    strange = os.fsencode(notes) + b"/caf\xe9 \xe6\xbc\xa2.txt"
    Path(os.fsdecode(strange)).write_text("Strange names are names.\n")
    surroundings = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    for words in (["sync", notes, "-i", "notes", "--json"], ["ls", "-i", "notes", "--json"]):
        done = subprocess.run([*TWOFOLD, *words], env=surroundings, capture_output=True, check=False)
        assert json.loads(done.stdout.decode("utf-8"))

    plain = subprocess.run([*TWOFOLD, "search", "strange"], env=surroundings, capture_output=True, check=False)
    listed = subprocess.run([*TWOFOLD, "ls", "-i", "notes"], env=surroundings, capture_output=True, check=False)
    assert plain.returncode == 3
    assert listed.returncode == 0
    assert b"caf" in listed.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed(start: Run, shell: str) -> None:
    done = start("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")

    assert done.code == 0
    assert "_TWOFOLD_COMPLETE" in done.out


def test_completion_knows_the_commands(start: Run) -> None:
    done = start(_TWOFOLD_COMPLETE="complete_bash", COMP_WORDS="twofold ind", COMP_CWORD="1")

    assert done.out.split() == ["index"]


def test_help_and_version_are_data(start: Run) -> None:
    assert start("--help").out.startswith("Usage: twofold ")
    assert start("--version").out.startswith("twofold ")


def test_bad_settings_in_the_environment_are_one_line(start: Run) -> None:
    done = start("config", "show", TWOFOLD_SEARCH__K="many")

    assert done.code == 2
    assert done.err.startswith("twofold: search.k (environment variable TWOFOLD_SEARCH__K) cannot be 'many'.")


@pytest.mark.usefixtures("ready")
def test_a_search_by_words_loads_no_model_and_nothing_heavy() -> None:
    heavy = {"torch", "openvino", "onnxruntime", "scipy", "pydantic", "rich", "pypdfium2", "docx", "pptx", "numkong"}
    program = (
        "import sys; from typer.testing import CliRunner; from twofold.cli.app import application\n"
        "done = CliRunner().invoke(application('search'), ['search', 'tower', '-i', 'notes', '-m', 'bm25'])\n"
        "assert 'tower.txt' in done.stdout, done.output\n"
        "print(*sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert not heavy & {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["search", "sync"], "search"),
        (["--config", "sync", "--set", "index=ls", "search", "x"], "search"),
        (["--debug", "index", "list"], "index"),
        (["--set=search.k=3", "ls"], "ls"),
        (["--help"], ""),
        ([], ""),
    ],
)
def test_the_command_is_found_behind_the_options(arguments: list[str], expected: str) -> None:
    assert command_of(arguments) == expected


def test_a_misspelt_command_is_told_from_all_of_them() -> None:
    done = subprocess.run([*TWOFOLD, "serach", "x"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "serach" in done.stderr


def test_the_list_of_commands_says_of_each_what_it_does_in_a_whole_line(start: Run) -> None:
    for words in ((), ("index",), ("models",), ("token",), ("config",)):
        shown = start(*words, "--help", COLUMNS="80", TERMINAL_WIDTH="80").out.split("Commands:\n")[1].split("\n\n")[0]

        assert len(shown.splitlines()) >= 2
        assert not [line for line in shown.splitlines() if line.endswith("...") or not line.endswith(".")]
