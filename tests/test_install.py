"""Setting up says what it installs into the system, before it does."""

import os
import shutil
import subprocess
from pathlib import Path


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def installed(tmp_path: Path, repository: Path, *there: str) -> list[str]:
    """Run the script where these programs are there already, and return its lines with apt-get's own."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "env"):
        (programs / name).symlink_to(str(shutil.which(name)))
    program(programs, "id", "echo 0")
    program(programs, "apt-get", 'echo "apt-get $1" >&2')
    for name in there:
        program(programs, name, "exit 0")
    surroundings = {name: value for name, value in os.environ.items() if name != "TWOFOLD_BROWSER"}
    done = subprocess.run(
        ["sh", "tests/install.sh"],
        cwd=repository,
        env={**surroundings, "PATH": str(programs)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr.splitlines()


def test_system_packages_are_named_before_they_are_installed(tmp_path: Path, repository: Path) -> None:
    assert installed(tmp_path, repository, "chromium") == [
        "Installing system packages for the tests with apt-get: strace espeak-ng.",
        "apt-get update",
        "apt-get install",
    ]


def test_nothing_is_installed_where_all_is_there(tmp_path: Path, repository: Path) -> None:
    assert installed(tmp_path, repository, "chromium", "strace", "espeak-ng") == []
