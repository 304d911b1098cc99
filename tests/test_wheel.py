"""What is built works: a wheel with its kernels in C, and one from a machine without a compiler, each run by itself."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("pyproject.toml", "setup.py", "README.md", "LICENSE")


def built(made: Path, **surroundings: str) -> Path:
    """Build the wheel from a copy of the source, and unpack it where `python` finds it first."""
    source, unpacked = made / "source", made / "unpacked"
    compiled = shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", source / "src", ignore=compiled)
    for name in PARTS:
        shutil.copy(ROOT / name, source)
    words = [
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(made),
        str(source),
    ]
    subprocess.run([sys.executable, *words], check=True, env={**os.environ, **surroundings})
    with zipfile.ZipFile(next(made.glob("*.whl"))) as wheel:
        wheel.extractall(unpacked)
    return unpacked


def run(unpacked: Path, home: Path, *words: str) -> str:
    """Run a program from the unpacked wheel alone."""
    said = {**os.environ, "PYTHONPATH": str(unpacked), "TWOFOLD_HOME": str(home), "TWOFOLD_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-P", *words], env=said, cwd=home, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("compiled"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("plain"), CC=shutil.which("false") or "false")


def test_one_wheel_serves_every_python_and_holds_all_that_is_not_code(compiled: Path) -> None:
    wheel = next(compiled.parent.glob("*.whl")).name
    kept = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "twofold").rglob("*")
        if path.is_file() and path.suffix not in {".so", ".pyc"}
    }

    assert "-cp311-abi3-" in wheel
    assert {name for name in kept if not (compiled / name).is_file()} == set()
    assert {path.name for path in (compiled / "twofold").glob("*.so")} == {"_kernels.abi3.so", "_analyzer.abi3.so"}


def test_a_wheel_without_a_compiler_gives_the_same_results_to_the_last_bit(
    compiled: Path, plain: Path, tmp_path: Path
) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(12):
        (texts / f"{number}.md").write_text(f"# Ferry {number}\n\nThe night ferry to Ostend leaves at {number}:15.\n")
    found = {}
    for name, unpacked in (("compiled", compiled), ("plain", plain)):
        home = tmp_path / name
        home.mkdir()
        where = run(unpacked, home, "-c", "import twofold, twofold.kernels as k; print(twofold.__file__)")
        run(unpacked, home, "-m", "twofold", "sync", str(texts), "--embedder", "hashing")
        found[name] = run(unpacked, home, "-m", "twofold", "search", "night ferry at 7:15", "--json", "--explain")
        assert where.startswith(str(unpacked))

    assert not list((plain / "twofold").glob("*.so"))
    assert '"score"' in found["plain"]
    assert without_times(found["plain"]) == without_times(found["compiled"])


def without_times(text: str) -> object:
    """Leave out what differs between any two runs: how long each stage took."""

    def kept(value: object) -> object:
        if isinstance(value, dict):
            return {
                key: kept(one)
                for key, one in value.items()
                if not key.endswith(("ms", "seconds", "modified", "timings"))
            }
        return [kept(one) for one in value] if isinstance(value, list) else value

    return kept(json.loads(text))
