"""How the profiles rank, and what each stage of the default one is worth, on judged collections.

    python benchmarks/profiles.py --memory DIR                all collections
    python benchmarks/profiles.py --memory DIR cacm           only this one
    python benchmarks/profiles.py --memory DIR --questions 60 every n-th question, so that about 60 are asked of each

All profiles search one index a collection, made by the default recipe with the collection's own analyzer: a profile's
own embedder and analyzer are left aside. Each gives ten passages, whatever its own k, so that their orders can be
compared; what a threshold, a gate or a cap drops stays dropped. Profiles that want a generator go without. Vectors and
the reranker's scores are kept in `--memory` between runs, so times are not measured here. Tables go to standard output
in Markdown, everything into benchmarks/results/<commit>.json.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from material import MODEL, SHARED
from quality import COLLECTIONS
from remembered import MEMORY, remembering
from reporting import keep, machine
from reread import remembering_reranker

from twofold.config.load import Settings, merge
from twofold.config.profiles import PROFILES, profile_named
from twofold.domain.ports import Embedder, Reranker
from twofold.evaluation.dataset import JudgedCollection, load
from twofold.evaluation.report import evaluate_run
from twofold.evaluation.run import fill, find_all
from twofold.evaluation.significance import randomization_test
from twofold.factory.indexing import ENRICHERS
from twofold.factory.plan import plan_of
from twofold.indexing.components import IndexingComponents
from twofold.ingest.chunking import ChunkPlan, chunker_for
from twofold.search.components import SearchModels
from twofold.search.plan import SearchPlan
from twofold.stores.local.store import LocalStore
from twofold.text.analyzers import analyzer_for

RERANKER = "ms-marco-MiniLM-L-12-v2"
NDCG = "nDCG@10"
WITHOUT: Mapping[str, Mapping[str, object]] = {
    "words alone": {"search.mode": "bm25"},
    "meaning alone": {"search.mode": "vector"},
    "without likeness": {"prf": {"top_k": 0}},
    "without a weight by question": {"fusion.method": "convex"},
    "without both of these": {"fusion.method": "convex", "prf": {"top_k": 0}},
    "ranks instead of scores": {"fusion.method": "rrf", "prf": {"top_k": 0}},
    "with the reranker": {"rerank.model": RERANKER, "rerank.candidates": 10},
    "with the quality gate": {"search.default_filter": "chunk_quality in [ok, high] and omit_flag is false"},
    "with feedback terms": {"prf": {"dense_terms": 20, "top_k": 0}},
}
"""The default, changed in one way each."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one way of searching reached on one collection: a value for each question."""

    collection: str
    way: str
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the questions."""
        return sum(self.values) / len(self.values)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="*", default=list(COLLECTIONS), metavar="COLLECTION")
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors and scores in this folder")
    parser.add_argument("--questions", type=int, default=0, help="ask about so many of each collection")
    parser.add_argument("--out", type=Path, help="write to this file")
    options = parser.parse_args()
    rows: list[Row] = []
    with remembering(MODEL, options.memory) as embedder, remembering_reranker(RERANKER, options.memory) as reranker:
        for name in options.collections:
            judged = some_of(load(SHARED / "data" / name), options.questions)
            for row in rows_of(judged, COLLECTIONS[name], embedder, reranker):
                print(f"{row.collection} {row.way} {row.mean:.4f}", file=sys.stderr, flush=True)
                rows.append(row)
    draw(rows)
    content = {
        "machine": machine(),
        "model": MODEL,
        "reranker": RERANKER,
        "questions": options.questions,
        "rows": [{"collection": one.collection, "way": one.way, NDCG: round(one.mean, 4)} for one in rows],
    }
    print(keep("profiles", content, options.out), file=sys.stderr)


def some_of(judged: JudgedCollection, count: int) -> JudgedCollection:
    """Take every n-th question, so that about `count` are left; all of them for 0."""
    step = max(1, len(judged.queries) // count) if count else 1
    return replace(judged, queries=judged.queries[::step])


def ways() -> Iterator[tuple[str, Settings]]:
    """Give every profile, then the default with one thing changed."""
    shown = {"search.k": 10, "rerank.top_n": 0}
    for one in PROFILES:
        values = {key: value for key, value in profile_named(one.name).values.items() if key.startswith(SEARCHING)}
        yield one.name, merge(Settings(), {**values, **shown})
    for name, values in WITHOUT.items():
        yield name, merge(Settings(), {**values, **shown})


SEARCHING = ("search.", "fusion.", "prf.", "rerank.", "boost.", "metadata_boost.", "diversity.")


def rows_of(judged: JudgedCollection, language: str, embedder: Embedder, reranker: Reranker) -> Iterator[Row]:
    """Fill a scratch index and ask it every question in every way."""
    plan = ChunkPlan()
    with tempfile.TemporaryDirectory(prefix="twofold-profiles-") as scratch:
        store = LocalStore(Path(scratch) / "index")
        try:
            chunker = chunker_for(plan, embedder.count_tokens, embedder.embed_passages)
            analyzer = analyzer_for(language)
            parts = IndexingComponents(
                store, embedder, analyzer, chunker, plan.describe(), enriching=ENRICHERS["rules"]
            )
            fill(parts, judged.documents, lambda _documents, _passages: None)
            for way, settings in ways():
                used = SearchModels(rerankers=() if settings.rerank.model == "none" else (reranker,))
                yield Row(judged.name, way, values_of(replace(parts, models=used), judged, plan_of(settings)))
        finally:
            store.close()


def values_of(parts: IndexingComponents, judged: JudgedCollection, plan: SearchPlan) -> tuple[float, ...]:
    """Give the nDCG@10 of each question; a document counts by its best passage."""
    run = find_all(parts, judged, plan, {}, most=10)
    found = {question: [hit.document for hit in hits] for question, hits in run.items()}
    return tuple(next(one.values for one in evaluate_run(found, judged) if one.metric == NDCG))


def draw(rows: Sequence[Row]) -> None:
    """Print nDCG@10 by way and collection; a star where it differs from `balanced` beyond chance, alone."""
    collections = list(dict.fromkeys(row.collection for row in rows))
    held = {(row.collection, row.way): row for row in rows}
    print("| | " + " | ".join(collections) + " | mean |")
    print("|---|" + "---|" * (len(collections) + 1))
    for way in dict.fromkeys(row.way for row in rows):
        some = [held[name, way] for name in collections]
        cells = [f"{one.mean:.4f}{star(one, held[one.collection, 'balanced'])}" for one in some]
        print(f"| {way} | " + " | ".join(cells) + f" | {sum(one.mean for one in some) / len(some):.4f} |")
    print(json.dumps({name: len(held[name, "balanced"].values) for name in collections}))


def star(one: Row, balanced: Row) -> str:
    """Mark what a paired randomization test at .05 tells from the default."""
    return "*" if one.way != balanced.way and randomization_test(one.values, balanced.values) < 0.05 else ""


if __name__ == "__main__":
    main()
