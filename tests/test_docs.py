"""Documentation that cannot lie: code blocks run, commands exist, generated pages are true, links lead somewhere."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

import twofold
from twofold.cli.app import application

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = re.compile(r"twofold\[([a-z0-9, -]+)\]")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


GENERATED = {"cli.md", "settings.md", "profiles.md", "seed-settings.md", "items.md", "api.md"}
MAX_LINES = 150


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(*languages: str) -> Iterator[tuple[str, str]]:
    for path in PAGES:
        for number, (language, body) in enumerate(BLOCK.findall(path.read_text(encoding="utf-8")), start=1):
            if language in languages:
                yield f"{name_of(path)}:{number}", body


def shell_lines() -> Iterator[tuple[str, str]]:
    for where, body in blocks("console", "sh", "bash"):
        for line in body.replace("\\\n", " ").splitlines():
            command = line.removeprefix("$ ").strip()
            if command.startswith(("twofold ", "make ")):
                yield where, command


PYTHON_BLOCKS = dict(blocks("python"))
SHELL_LINES = list(shell_lines())


@pytest.mark.parametrize("where", PYTHON_BLOCKS)
def test_python_in_the_documentation_runs(where: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "storage.md").write_text("# Storage\n\nThe catalog is the only truth; segments are derived.\n")
    program = tmp_path / "block.py"
    program.write_text(PYTHON_BLOCKS[where], encoding="utf-8")
    surroundings = {**os.environ, "TWOFOLD_EMBEDDER": "hashing"}

    done = subprocess.run(
        [sys.executable, program], cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_the_readme_shows_what_its_example_prints(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert found is not None
    surroundings = {**os.environ, "TWOFOLD_EMBEDDER": "hashing"}

    done = subprocess.run(
        [sys.executable, "-c", found[1]], cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, found[2]), done.stderr


@pytest.mark.parametrize(("where", "line"), SHELL_LINES, ids=[f"{where} {line[:40]}" for where, line in SHELL_LINES])
def test_commands_in_the_documentation_exist(where: str, line: str) -> None:
    words = shlex.split(re.split(r"\s(?:\||&&|;|>|<|#)", line)[0])

    assert where
    if words[0] == "make":
        targets = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert {word for word in words[1:] if "=" not in word} <= set(targets)
    else:
        assert not unknown_words(words[1:])


def unknown_words(words: list[str]) -> list[str]:
    """Walk down the commands; give the options and names of commands that do not exist."""
    command = typer.main.get_command(application())
    unknown = []
    rest = iter(words)
    for word in rest:
        options = {one: param for param in command.params for one in param.opts}
        inner = getattr(command, "commands", {})
        if word.startswith("-") and word not in {"-", "--help"}:
            param = options.get(word.split("=")[0])
            unknown += [] if param else [word]
            if param and "=" not in word and not getattr(param, "is_flag", False):
                next(rest, None)
        elif word in inner:
            command = inner[word]
        elif inner:
            unknown.append(word)
    return unknown


def test_the_walk_over_commands_knows_a_wrong_one() -> None:
    assert unknown_words(["index", "create", "notes", "--embedder", "hashing"]) == []
    assert unknown_words(["--set", "search.k=5", "search", "-k", "3", "words"]) == []
    assert unknown_words(["indx", "create"]) == ["indx", "create"]
    assert unknown_words(["search", "--explian", "words"]) == ["--explian"]


def test_the_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "reference.py", "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    targets = LINK.findall(path.read_text(encoding="utf-8"))
    inner = [target for target in targets if "://" not in target and not target.startswith("mailto:")]

    assert not [target for target in inner if not (path.parent / target).exists()]


def test_extras_that_are_named_exist() -> None:
    known = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    named = {
        (path.relative_to(ROOT).as_posix(), extra)
        for path in pages
        for extras in EXTRAS.findall(path.read_text())
        for extra in extras.split(",")
    }

    assert {extra for _, extra in named} > {"server", "git"}
    assert {(where, extra) for where, extra in named if extra not in known} == set()


def test_every_command_is_in_the_documentation() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    group = typer.main.get_command(application())

    assert not [name for name in group.commands if f"## `twofold {name}`" not in page]  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=name_of)
def test_a_page_can_be_read_in_one_sitting(path: Path) -> None:
    if path.name not in GENERATED:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_the_api_reference_has_every_public_name_with_its_description() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))

    assert set(sections) == set(twofold.__all__)
    assert not [name for name, body in sections.items() if not body.strip()]
    assert "### `Index.search`" in page
