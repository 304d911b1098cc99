"""What embedding costs: passages/s at 128 tokens, one query, a cold start; beside sentence-transformers if it is there.

    python benchmarks/embedding.py
    python benchmarks/embedding.py --model all-MiniLM-L6-v2 --peer OTHER/bin/python --weights FOLDER

`--peer` is an interpreter that has sentence-transformers, `--weights` a folder with the same model in float32. Rounds
of the two alternate, so that a busy machine disturbs both alike. `processor` is processor time over all threads, which
a busy machine changes less; ratios are medians over rounds. JSON goes to standard output, progress to standard error.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from twofold.config.load import models_folder
from twofold.domain.ports import Embedder
from twofold.models.catalog.entries import DEFAULT, entry_named
from twofold.models.catalog.files import folder_of
from twofold.models.catalog.types import Task
from twofold.models.embedders.factory import open_embedder

TOKENS = 128
SPECIAL = 2
SENTENCE = """the market house water river light night morning paper glass stone field summer winter number letter
office school doctor music garden kitchen window bridge train station village island forest mountain coffee bread"""
WORDS = SENTENCE.split()
COLD = """
import time
start = time.perf_counter()
import sys
from pathlib import Path
from twofold.models.embedders.factory import open_embedder
embedder = open_embedder(sys.argv[1], cache=Path(sys.argv[2]), offline=True)
embedder.embed_queries(["how do I undo the last commit but keep my changes"])
print(time.perf_counter() - start)
"""


def passages(count: int) -> list[str]:
    """Draw texts that are 128 tokens long with the special ones: every word above is one token."""
    drawn = random.Random(7)  # noqa: S311 - not for secrets
    return [" ".join(drawn.choices(WORDS, k=TOKENS - SPECIAL)) for _ in range(count)]


def one_round(embedder: Embedder, texts: Sequence[str], queries: Sequence[str]) -> dict[str, float]:
    """Embed all texts once, then each query alone: seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    embedder.embed_passages(texts)
    seconds = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    latencies = []
    for query in queries:
        start = time.perf_counter()
        embedder.embed_queries([query])
        latencies.append(time.perf_counter() - start)
    return {**seconds, "query": median(latencies)}


def cold_starts(model: str, cache: Path, runs: int) -> list[float]:
    """Time processes that import everything, open the model and embed one query: seconds without Python's own start."""
    command = [sys.executable, "-c", COLD, model, str(cache)]
    done = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(runs)]
    return [float(one.stdout) for one in done]


class Peer:
    """The other process."""

    def __init__(self, python: str, weights: str, asked: dict[str, Any]) -> None:
        program = Path(__file__).parent / "peers" / "sentence_transformers_rate.py"
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        self._process = subprocess.Popen(
            [python, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.about = self._ask(json.dumps({**asked, "folder": weights}))

    def _ask(self, line: str) -> Any:  # noqa: ANN401 - JSON
        assert self._process.stdin  # noqa: S101 - pipes were asked for
        assert self._process.stdout  # noqa: S101
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def one_round(self) -> dict[str, float]:
        """Ask for one round: seconds."""
        seconds: dict[str, float] = self._ask("again")
        return seconds

    def close(self) -> None:
        """End the other process."""
        self._process.communicate()


def figures(rounds: Sequence[dict[str, float]], count: int) -> dict[str, float]:
    """Turn seconds into the figures that are quoted."""
    return {
        "passages_per_second": round(count / median(one["wall"] for one in rounds), 1),
        "best_passages_per_second": round(count / min(one["wall"] for one in rounds), 1),
        "processor_ms_per_passage": round(1000 * median(one["processor"] for one in rounds) / count, 2),
        "query_ms": round(1000 * median(one["query"] for one in rounds), 2),
    }


def ratios(ours: Sequence[dict[str, float]], theirs: Sequence[dict[str, float]]) -> dict[str, float]:
    """Give how many times their time ours is, round by round, the median: above 1 we are faster."""
    pairs = list(zip(ours, theirs, strict=True))
    return {name: round(median(b[name] / a[name] for a, b in pairs), 2) for name in ("wall", "processor", "query")}


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=DEFAULT.name)
    parser.add_argument("--peer", help="a Python interpreter that has sentence-transformers")
    parser.add_argument("--weights", help="a folder with the same model for sentence-transformers")
    parser.add_argument("--cache", type=Path, default=Path(os.environ.get("TWOFOLD_MODELS") or models_folder()))
    parser.add_argument("--passages", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


def main() -> None:
    """Measure, alternating, and print."""
    asked = arguments()
    entry = entry_named(asked.model, Task.EMBED)
    embedder = open_embedder(entry.name, cache=asked.cache)
    texts, queries = passages(asked.passages), [" ".join(WORDS[n : n + 10]) for n in range(20)]
    if set(embedder.count_tokens(texts)) != {TOKENS - SPECIAL}:
        sys.exit("the texts are not 128 tokens long with this tokenizer")
    expected = embedder.embed_passages(texts)
    threads = os.cpu_count() or 1
    peer = (
        Peer(asked.peer, asked.weights, {"texts": texts, "queries": queries, "threads": threads})
        if asked.peer
        else None
    )
    ours, theirs = [], []
    for number in range(asked.rounds):
        print(f"round {number + 1} of {asked.rounds}", file=sys.stderr)
        ours.append(one_round(embedder, texts, queries))
        theirs += [peer.one_round()] if peer else []
    report: dict[str, Any] = {
        "model": entry.name,
        "machine": {
            "processor": platform.processor() or platform.machine(),
            "cpus": threads,
            "load": os.getloadavg()[0],
        },
        "tokens": TOKENS,
        "twofold": figures(ours, len(texts)),
    }
    if peer:
        agreement = (np.asarray(peer.about["vectors"]) * expected[:32]).sum(axis=1)
        report["sentence_transformers"] = {"torch": peer.about["torch"], **figures(theirs, len(texts))}
        report["times_faster"] = ratios(ours, theirs)
        report["cosine_to_float32"] = {
            "lowest": round(float(agreement.min()), 4),
            "mean": round(float(agreement.mean()), 4),
        }
        peer.close()
    cold = cold_starts(entry.name, asked.cache, asked.rounds)
    report["cold_start_seconds"] = {"median": round(median(cold), 3), "best": round(min(cold), 3)}
    report["bytes_in_cache"] = sum(path.stat().st_size for path in folder_of(entry, asked.cache).iterdir())
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
