"""The other side of `benchmarks/embedding.py`: sentence-transformers on the same texts, one line of JSON a round.

Runs in an environment of its own that need not hold twofold. The first line on standard input is
`{"folder": …, "texts": […], "queries": […], "threads": 2}`; every further line asks for one round.
"""

import json
import sys
import time
from statistics import median

import torch
from sentence_transformers import SentenceTransformer


def main() -> None:
    """Load once, warm up, then measure as often as asked."""
    asked = json.loads(sys.stdin.readline())
    torch.set_num_threads(asked["threads"])
    model = SentenceTransformer(asked["folder"], device="cpu")
    texts = asked["texts"]
    vectors = model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
    print(json.dumps({"vectors": vectors[:32].tolist(), "torch": torch.__version__}), flush=True)
    for _ in sys.stdin:
        wall, processor = time.perf_counter(), time.process_time()
        model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
        seconds = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
        latencies = []
        for query in asked["queries"]:
            start = time.perf_counter()
            model.encode([query], normalize_embeddings=True, show_progress_bar=False)
            latencies.append(time.perf_counter() - start)
        print(json.dumps({**seconds, "query": median(latencies)}), flush=True)


main()
