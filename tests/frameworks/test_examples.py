"""Each example for a framework runs as it stands, and finds what it should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = ("langchain_retriever", "llama_index_retriever", "haystack_pipeline", "dspy_search")


@pytest.mark.parametrize("name", NAMES)
def test_an_example_finds_when_the_tower_closes(name: str, tmp_path: Path) -> None:
    path = EXAMPLES / f"{name}.py"
    environment = {**os.environ, "TWOFOLD_HOME": str(tmp_path), "TWOFOLD_EMBEDDER": "hashing"}
    done = subprocess.run(
        [sys.executable, str(path)], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "23:45" in done.stdout
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 20
