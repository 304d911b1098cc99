"""What reading files costs: seconds of processor time by kind, of the reading process and of cutting passages.

    python benchmarks/reading.py --out benchmarks/results/reading.json

Reads the files of the shared folder as a sync does, in one process of its own a kind, which is started before and ends
after them; `scaling.py` makes prices of it. Scanned pages are a matter of their own (docs/extraction.md): a file
without any text is left out.
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from material import SHARED
from reporting import machine

from twofold.ingest.chunking import ChunkPlan, chunker_for
from twofold.ingest.pool import Failed, ReaderPool
from twofold.ingest.readers.types import Limits, Source
from twofold.models.embedders.hashing import HashingEmbedder

KINDS = ("md", "html", "docx", "pdf")


def main() -> None:
    """Read every kind, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="write to this file")
    options = parser.parse_args()
    kinds = {}
    for kind in KINDS:
        kinds[kind] = read(kind)
        print(kind, json.dumps(kinds[kind]), file=sys.stderr, flush=True)
    options.out.write_text(json.dumps({"machine": machine(), "kinds": kinds}, indent=1) + "\n", encoding="utf-8")


def read(kind: str) -> Mapping[str, float]:
    """Read all files of a kind and cut them; count what came of it, and the seconds."""
    embedder = HashingEmbedder()
    chunker = chunker_for(ChunkPlan(), embedder.count_tokens, embedder.embed_passages)
    paths = sorted((SHARED / "docs").rglob(f"*.{kind}"))
    size = passages = documents = 0
    cutting, before = 0.0, children()
    with ReaderPool() as pool:
        for outcome in pool.read_all(Source(path.name, path.read_bytes(), Limits()) for path in paths):
            if isinstance(outcome, Failed) or not outcome.text.strip():
                continue
            began = time.process_time()
            passages += sum(1 for _ in chunker(outcome))
            cutting += time.process_time() - began
            documents += 1
            size += len(outcome.text)
    return {
        "files": documents,
        "characters": size,
        "passages": passages,
        "reading_s": round(children() - before, 2),
        "cutting_s": round(cutting, 2),
    }


def children() -> float:
    """Return the processor time of processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
