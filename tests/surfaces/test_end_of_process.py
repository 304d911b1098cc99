"""How a command's process ends: at once, but only when all that must happen has happened."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import atexit, os, sys, threading

class Freed:
    def __del__(self, write=os.write):
        write(2, b"freed\\n")

sys.kept = Freed()
atexit.register(print, "called", file=sys.stderr)
{before}
from twofold.__main__ import command
sys.argv = ["twofold", *sys.argv[1:]]
command()
"""
THREAD = """
threading.Thread(target=lambda: (threading.main_thread().join(), print("waited", file=sys.stderr))).start()
"""
PROFILE = "sys.setprofile(lambda *_: None)"


def ended(*words: str, before: str = "", out: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(before=before), *words],
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


def test_a_command_calls_what_waits_for_the_end_and_frees_nothing() -> None:
    done = ended("config", "profiles")

    assert done.returncode == 0
    assert "balanced" in done.stdout
    assert done.stderr.splitlines() == ["called"]


def test_the_exit_code_is_the_command_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path))

    done = ended("search", "-m", "bm25", "-i", "nowhere", "cat")

    assert done.returncode == 3
    assert "There is no index" in done.stderr
    assert "freed" not in done.stderr


@pytest.mark.parametrize(("before", "expected"), [(THREAD, "waited"), (PROFILE, "freed")], ids=["thread", "profiler"])
def test_threads_are_waited_for_and_profilers_see_the_end(before: str, expected: str) -> None:
    done = ended("config", "profiles", before=before)

    assert done.returncode == 0
    assert {"called", expected} <= set(done.stderr.splitlines())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk that is always full")  # noqa: PTH110
def test_output_that_cannot_be_written_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)

    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123
        done = ended("--version", out=full.fileno())

    assert done.returncode == 120
    assert "No space left on device" in done.stderr
