"""How good rankings are while vectors follow: nDCG@10 with 0, 25, 50, 75 and 100 % of the passages' vectors.

    python benchmarks/partial_vectors.py --memory DIR             SciFact, and one line for each share
    python benchmarks/partial_vectors.py --memory DIR --draws 5   the mean of five random orders of the documents

The whole product is asked: `Index.sync` reads the documents from a database in a random order and stores them by their
words, `Index.embed_pending` gives them vectors in that order, and when a share of them has its own a second `Index`,
as another process would be, is asked every question. `bm25` and `hybrid` are the modes; `hybrid, 20 on the spot` lets
each query embed its twenty best candidates by BM25 that have no vector, without a limit of time. Vectors are kept in
`--memory` between runs. Everything goes into benchmarks/results/<commit>.json.
"""

import argparse
import json
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

from material import MODEL, SHARED
from remembered import MEMORY, remembering
from reporting import keep, machine

from twofold import Index
from twofold.connectors.sql import SqliteConnector
from twofold.domain.ports import Embedder
from twofold.evaluation.dataset import JudgedCollection, load
from twofold.evaluation.report import evaluate_run
from twofold.indexing.types import SyncProgress
from twofold.query.parse import as_prose

SHARES = (0, 25, 50, 75, 100)
NDCG = "nDCG@10"
PASSAGES = 40
WAYS: Mapping[str, tuple[str, float]] = {
    "bm25": ("bm25", 0.0),
    "hybrid": ("hybrid", 0.0),
    "hybrid, 20 on the spot": ("hybrid", 60.0),
}
"""The mode of each way, and for how many seconds a query may embed."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", nargs="?", default="scifact")
    parser.add_argument("--draws", type=int, default=3, help="random orders of the documents")
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
    """Fill an index in each order, and give for each share the mean of each way and the values of all orders."""
    measured: dict[tuple[int, str], list[float]] = {}
    for draw in range(draws):
        for share, way, value in in_one_order(judged, embedder, draw):
            measured.setdefault((share, way), []).append(value)
            print(draw, share, way, round(value, 4), file=sys.stderr, flush=True)
    for share in SHARES:
        values = {way: measured[share, way] for way in WAYS}
        means = {way: round(sum(some) / len(some), 4) for way, some in values.items()}
        yield {
            "share": share,
            **means,
            "orders": {way: [round(one, 4) for one in some] for way, some in values.items()},
        }


def in_one_order(judged: JudgedCollection, embedder: Embedder, draw: int) -> Iterator[tuple[int, str, float]]:
    """Yield nDCG@10 of each way at each share of vectors, which the documents get in one random order."""
    with tempfile.TemporaryDirectory(prefix="twofold-partial-") as scratch:
        folder, rows = Path(scratch) / "index", Path(scratch) / "documents.db"
        write(judged, rows, draw)
        with Index(folder, embedder=embedder) as index:
            place = SqliteConnector(str(rows), "SELECT id, title, text FROM documents ORDER BY place")
            waiting = index.sync(place, vectors="later").pending
            found: list[tuple[int, str, float]] = []
            measured = iter([(waiting * (100 - share) // 100, share) for share in SHARES[1:]])
            wanted = next(measured)

            def look(progress: SyncProgress) -> None:
                nonlocal wanted
                while progress.pending <= wanted[0]:
                    found.extend(asked(folder, embedder, judged, wanted[1]))
                    wanted = next(measured, (-1, 100))

            found.extend(asked(folder, embedder, judged, SHARES[0]))
            index.embed_pending(progress=look)
            yield from found


def write(judged: JudgedCollection, rows: Path, draw: int) -> None:
    """Write the documents into a database, each with its place in an order of its name's hash."""
    with closing(sqlite3.connect(rows)) as database, database:
        database.execute("CREATE TABLE documents (id TEXT, title TEXT, text TEXT, place BLOB)")
        for one in judged.documents:
            place = blake2b(f"{draw} {one.id}".encode(), digest_size=8).digest()
            title = one.title if one.text.strip() else ""
            database.execute("INSERT INTO documents VALUES (?, ?, ?, ?)", (one.id, title, one.text or one.title, place))


def asked(folder: Path, embedder: Embedder, judged: JudgedCollection, share: int) -> Iterator[tuple[int, str, float]]:
    """Yield nDCG@10 of each way, asked of the index as it is now, by a reader of its own."""
    with Index(folder, embedder=embedder, create=False) as reader:
        for way, (mode, seconds) in WAYS.items():
            found = {}
            for one in judged.queries:
                hits = reader.search(
                    as_prose(one.text), mode=mode, k=PASSAGES, settings={"search.pending_seconds": seconds}
                ).hits
                found[one.id] = list(dict.fromkeys(Path(hit.source).stem for hit in hits))
            scored = next(one for one in evaluate_run(found, judged) if one.metric == NDCG)
            yield share, way, sum(scored.values) / len(scored.values)


if __name__ == "__main__":
    main()
