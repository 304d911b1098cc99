"""How good rankings are while vectors follow: nDCG@10 with 0, 25, 50, 75 and 100 % of the passages' vectors.

    python benchmarks/partial_vectors.py --memory DIR             SciFact, and one line for each share
    python benchmarks/partial_vectors.py --memory DIR --draws 5   the mean of five random choices of documents

Whole documents are drawn, as a sync embeds them, by a hash of their names. `bm25` and `hybrid` are the modes;
`hybrid, 20 on the spot` lets each query embed its twenty best candidates by BM25 that have no vector, without a limit
of time. Vectors are kept in `--memory` between runs. Everything goes into benchmarks/results/<commit>.json.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from material import MODEL, SHARED
from remembered import MEMORY, remembering
from reporting import keep, machine

from twofold.domain.ports import Embedder
from twofold.domain.types import Entry
from twofold.evaluation.dataset import JudgedCollection, load
from twofold.evaluation.report import evaluate_run
from twofold.evaluation.run import document_of
from twofold.indexing.components import IndexingComponents
from twofold.indexing.prepare import prepare
from twofold.ingest.chunking import ChunkPlan, chunker_for
from twofold.query.parse import as_prose
from twofold.search.components import SearchModels
from twofold.search.pipeline import search
from twofold.search.plan import SearchPlan
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemoryStore
from twofold.text.analyzer import analyzer_for

SHARES = (0, 25, 50, 75, 100)
NDCG = "nDCG@10"
PASSAGES = 40
NO_LIMIT = 600.0
WAYS: Mapping[str, SearchPlan] = {
    "bm25": SearchPlan(mode="bm25", k=PASSAGES),
    "hybrid": SearchPlan(k=PASSAGES, pending_seconds=0.0),
    "hybrid, 20 on the spot": SearchPlan(k=PASSAGES, pending_seconds=NO_LIMIT),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", nargs="?", default="scifact")
    parser.add_argument("--draws", type=int, default=3, help="random choices of documents")
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors in this folder")
    parser.add_argument("--out", type=Path, help="write to this file")
    options = parser.parse_args()
    judged = load(SHARED / "data" / options.collection)
    with remembering(MODEL, options.memory) as embedder:
        rows = list(rows_of(judged, embedder, options.draws))
    for row in rows:
        print(json.dumps(row))
    print(keep("partial-vectors", {"machine": machine(), "rows": rows}, options.out), file=sys.stderr)


def rows_of(judged: JudgedCollection, embedder: Embedder, draws: int) -> Iterator[Mapping[str, object]]:
    """Fill an index for each share and draw, and ask it every question in each of the ways."""
    plan = ChunkPlan()
    chunker = chunker_for(plan, embedder.count_tokens, embedder.embed_passages)
    parts = IndexingComponents(MemoryStore(), embedder, analyzer_for("english"), chunker, plan.describe())
    entries = prepare([document_of(one) for one in judged.documents], parts, None, lambda _: None).entries
    for share in SHARES:
        values: dict[str, list[float]] = {way: [] for way in WAYS}
        for draw in range(draws if 0 < share < 100 else 1):
            for way, value in measured(parts, judged, [_drawn(one, share, draw) for one in entries]):
                values[way].append(value)
        yield {"share": share, **{way: round(sum(some) / len(some), 4) for way, some in values.items()}}


def _drawn(entry: Entry, share: int, draw: int) -> Entry:
    """Return a document with its vectors, or without them where it is not drawn."""
    number = int.from_bytes(blake2b(f"{draw} {entry.document.id}".encode(), digest_size=4).digest(), "little") % 100
    return entry if number < share else replace(entry, chunks=tuple(replace(one, vector=None) for one in entry.chunks))


def measured(
    parts: IndexingComponents, judged: JudgedCollection, entries: Sequence[Entry]
) -> Iterator[tuple[str, float]]:
    """Return nDCG@10 of each way on an index of these entries."""
    with tempfile.TemporaryDirectory(prefix="twofold-partial-") as scratch:
        store = LocalStore(Path(scratch) / "index")
        try:
            store.ensure_fingerprint(parts.fingerprint)
            for first in range(0, len(entries), 500):
                store.upsert(entries[first : first + 500])
            for way, plan in WAYS.items():
                own = replace(parts, store=store, models=SearchModels())
                results = {one.id: search(own, as_prose(one.text), plan) for one in judged.queries}
                found = {name: list(dict.fromkeys(hit.source for hit in one.hits)) for name, one in results.items()}
                scored = next(one for one in evaluate_run(found, judged) if one.metric == NDCG)
                yield way, sum(scored.values) / len(scored.values)
        finally:
            store.close()


if __name__ == "__main__":
    main()
