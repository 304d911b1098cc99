"""What late interaction does to the default search, beside no reranking and a cross-encoder, on judged collections.

    python benchmarks/late_interaction.py --memory DIR                        scifact, cranfield and cacm
    python benchmarks/late_interaction.py --memory DIR --questions 60 cacm    about 60 questions of one

Late interaction takes the token vectors of the index's own embedder, made when the question is asked. Each way reads
the best 20 candidates and gives ten passages. Vectors and scores are kept in `--memory` between runs, so times are not
measured here. A table goes to standard output in Markdown, everything into benchmarks/results/<commit>.json.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from material import MODEL, SHARED
from profiles import NDCG, Row, some_of, values_of
from quality import COLLECTIONS
from remembered import MEMORY, remembering
from reporting import keep, machine
from reread import remembering_reranker

from twofold.config.load import Settings, merge
from twofold.domain.ports import Embedder, Reranker
from twofold.evaluation.dataset import JudgedCollection, load
from twofold.evaluation.run import fill
from twofold.evaluation.significance import bootstrap_interval
from twofold.factory.indexing import ENRICHERS
from twofold.factory.plan import plan_of
from twofold.indexing.components import IndexingComponents
from twofold.ingest.chunking import ChunkPlan, chunker_for
from twofold.search.components import SearchModels
from twofold.stores.local.store import LocalStore
from twofold.text.analyzers import analyzer_for

LATE = f"late-interaction:{MODEL}"
CROSS_ENCODER = "ms-marco-MiniLM-L-12-v2"
MEASURED = ("scifact", "cranfield", "cacm")
WEIGHTS = (0.2, 0.5, 1.0)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="*", default=list(MEASURED), metavar="COLLECTION")
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors and scores in this folder")
    parser.add_argument("--questions", type=int, default=0, help="ask about so many of each collection")
    parser.add_argument("--documents", type=int, default=0, help="keep about so many, the judged ones first")
    parser.add_argument("--out", type=Path, help="write to this file")
    options = parser.parse_args()
    rows: list[Row] = []
    with (
        remembering(MODEL, options.memory) as embedder,
        remembering_reranker(LATE, options.memory) as late,
        remembering_reranker(CROSS_ENCODER, options.memory) as cross,
    ):
        rerankers = {"late interaction": late, "cross-encoder": cross}
        for name in options.collections:
            judged = few_of(some_of(load(SHARED / "data" / name), options.questions), options.documents)
            for row in rows_of(judged, COLLECTIONS[name], embedder, rerankers):
                print(f"{row.collection} {row.way} {row.mean:.4f}", file=sys.stderr, flush=True)
                rows.append(row)
    draw(rows)
    kept = [{"collection": one.collection, "way": one.way, NDCG: round(one.mean, 4)} for one in rows]
    content = {
        "machine": machine(),
        "model": MODEL,
        "questions": options.questions,
        "documents": options.documents,
        "rows": kept,
    }
    print(keep("late interaction", content, options.out), file=sys.stderr)


def few_of(judged: JudgedCollection, count: int) -> JudgedCollection:
    """Keep every document that a question was judged on, and the first others up to `count`; all of them for 0."""
    if not count:
        return judged
    named = {document for query in judged.queries for document in judged.grades[query.id]}
    others = [one for one in judged.documents if one.id not in named][: max(0, count - len(named))]
    kept = named | {one.id for one in others}
    return replace(judged, documents=tuple(one for one in judged.documents if one.id in kept))


def rows_of(
    judged: JudgedCollection, language: str, embedder: Embedder, rerankers: Mapping[str, Reranker]
) -> Iterator[Row]:
    """Fill a scratch index and ask it every question in every way."""
    plan = ChunkPlan()
    with tempfile.TemporaryDirectory(prefix="twofold-late-interaction-") as scratch:
        store = LocalStore(Path(scratch) / "index")
        try:
            chunker = chunker_for(plan, embedder.count_tokens, embedder.embed_passages)
            analyzer = analyzer_for(language)
            parts = IndexingComponents(
                store, embedder, analyzer, chunker, plan.describe(), enriching=ENRICHERS["rules"]
            )
            fill(parts, judged.documents, lambda _documents, _passages: None)
            shown = merge(Settings(), {"search.k": 10})
            yield Row(judged.name, "none", values_of(parts, judged, plan_of(shown)))
            for name, reranker in rerankers.items():
                used = replace(parts, models=SearchModels(rerankers=(reranker,)))
                for weight in WEIGHTS:
                    settings = merge(shown, {"rerank.weight": weight})
                    yield Row(judged.name, f"{name} {weight:g}", values_of(used, judged, plan_of(settings)))
        finally:
            store.close()


def draw(rows: Sequence[Row]) -> None:
    """Print nDCG@10 by way and collection, each beside its difference to no reranking with its interval."""
    collections = list(dict.fromkeys(row.collection for row in rows))
    by_place = {(row.collection, row.way): row for row in rows}
    heads = [f"{name} ({len(by_place[name, 'none'].values)})" for name in collections]
    print("| way | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(collections), sep="\n")
    for way in dict.fromkeys(row.way for row in rows):
        cells = [_cell(by_place[name, way], by_place[name, "none"]) for name in collections]
        print(f"| {way} | " + " | ".join(cells) + " |")


def _cell(row: Row, fused: Row) -> str:
    if row is fused:
        return f"{100 * row.mean:.1f}"
    differences = [one - other for one, other in zip(row.values, fused.values, strict=True)]
    gain = bootstrap_interval(differences)
    return f"{100 * row.mean:.1f} ({100 * gain.mean:+.1f}, {100 * gain.low:+.1f} to {100 * gain.high:+.1f})"


if __name__ == "__main__":
    main()
