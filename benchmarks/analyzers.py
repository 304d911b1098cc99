"""What the analyzers are worth: nDCG@10 of BM25 with our terms against bm25s' own, and of languages against `simple`.

    python benchmarks/analyzers.py            every collection, as JSON on standard output

Collections in BEIR's layout are looked for in the folder that TWOFOLD_SHARED names, else in `../shared`.
k1 is 1.2 and b 0.75.
"""

import csv
import json
import math
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from twofold.domain.types import TermCounts
from twofold.text.analyzer import EXACT, Analyzer
from twofold.text.analyzers import analyzer_for
from twofold.text.bm25 import inverse_document_frequency
from twofold.text.languages import stop_words

SHARED = Path(os.environ.get("TWOFOLD_SHARED", Path(__file__).resolve().parents[1] / ".." / "shared"))
K1, B, DEPTH = 1.2, 0.75, 10

Gains = Mapping[str, float]
Weigh = Callable[[str], Mapping[str, float]]


class Collection(NamedTuple):
    """Passages, questions and judgements; `relevant[question][passage]` is a grade above 0."""

    passages: Mapping[str, str]
    questions: Mapping[str, str]
    relevant: Mapping[str, Gains]


class Postings(NamedTuple):
    """An inverted index: for each term where it is and how often, and each passage's K."""

    terms: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
    norms: NDArray[np.float64]


def read(name: str) -> Collection:
    """Read one collection in BEIR's layout; questions without a relevant passage are left out."""
    folder = SHARED / "data" / name
    relevant: dict[str, dict[str, float]] = defaultdict(dict)
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if float(row["score"]) > 0:
                relevant[row["query-id"]][row["corpus-id"]] = float(row["score"])
    passages = {str(one["_id"]): f"{one.get('title') or ''} {one['text']}" for one in _lines(folder / "corpus.jsonl")}
    questions = {
        str(one["_id"]): one["text"] for one in _lines(folder / "queries.jsonl") if str(one["_id"]) in relevant
    }
    return Collection(passages, questions, relevant)


def index(counts: Sequence[TermCounts]) -> Postings:
    """Turn counted passages into postings."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, passage in enumerate(counts):
        for term, count in passage.counts.items():
            found[term].append((place, count))
    terms = {}
    for term, pairs in found.items():
        places, frequencies = zip(*pairs, strict=True)
        terms[term] = (np.array(places, dtype=np.int64), np.array(frequencies, dtype=np.float64))
    lengths = np.array([passage.length for passage in counts], dtype=np.float64)
    return Postings(terms, K1 * (1.0 - B + B * lengths / lengths.mean()))


def score(postings: Postings, weights: Mapping[str, float]) -> NDArray[np.float64]:
    """Score all passages for one question."""
    scores = np.zeros(len(postings.norms))
    for term, weight in weights.items():
        if term in postings.terms:
            places, frequencies = postings.terms[term]
            part = frequencies * (K1 + 1.0) / (frequencies + postings.norms[places])
            scores[places] += weight * inverse_document_frequency(len(scores), len(places)) * part
    return scores


def quality(collection: Collection, scored: Iterable[NDArray[np.float64]]) -> float:
    """Give the mean nDCG@10 with gains 2^grade - 1, ties to the passage that comes first."""
    names = list(collection.passages)
    values = []
    for question, scores in zip(collection.questions, scored, strict=True):
        order = np.argsort(-scores, kind="stable")[:DEPTH]
        gains = collection.relevant[question]
        found = sum(
            (2 ** gains.get(names[place], 0.0) - 1) / math.log2(rank + 2)
            for rank, place in enumerate(order)
            if scores[place] > 0
        )
        ideal = sum(
            (2**gain - 1) / math.log2(rank + 2) for rank, gain in enumerate(sorted(gains.values())[::-1][:DEPTH])
        )
        values.append(found / ideal)
    return round(float(np.mean(values)), 4)


def ours(collection: Collection, analyzer: Analyzer) -> dict[str, float]:
    """Measure an analyzer, with exact forms in the question and without, and how fast it reads."""
    began = time.process_time()
    counts = [analyzer.counts(text) for text in collection.passages.values()]
    seconds = time.process_time() - began
    postings = index(counts)
    weights = [analyzer.query(question) for question in collection.questions.values()]
    words = [{term: weight for term, weight in each.items() if not term.startswith(EXACT)} for each in weights]
    return {
        "ndcg@10": quality(collection, (score(postings, each) for each in weights)),
        "ndcg@10 words only": quality(collection, (score(postings, each) for each in words)),
        "passages per CPU second": round(len(counts) / seconds),
        "words per CPU second": round(sum(each.length for each in counts) / seconds),
        "postings": sum(len(each.counts) for each in counts),
        "postings of exact forms": sum(sum(term.startswith(EXACT) for term in each.counts) for each in counts),
    }


def theirs(collection: Collection, language: str) -> float:
    """Measure bm25s with its own tokenizer, the same stemmer and the same stop words; no language, neither of them."""
    stemmer = Stemmer.Stemmer(language) if language else None
    options = {"stopwords": sorted(stop_words(language)), "stemmer": stemmer, "show_progress": False}
    peer = bm25s.BM25(method="lucene", k1=K1, b=B)
    peer.index(bm25s.tokenize(list(collection.passages.values()), **options), show_progress=False)
    asked = bm25s.tokenize(list(collection.questions.values()), return_ids=False, **options)
    known = [[word for word in words if word in peer.vocab_dict] for words in asked]
    return quality(
        collection, (peer.get_scores(words) if words else np.zeros(len(collection.passages)) for words in known)
    )


def theirs_on_our_words(collection: Collection, analyzer: Analyzer) -> float:
    """Measure bm25s on the words, exact forms left out, that our analyzer finds: the two formulas on the same input."""
    peer = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64")
    peer.index([_words(analyzer.counts(text).counts) for text in collection.passages.values()], show_progress=False)
    asked = [_words(analyzer.query(question)) for question in collection.questions.values()]
    return quality(
        collection, (peer.get_scores([word for word in words if word in peer.vocab_dict]) for words in asked)
    )


def main() -> None:
    """Measure everything and print it."""
    report: dict[str, dict[str, object]] = {}
    for name in ("scifact", "cranfield", "cacm"):
        collection = read(name)
        english = analyzer_for("english")
        peers = {"bm25s": theirs(collection, "english"), "bm25s on our words": theirs_on_our_words(collection, english)}
        pairs = ours(collection, analyzer_for("english+2"))
        report[name] = {**peers, "english": ours(collection, english), "english+2": pairs}
    for name, language, specs in (("xquad-de", "german", ("german", "simple")), ("xquad-zh", "", ("cjk", "simple"))):
        collection = read(name)
        report[name] = {"bm25s": theirs(collection, language)} | {
            spec: ours(collection, analyzer_for(spec)) for spec in specs
        }
    json.dump(report, sys.stdout, indent=2)
    print()


def _words(weights: Mapping[str, float]) -> list[str]:
    return [term for term, times in weights.items() if not term.startswith(EXACT) for _ in range(round(times))]


def _lines(path: Path) -> Iterable[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


if __name__ == "__main__":
    main()
