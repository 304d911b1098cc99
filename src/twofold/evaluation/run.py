"""Running the engine over a judged collection: fill a scratch collection, ask every question, time the first few.

Judged questions are prose: what quotes and signs in them would ask of a search is not meant, see `as_prose`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.ports import Embedder, EmbedderIdentity, Snapshot
from twofold.domain.types import Document, Vectors, document_id
from twofold.domain.warning import WarningCode, is_degraded
from twofold.evaluation.confidence import Confidence
from twofold.evaluation.dataset import CorpusDocument, JudgedCollection, Question
from twofold.evaluation.report import (
    DOCUMENTS_JUDGED,
    STANDARD,
    Comparison,
    Metric,
    Row,
    Scored,
    compare_all,
    evaluate_run,
    summarize,
)
from twofold.evaluation.runs import Run, ScoredDocument
from twofold.evaluation.thresholds import Condition, Failure, failures
from twofold.evaluation.tuning import Changes, Measure
from twofold.indexing.components import IndexingComponents
from twofold.indexing.prepare import prepare
from twofold.query.parse import as_prose
from twofold.search.pipeline import search
from twofold.search.plan import MAX_K, SearchPlan
from twofold.search.result import SearchResult

DOCUMENT_BATCH_SIZE = 64
QUERIES_TIMED = 100

OnFilled = Callable[[int, int], None]
"""Called with how many documents are in, and how many passages they made."""

Found = Mapping[str, Sequence[str]]
"""For each question's id the documents found, best first."""


def fill(parts: IndexingComponents, documents: Sequence[CorpusDocument], on_filled: OnFilled) -> None:
    """Put a corpus into the store of `parts`. Raises ModelError when the embedder cannot be run."""
    fill_with(parts, [document_of(one) for one in documents], None, on_filled)


def fill_with(
    parts: IndexingComponents, documents: Sequence[Document], known: Snapshot | None, on_filled: OnFilled
) -> None:
    """Put documents into the store of `parts`; vectors of passages that `known` has as well are taken from there."""
    parts.store.ensure_fingerprint(parts.fingerprint)
    passages = 0
    for start in range(0, len(documents), DOCUMENT_BATCH_SIZE):
        some = documents[start : start + DOCUMENT_BATCH_SIZE]
        prepared = prepare(some, parts, known, lambda _: None)
        parts.store.upsert(prepared.entries)
        passages += sum(len(entry.chunks) for entry in prepared.entries)
        on_filled(start + len(some), passages)


def document_of(one: CorpusDocument) -> Document:
    """Make a document of a corpus line. A title without a text is the text, once, and no heading above itself."""
    if not one.text.strip():
        return Document(document_id(one.id), one.id, one.title)
    return Document(document_id(one.id), one.id, one.text, title=one.title)


def ask_all(parts: IndexingComponents, judged: JudgedCollection, plan: SearchPlan) -> Found:
    """Find for each question the documents of the best passages, deep enough for the metrics, of whatever `plan.k`."""
    run = find_all(parts, judged, plan, {})
    return {question: [hit.document for hit in hits] for question, hits in run.items()}


def find_all(
    parts: IndexingComponents,
    judged: JudgedCollection,
    plan: SearchPlan,
    names: Mapping[str, str],
    most: int = DOCUMENTS_JUDGED,
) -> Run:
    """Find at most `most` documents for each question as `ask_all` does, each with its best passage's score.

    `names` gives by a document's id what the judgements call it; others go by their source. Raises ModelError when
    questions cannot be embedded or passages not be read again: the search goes on without, and must not be taken for
    what it is called.
    """
    stored = parts.store.info()
    passages = most * math.ceil(stored.chunks / max(1, stored.documents))
    deep = replace(plan, k=min(MAX_K, passages))
    run = {}
    for question in judged.queries:
        best: dict[str, float] = {}
        for hit in searched(parts, question.text, deep).hits:
            best.setdefault(names.get(hit.document, hit.source), hit.score)
        run[question.id] = tuple(ScoredDocument(*one) for one in islice(best.items(), most))
    return run


def searched(parts: IndexingComponents, question: str, plan: SearchPlan) -> SearchResult:
    """Return what a search finds, in the mode that was asked for. Raises ModelError where that cannot be done.

    Passages that have no vector yet are no reason: the report says how many there were.
    """
    result = search(parts, as_prose(question), plan)
    failed = [one for one in result.warnings if one.code is not WarningCode.PENDING]
    if result.mode != plan.mode or (is_degraded(failed) and result.rerank is None):
        why = (failed or result.warnings)[0]
        raise ModelError(f"This cannot be measured: {why}", "See `twofold doctor`, or use bm25.")
    return result


def milliseconds_a_query(parts: IndexingComponents, judged: JudgedCollection, plan: SearchPlan) -> float:
    """Return the mean time of one search, embedding included, over the first hundred questions."""
    times = [
        search(parts, as_prose(question.text), plan).timings_ms["total"] for question in judged.queries[:QUERIES_TIMED]
    ]
    return sum(times) / len(times)


@dataclass(frozen=True, slots=True)
class Answers:
    """What a configuration found for each question, and its mean time in milliseconds where it was run here.

    `grades` are the judgements that its own results gave, by question: of passages that hold the answer.
    """

    name: str
    run: Run
    ms_per_query: float | None
    grades: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VariantRun:
    """What to report: by which metrics, and when it counts as failed."""

    metrics: tuple[Metric, ...] = STANDARD
    conditions: tuple[Condition, ...] = ()

    @property
    def all_metrics(self) -> tuple[Metric, ...]:
        """The metrics that are shown, then those that only a condition names."""
        named = {one.name: one for one in (*self.metrics, *(condition.metric for condition in self.conditions))}
        return tuple(named.values())


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Averages over `queries` questions; the `left_out` ones have no relevant judgement and count nowhere.

    `pending` counts the passages of the index that had no vector: only BM25 finds them, so a search by vectors is
    measured lower than it will be.
    `confidence` says how far the chances of answers held, where that was asked for.
    The last row is that of the configuration compared against, where there is one.
    """

    collection: str
    documents: int
    queries: int
    left_out: int
    missing_documents: int
    missing_queries: int
    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]
    failed: tuple[Failure, ...]
    pending: int = 0
    confidence: tuple[Confidence, ...] = ()


def evaluation(
    judged: JudgedCollection, documents: int, some: Sequence[Answers], baseline: Answers | None, asked: VariantRun
) -> Evaluation:
    """Score everything and compare each of `some` with `baseline`. Raises InvalidInputError as `failures` does."""
    scored = [_scored(one, judged, asked) for one in some]
    other = None if baseline is None else _scored(baseline, judged, asked)
    rows = [summarize(one.name, one.values, each.ms_per_query) for one, each in zip(scored, some, strict=True)]
    last = None if other is None or baseline is None else summarize(other.name, other.values, baseline.ms_per_query)
    return Evaluation(
        collection=judged.name,
        documents=documents,
        queries=len(judged.queries),
        left_out=judged.left_out,
        missing_documents=judged.missing_documents,
        missing_queries=judged.missing_queries,
        rows=tuple(rows if last is None else [*rows, last]),
        comparisons=() if other is None else compare_all(scored, other, judged.queries),
        failed=failures(
            asked.conditions, {row.name: _means(row) for row in rows}, None if last is None else _means(last)
        ),
    )


def _scored(one: Answers, judged: JudgedCollection, asked: VariantRun) -> Scored:
    run = {query: [hit.document for hit in hits] for query, hits in one.run.items()}
    judged = replace(judged, grades=one.grades) if one.grades else judged
    return Scored(one.name, evaluate_run(run, judged, asked.all_metrics))


def _means(row: Row) -> Mapping[str, float]:
    return {figure.metric: figure.interval.mean for figure in row.figures}


Prepare = Callable[[Changes], tuple[IndexingComponents, SearchPlan]]
"""Gives what searches, and how, by settings with some changes."""

OnMeasured = Callable[[], None]
"""Called when some changes have been measured on some questions."""


def searching(
    judged: JudgedCollection, names: Mapping[str, str], metric: Metric, prepare: Prepare, on_measured: OnMeasured
) -> Measure:
    """Make a measure that searches as deep as the metric looks, and no deeper, so that `search.candidates` counts.

    Raises ModelError, when called, as `find_all` does.
    """

    def measure(changes: Changes, questions: Sequence[Question]) -> Sequence[float]:
        parts, plan = prepare(changes)
        run = find_all(parts, replace(judged, queries=tuple(questions)), plan, names, metric.k)
        on_measured()
        return tuple(
            metric.compute([hit.document for hit in run[one.id]], judged.grades[one.id], metric.k) for one in questions
        )

    return measure


class Unembedded:
    """Stands in for `inner` wherever vectors do not matter."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the embedder that it stands in for."""
        return self._inner.identity

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return each text the first unit vector: (len(texts), dimensions) float32."""
        vectors = np.zeros((len(texts), self._inner.identity.dimensions), dtype=np.float32)
        vectors[:, 0] = 1.0
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the same as `embed_passages`."""
        return self.embed_passages(texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count tokens as the embedder that it stands in for does."""
        return self._inner.count_tokens(texts)

    def close(self) -> None:
        """Free the embedder that it stands in for."""
        self._inner.close()
