"""Ignore rules against git itself as the oracle."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from twofold.ingest.ignore import Rules, read_rules, translate, verdict

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


def ask_git(repository: Path, rules: bytes, path: bytes) -> bool:
    """Ask about an entry alone: git is told of a file in folders that no rule can name differently."""
    (repository / ".git" / "info" / "exclude").write_bytes(rules)
    command = ["git", "-C", os.fspath(repository), "check-ignore", "--no-index", "-z", "--stdin"]
    environment = {"PATH": os.environ["PATH"], "HOME": os.fspath(repository), "GIT_CONFIG_NOSYSTEM": "1"}
    return (
        subprocess.run(command, input=path + b"\0", capture_output=True, check=False, env=environment).returncode == 0
    )


def ask_ours(rules: bytes, path: bytes) -> bool:
    """Walk down the path as a walk over folders does: what an ignored folder holds is ignored."""
    read = Rules.of(read_rules(rules))
    parts = path.split(b"/")
    for depth in range(1, len(parts) + 1):
        if verdict(read, b"/".join(parts[:depth]), is_folder=depth < len(parts)):
            return True
    return False


PIECES = st.sampled_from(
    [
        "a",
        "b",
        "c.d",
        "*",
        "**",
        "***",
        "/",
        "?",
        "[ab]",
        "[!a]",
        "[^b-]",
        "[a-c]",
        "[[:alpha:]]",
        "[]a]",
        "[",
        "]",
        "\\*",
        "\\",
        " ",
        "!",
        "#",
        "-",
        "ä",
        "[\\]]",
        "[+-9]",
    ]
)
LINES = st.lists(PIECES, min_size=1, max_size=6).map("".join)
PATHS = st.lists(
    st.sampled_from(["a", "b", "ab", "c.d", "*", "ä", "#", "!a", "a b", "]", "-", " "]), min_size=1, max_size=3
)


@needs_git
@settings(max_examples=150)
@given(lines=st.lists(LINES, min_size=1, max_size=4), parts=PATHS)
@example(lines=["***/a"], parts=["a"])
@example(lines=["a**/*"], parts=["a"])
def test_a_path_is_ignored_when_git_ignores_it(repository: Path, lines: list[str], parts: list[str]) -> None:
    rules, path = "\n".join(lines).encode(), "/".join(parts).encode()

    assert ask_ours(rules, path) == ask_git(repository, rules, path)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (b"a/**/*.c", rb"a/(?:.*/)?[^/]*\.c"),
        (b"**/x", rb"(?:.*/)?x"),
        (b"x/**", rb"x/.*"),
        (b"a**b", rb"a[^/]*b"),
        (b"a\\", b""),
        (b"[z-a]", b""),
        (b"[[:nope:]]", b""),
        (b"[!/]", b"[" + b"".join(b"\\x%02x" % code for code in range(256) if code != ord("/")) + b"]"),
    ],
)
def test_patterns_are_written_as_regular_expressions(pattern: bytes, expected: bytes) -> None:
    assert translate(pattern) == expected


@given(st.binary(max_size=60), st.binary(max_size=20))
def test_any_bytes_may_stand_in_an_ignore_file(content: bytes, path: bytes) -> None:
    assert verdict(Rules.of(read_rules(content)), path, is_folder=False) in (True, False, None)
