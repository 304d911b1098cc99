"""How good the rankings are, on judged collections, through the engine as `twofold eval` runs it.

    python benchmarks/quality.py --memory DIR                     all collections, passages of the default size
    python benchmarks/quality.py --memory DIR --sizes 256,384,510 and of other sizes
    python benchmarks/quality.py --memory DIR scifact cacm        only these

`--memory` is a folder where vectors are kept between runs, by default below the system's temporary one. Every figure is
a mean over the questions with the interval in which 95 % of resampled means lie. `whole` rows leave every document one
passage (words alone: no model reads so much); `bm25s` rows rank the same texts with bm25s at the same k1, b, stemmer
and stop words, `bm25s (our words)` with the words that twofold's analyzer makes, its exact forms left out. Tables in
Markdown go to standard output, everything into benchmarks/results/<commit>.json.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from material import MODEL, SHARED
from remembered import MEMORY, remembering
from reporting import keep, machine

from twofold.config.schema import ChunkSettings
from twofold.domain.ports import Embedder
from twofold.evaluation.dataset import JudgedCollection, load
from twofold.evaluation.report import MetricValues, documents_from_passages, evaluate_run, summarize
from twofold.evaluation.run import Found, ask_all, document_of, fill, milliseconds_a_query
from twofold.evaluation.significance import bootstrap_interval, randomization_test
from twofold.indexing.components import IndexingComponents
from twofold.ingest.chunking import ChunkPlan, chunker_for
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.ranking.fusion import FusionPlan
from twofold.search.plan import SearchPlan
from twofold.stores.local.store import LocalStore
from twofold.text.analyzers import analyzer_for
from twofold.text.languages import language_of
from twofold.text.tokenizer import Kind

COLLECTIONS: Mapping[str, str] = {
    "scifact": "english",
    "cranfield": "english",
    "cacm": "english",
    "multihop-hotpotqa": "english",
    "xquad-en": "english",
    "xquad-de": "german",
    "xquad-zh": "cjk",
}
WAYS: Mapping[str, SearchPlan] = {
    "bm25": SearchPlan(mode="bm25"),
    "vector": SearchPlan(mode="vector"),
    "hybrid": SearchPlan(mode="hybrid"),
    "hybrid (rrf)": SearchPlan(mode="hybrid", fusion=FusionPlan("rrf")),
}
WHOLE = 1_000_000
DOCUMENTS_JUDGED = 100
Words = Callable[[Sequence[str]], list[list[str]]]
NDCG = "nDCG@10"


@dataclass(frozen=True, slots=True)
class Run:
    """What one way of ranking reached on one collection."""

    collection: str
    passages: str
    way: str
    chunks: int
    scored: Sequence[MetricValues]
    milliseconds: float

    def values(self, metric: str = NDCG) -> Sequence[float]:
        """Give one metric's value of each question."""
        return next(one.values for one in self.scored if one.metric == metric)

    def report(self) -> Mapping[str, object]:
        """Give the figures with their intervals."""
        row = summarize(self.way, self.scored, self.milliseconds)
        figures = {
            one.metric: {name: round(value, 4) for name, value in asdict(one.interval).items()} for one in row.figures
        }
        return {
            "collection": self.collection,
            "passages": self.passages,
            "way": self.way,
            "chunks": self.chunks,
            "ms_without_embedding": round(self.milliseconds, 2),
            **figures,
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="*", default=list(COLLECTIONS), metavar="COLLECTION")
    parser.add_argument("--sizes", default=str(ChunkSettings().size), help="tokens of a passage, commas between them")
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors in this folder")
    parser.add_argument("--out", type=Path, help="write to this file")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    runs: list[Run] = []
    with remembering(MODEL, options.memory) as embedder:
        for name in options.collections:
            for run in runs_of(load(SHARED / "data" / name), COLLECTIONS[name], embedder, sizes):
                print(json.dumps(run.report()), file=sys.stderr, flush=True)
                runs.append(run)
    compared = comparisons(runs)
    draw(runs, compared)
    content = {
        "machine": {**machine(), "bm25s": version("bm25s"), "model": MODEL},
        "rows": [run.report() for run in runs],
        "comparisons": compared,
    }
    print(keep("quality", content, options.out), file=sys.stderr)


def runs_of(judged: JudgedCollection, language: str, embedder: Embedder, sizes: Sequence[int]) -> Iterator[Run]:
    """Rank one collection in every way."""
    texts = {one.id: "\n".join(part for part in (one.title, one.text) if part) for one in judged.documents}
    if language in Stemmer.algorithms():
        for way, words in (("bm25s", words_of_bm25s(language)), ("bm25s (our words)", our_words(language))):
            found = by_bm25s(judged, list(texts.values()), list(texts), words)
            yield Run(judged.name, "whole", way, len(texts), evaluate_run(found, judged), 0.0)
    yield from engine_runs(judged, (language, WHOLE), HashingEmbedder(), {"bm25": WAYS["bm25"]})
    for size in sizes:
        yield from engine_runs(judged, (language, size), embedder, WAYS)


def engine_runs(
    judged: JudgedCollection, made_with: tuple[str, int], embedder: Embedder, ways: Mapping[str, SearchPlan]
) -> Iterator[Run]:
    """Fill a scratch index and ask it every question in each of the ways."""
    language, size = made_with
    plan = ChunkPlan(size=size)
    passages = "whole" if size == WHOLE else str(size)
    with tempfile.TemporaryDirectory(prefix="twofold-quality-") as scratch:
        store = LocalStore(Path(scratch) / "index")
        try:
            chunker = chunker_for(plan, embedder.count_tokens, embedder.embed_passages)
            parts = IndexingComponents(store, embedder, analyzer_for(language), chunker, plan.describe())
            fill(parts, judged.documents, lambda _documents, _passages: None)
            for way, asked in ways.items():
                scored = evaluate_run(ask_all(parts, judged, asked), judged)
                spent = milliseconds_a_query(parts, judged, asked)
                yield Run(judged.name, passages, way, store.info().chunks, scored, spent)
            if size != WHOLE and language in Stemmer.algorithms():
                cut = [chunk for one in judged.documents for chunk in chunker(document_of(one))]
                sources = [one.id for one in judged.documents for _ in chunker(document_of(one))]
                found = by_bm25s(judged, [chunk.indexed_text for chunk in cut], sources, words_of_bm25s(language))
                yield Run(judged.name, passages, "bm25s", len(cut), evaluate_run(found, judged), 0.0)
        finally:
            store.close()


def words_of_bm25s(language: str) -> Words:
    """Cut texts into words as bm25s does, with our stop words and stemmer."""
    chosen = {"stopwords": sorted(language_of(language).stop_words), "stemmer": Stemmer.Stemmer(language)}
    return lambda texts: bm25s.tokenize(list(texts), return_ids=False, show_progress=False, **chosen)


def our_words(language: str) -> Words:
    """Cut texts into words as twofold does, without exact forms."""
    analyzer = analyzer_for(language)
    return lambda texts: [[one.term for one in analyzer.tokens(text) if one.kind is Kind.WORD] for text in texts]


def by_bm25s(judged: JudgedCollection, texts: Sequence[str], sources: Sequence[str], words: Words) -> Found:
    """Rank documents by their best text, scored by bm25s as Lucene scores, with our k1 and b."""
    plan = SearchPlan()
    retriever = bm25s.BM25(method="lucene", k1=plan.k1, b=plan.b)
    retriever.index(words(texts), show_progress=False)
    found = {}
    for question in judged.queries:
        (terms,) = words([question.text])
        known = [term for term in terms if term in retriever.vocab_dict]
        scores = np.asarray(retriever.get_scores(known), dtype=np.float64) if known else np.zeros(len(texts))
        best = [at for at in np.argsort(-scores, kind="stable") if scores[at] > 0]
        found[question.id] = documents_from_passages((sources[at] for at in best), DOCUMENTS_JUDGED)
    return found


def comparisons(runs: Sequence[Run]) -> list[Mapping[str, object]]:
    """Hold hybrid against each retriever, and BM25 against bm25s, question by question."""
    held = {(run.collection, run.passages, run.way): run for run in runs}
    pairs = [
        ("hybrid", "bm25"),
        ("hybrid", "vector"),
        ("hybrid", "hybrid (rrf)"),
        ("bm25", "bm25s"),
        ("bm25", "bm25s (our words)"),
    ]
    made = []
    for collection, passages in dict.fromkeys((run.collection, run.passages) for run in runs):
        for one, other in pairs:
            first, second = held.get((collection, passages, one)), held.get((collection, passages, other))
            if first and second:
                made.append(compare(first, second))
    return made + by_size(runs)


def by_size(runs: Sequence[Run]) -> list[Mapping[str, object]]:
    """Hold every size of passages against the first one, in the same way of ranking."""
    made = []
    for collection, way in dict.fromkeys((run.collection, run.way) for run in runs):
        first, *others = [run for run in runs if (run.collection, run.way) == (collection, way)]
        sized = [run for run in (first, *others) if run.passages != "whole"]
        made.extend(compare(other, sized[0]) for other in sized[1:])
    return made


def compare(first: Run, second: Run) -> Mapping[str, object]:
    """Give the mean difference in nDCG@10 of two runs, its interval, and the p-value of there being none."""
    differences = [a - b for a, b in zip(first.values(), second.values(), strict=True)]
    interval = bootstrap_interval(differences)
    return {
        "collection": first.collection,
        "first": f"{first.way}, {first.passages}",
        "second": f"{second.way}, {second.passages}",
        "difference": round(interval.mean, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
        "p": round(randomization_test(first.values(), second.values()), 4),
    }


def draw(runs: Sequence[Run], compared: Sequence[Mapping[str, object]]) -> None:
    """Print both tables in Markdown."""
    metrics = [one.metric for one in runs[0].scored]
    print("| collection | passages | ranking | " + " | ".join(metrics) + " |")
    print("|---|---|---|" + "---|" * len(metrics))
    for run in runs:
        row = summarize(run.way, run.scored, run.milliseconds)
        cells = [f"{one.interval.mean:.4f} [{one.interval.low:.3f}, {one.interval.high:.3f}]" for one in row.figures]
        print(f"| {run.collection} | {run.passages} | {run.way} | " + " | ".join(cells) + " |")
    print("\n| collection | nDCG@10 of | less that of | difference | 95 % interval | p |")
    print("|---|---|---|---|---|---|")
    for row in compared:
        print(
            f"| {row['collection']} | {row['first']} | {row['second']} | {row['difference']:+.4f}"
            f" | [{row['low']:+.3f}, {row['high']:+.3f}] | {row['p']:.4f} |"
        )


if __name__ == "__main__":
    main()
