"""What a short command loads: a search by words alone starts without what it does not use."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import twofold
from twofold.index import Index

UNUSED = (
    "answer",
    "answer.engine",
    "answer_factory",
    "evaluation",
    "indexing_factory",
    "server",
    "index",
    "ingest.chunking",
    "ingest.enrich",
    "ingest.pool",
    "ingest.walk",
    "models.rerankers.cross_encoder",
    "models.embedders.endpoint",
    "models.catalog.files",
    "models.http",
    "models.embedders.factory",
    "models.generators.factory",
    "models.rerankers.factory",
    "models.embedders.openvino",
    "search.cache",
    "search.expand",
    "indexing.sync",
    "search.why_not",
    "query.expansion",
    "config.other_systems",
    "multi_index",
)
LIBRARIES = ("openvino", "re2", "rich", "selectolax", "tokenizers", "watchfiles", "yaml")
HEAVY = (*LIBRARIES, "apsw", "email", "msgspec", "numpy", "typer")
MAX_MODULES = 191
"""Each costs half a millisecond of processor time; marks of Markdown brought the last one."""
PROGRAM = """
import json, sys
from twofold.__main__ import main
sys.argv = ["twofold", *sys.argv[1:]]
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def loaded_by(*words: str, **variables: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **variables},
    )

    assert done.stdout
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path / "home"))
    with Index("few") as index:
        index.add("The cat sat on the mat.", source="cat.txt")
    return "few"


def ours(modules: set[str]) -> set[str]:
    return {name.removeprefix("twofold.") for name in modules if name.startswith("twofold.")}


def under(modules: set[str], names: tuple[str, ...]) -> set[str]:
    return {one for one in modules for name in names if one == name or one.startswith(f"{name}.")}


@pytest.mark.parametrize("words", [("search", "-m", "bm25", "cat"), ("ls",)], ids=["search", "ls"])
def test_what_a_command_does_not_use_is_not_loaded(named: str, words: tuple[str, ...]) -> None:
    modules = loaded_by(*words, "-i", named)

    assert "search.engine" in ours(modules)
    assert not under(ours(modules), UNUSED)
    assert not under(modules, LIBRARIES)
    assert len(ours(modules)) <= MAX_MODULES


def test_the_version_loads_nothing_but_the_package() -> None:
    modules = loaded_by("--version")

    assert ours(modules) == {"__main__", "cli", "cli.completion"}
    assert not under(modules, HEAVY)


def test_completion_reads_a_table_and_loads_no_command() -> None:
    modules = loaded_by(_TWOFOLD_COMPLETE="complete_bash", COMP_WORDS="twofold search --ex", COMP_CWORD="2")

    assert ours(modules) == {"__main__", "cli", "cli.completion"}
    assert not under(modules, HEAVY)


def late_names() -> Iterator[tuple[str, str]]:
    """Yield each name of ours that a function imports when it is called, with its module."""
    for path in Path(twofold.__file__).parent.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("twofold"):
                        yield from ((node.module or "", one.name) for one in node.names)


def test_every_part_that_is_loaded_late_is_where_its_import_says() -> None:
    names = sorted(set(late_names()))
    parts = [getattr(import_module(module), name) for module, name in names]

    assert ("twofold.models.embedders.factory", "open_embedder") in names
    assert all(callable(part) for part in parts)
