"""How long a question takes by profile, embedding and reading again included; and what the hardware could do at best.

It asks an index of the default recipe through the public interface. The floor of a model is its multiplications at the
rate that this machine reached in one large product of matrices, on all its cores, in the models' own precision.
"""

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import psutil
from timing import latencies

from twofold import Index
from twofold.config.profiles import CROSS_ENCODER
from twofold.models.embedders.openvino_library import openvino_library

LAYERS, WIDTH, INNER = 12, 384, 1536
MULTIPLICATIONS_A_TOKEN = LAYERS * (4 * WIDTH * WIDTH + 2 * WIDTH * INNER)  # of bge-small and of the cross-encoder
PAIRS, TOKENS = 20, 128
MEGABYTE = 1024 * 1024
ROWS: Mapping[str, tuple[str | None, Mapping[str, object], int, int]] = {
    "balanced": (None, {}, 100, 3),
    "without likeness": (None, {"prf": {"top_k": 0}}, 100, 3),
    "fast": ("fast", {}, 100, 3),
    "rerank 20 x 128": (None, {"rerank.model": CROSS_ENCODER, "rerank.tokens": TOKENS}, 12, 3),
    "precise": ("precise", {}, 12, 2),
}
"""Of each row the profile, or none for the default, what is changed, and how many questions are asked how often."""

Figures = Mapping[str, object]


def profiled(folder: Path, texts: Sequence[str]) -> Figures:
    """Time the profiles on an index: milliseconds by profile and by stage, floors, megabytes after 1,000 searches."""
    with Index(folder, create=False) as index:
        found: dict[str, object] = {"passages": index.info().chunks}
    for name, (profile, changed, questions, rounds) in ROWS.items():
        with Index(folder, create=False, overrides={**changed}) as index:
            found[name] = _row(index, texts, profile, questions, rounds)
    rate = multiplications_a_second()
    floors = {"rerank_ms": PAIRS * TOKENS * MULTIPLICATIONS_A_TOKEN / rate * 1e3}
    floors["embed_20_tokens_ms"] = 20 * MULTIPLICATIONS_A_TOKEN / rate * 1e3
    return {
        **found,
        "resident_MB": _resident(folder, texts),
        "giga_multiplications_a_second": round(rate / 1e9),
        "floors": {name: round(value, 1) for name, value in floors.items()},
    }


def multiplications_a_second() -> float:
    """Multiply two matrices of the models' kind with OpenVINO: the best of twenty, multiplications a second."""
    openvino = openvino_library()
    opset13 = openvino.opset13
    rows, width = 2560, 1536
    given = opset13.parameter([rows, width], np.float32)
    weights = opset13.constant(np.random.default_rng(0).normal(size=(width, width)).astype(np.float32))
    model = openvino.Model([opset13.matmul(given, weights, False, False)], [given])
    request = openvino.Core().compile_model(model, "CPU", {"ENABLE_CPU_PINNING": False}).create_infer_request()
    values, best = np.ones((rows, width), dtype=np.float32), 0.0
    for _ in range(20):
        began = time.process_time()  # by the clock, a busy machine would seem slower than it is
        request.infer([values], share_inputs=True)
        best = max(best, rows * width * width / (time.process_time() - began))
    return best * (os.cpu_count() or 1)


def _row(index: Index, texts: Sequence[str], profile: str | None, questions: int, rounds: int) -> Figures:
    steps: dict[str, list[list[float]]] = {}

    def ask(at: int) -> None:
        for name, spent in index.search(texts[at], profile=profile).timings_ms.items():
            steps.setdefault(name, [[] for _ in range(questions)])[at].append(spent)

    times = latencies(ask, questions, rounds)
    calm = {name: statistics.median(min(each) for each in spent if each) for name, spent in steps.items()}
    return {**times, "calm_stages": {name: round(value, 2) for name, value in calm.items() if value >= 0.01}}


def _resident(folder: Path, texts: Sequence[str]) -> Figures:
    """Search a thousand times without a model in an index opened anew: megabytes beyond what was there before."""
    process = psutil.Process()
    before = process.memory_info().rss
    with Index(folder, create=False) as index:
        after = {}
        for number in range(1, 1001):
            index.search(f"{texts[number % len(texts)]} {texts[number * 7 % len(texts)]}"[:4000], mode="bm25")
            if number in {1, 100, 1000}:
                after[f"after_{number}"] = round((process.memory_info().rss - before) / MEGABYTE, 1)
    return after
