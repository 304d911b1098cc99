"""The table of the checklist: every item has a test or a reason, and every test goes in where a user does."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ACCEPTANCE = sorted((TESTS / "acceptance").glob("test_*.py"))
ENTRY_POINTS = frozenset(
    {
        "twofold.Index",
        "twofold.MultiIndex",
        "twofold.index.Index",
        "twofold.multi_index.MultiIndex",
        "twofold.cli.app.application",
        "twofold.compat",
    }
)
"""What users touch: the Python API, the command line, other systems' calls. `support.api_client` runs a server."""

HELPERS = frozenset({"support.api_client", "support.terminals"})
"""Modules of the tests that go through a process or a server."""


def test_every_item_has_a_test_or_a_reason_and_the_page_says_so(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, repository / "docs" / "items.py", "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def imported(path: Path) -> Iterator[str]:
    """Yield what a module imports, by its whole name, with the modules that it is from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".")
            yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def goes_in_where_users_do(path: Path) -> bool:
    """Say whether a module imports an entry point, or a module of the tests that does."""
    names = set(imported(path))
    own = [path for name in names if (path := TESTS / f"{name.replace('.', '/')}.py").is_file()]
    return bool(names & (ENTRY_POINTS | HELPERS)) or any(map(goes_in_where_users_do, own))


def test_an_entry_point_is_told_from_what_is_below_it(tmp_path: Path) -> None:
    def written(text: str) -> Path:
        path = tmp_path / "module.py"
        path.write_text(text)
        return path

    assert goes_in_where_users_do(written("from twofold import Index"))
    assert goes_in_where_users_do(written("from support.indexes import indexed"))
    assert goes_in_where_users_do(written("from twofold.compat.modes import RAGPipeline"))
    assert not goes_in_where_users_do(written("from twofold import Settings\nfrom twofold.ranking import fusion"))
    assert not goes_in_where_users_do(
        written("from twofold.index import NO_METADATA\nfrom support import source_files")
    )


def test_acceptance_tests_go_in_where_users_do() -> None:
    below = [path.name for path in ACCEPTANCE if not goes_in_where_users_do(path)]

    assert not below, (
        "import twofold.Index, the command line, `support.api_client` or twofold.compat, or move to tests/unit"
    )
