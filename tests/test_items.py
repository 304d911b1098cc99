"""The table of the checklist's items says what is tested: no item of retrieval without a test, and none left out."""

import subprocess
import sys
import tomllib
from pathlib import Path


def test_every_item_of_retrieval_has_a_test(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, repository / "docs" / "items.py", "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_the_table_names_every_item_and_misses_none_of_retrieval(repository: Path) -> None:
    content = tomllib.loads((repository / "tests" / "acceptance" / "items.toml").read_text(encoding="utf-8"))
    numbers = [number for section in content.values() for number in section if number != "title"]
    rows = [line for line in (repository / "docs" / "items.md").read_text(encoding="utf-8").splitlines() if "|" in line]

    assert numbers == [row.split("|")[1].strip() for row in rows if row.split("|")[1].strip() in set(numbers)]
    assert not [row for row in rows if "**missing**" in row or "✗" in row]
