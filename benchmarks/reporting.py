"""What was measured, kept: one JSON file a commit, a section a benchmark; and what is said of the machine."""

import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).resolve().parent / "results"


def commit() -> str:
    """Give the first twelve digits of the commit that is checked out."""
    shown = subprocess.run(["git", "rev-parse", "HEAD"], cwd=RESULTS.parent, capture_output=True, text=True, check=True)
    return shown.stdout.strip()[:12]


def machine() -> Mapping[str, object]:
    """Say what a reader needs to judge a figure: processor, cores, Python, how busy the machine was. No names."""
    model = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text(encoding="utf-8").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "load": round(os.getloadavg()[0], 2),
        "date": time.strftime("%Y-%m-%d"),
    }


def keep(section: str, content: object, out: Path | None = None) -> Path:
    """Put a section into the file of this commit, beside what other benchmarks put there."""
    RESULTS.mkdir(exist_ok=True)
    path = out or RESULTS / f"{commit()}.json"
    held = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    held[section] = content
    path.write_text(json.dumps(held, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def bytes_a_second() -> float:
    """Measure the memory's bandwidth for one thread: the best of a few sums over 256 MiB, in bytes a second."""
    block = np.ones(32 * 1024 * 1024, dtype=np.int64)
    best = 0.0
    for _ in range(7):
        started = time.perf_counter()
        block.sum()
        best = max(best, block.nbytes / (time.perf_counter() - started))
    return best
