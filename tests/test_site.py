"""The documentation site: it builds without a warning and loads nothing from another host."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LOADED = re.compile(r"<(?:script|img|iframe|source)[^>]*\ssrc=[\"']?((?:https?:)?//[^\s\"'>]+)", re.IGNORECASE)
STYLED = re.compile(r"<link[^>]*\shref=[\"']?((?:https?:)?//[^\s\"'>]+)", re.IGNORECASE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site from a copy of what it is made from."""
    root, made = Path(__file__).parents[1], tmp_path_factory.mktemp("site")
    shutil.copy(root / "zensical.toml", made)
    shutil.copytree(root / "docs", made / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--strict"]
    done = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    return made / "build" / "site"


def test_every_page_is_there_and_found_by_its_words(site: Path) -> None:
    pages = {path.stem for path in (Path(__file__).parents[1] / "docs").glob("*.md")} - {"index"}
    found = json.dumps(json.loads((site / "search.json").read_text()))

    assert {name for name in pages if not (site / name / "index.html").is_file()} == set()
    assert (site / "index.html").is_file()
    assert "reciprocal rank fusion" in found.lower()


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loaded = {
        (page.relative_to(site).as_posix(), address)
        for page in site.rglob("*.html")
        for pattern in (LOADED, STYLED)
        for address in pattern.findall(page.read_text())
    }

    assert loaded == set()
