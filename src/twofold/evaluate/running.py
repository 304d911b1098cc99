"""Running the engine over a judged collection: fill a scratch collection, ask every question, time the first few.

Judged questions are prose: what quotes and signs in them would ask of a search is not meant, see `as_prose`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from twofold.domain.errors import ModelError
from twofold.domain.ports import View
from twofold.domain.types import Document, document_id
from twofold.evaluate.collection import CorpusDocument, JudgedCollection
from twofold.evaluate.report import DOCUMENTS_JUDGED
from twofold.evaluate.runs import Run, ScoredDocument
from twofold.pipeline.parts import Parts
from twofold.pipeline.plan import LARGEST_K, SearchPlan
from twofold.pipeline.prepare import prepare
from twofold.pipeline.results import SearchResult
from twofold.pipeline.search import search
from twofold.query.prose import as_prose

DOCUMENTS_AT_ONCE = 64
QUERIES_TIMED = 100

OnFilled = Callable[[int, int], None]
"""Called with how many documents are in, and how many passages they made."""

Found = Mapping[str, Sequence[str]]
"""For each question's id the documents found, best first."""


def fill(parts: Parts, documents: Sequence[CorpusDocument], on_filled: OnFilled) -> None:
    """Put a corpus into the store of `parts`. Raises ModelError when the embedder cannot be run."""
    fill_with(parts, [document_of(one) for one in documents], None, on_filled)


def fill_with(parts: Parts, documents: Sequence[Document], known: View | None, on_filled: OnFilled) -> None:
    """Put documents into the store of `parts`; vectors of passages that `known` has as well are taken from there."""
    parts.store.adopt(parts.recipe)
    passages = 0
    for start in range(0, len(documents), DOCUMENTS_AT_ONCE):
        some = documents[start : start + DOCUMENTS_AT_ONCE]
        prepared = prepare(some, parts, known, lambda _: None)
        parts.store.put(prepared.entries)
        passages += sum(len(entry.chunks) for entry in prepared.entries)
        on_filled(start + len(some), passages)


def document_of(one: CorpusDocument) -> Document:
    """Make a document of a corpus line. A title without a text is the text, once, and no heading above itself."""
    if not one.text.strip():
        return Document(document_id(one.id), one.id, one.title)
    return Document(document_id(one.id), one.id, one.text, title=one.title)


def ask_all(parts: Parts, judged: JudgedCollection, plan: SearchPlan) -> Found:
    """Find for each question the documents of the best passages, deep enough for the metrics, of whatever `plan.k`."""
    run = find_all(parts, judged, plan, {})
    return {question: [hit.document for hit in hits] for question, hits in run.items()}


def find_all(
    parts: Parts, judged: JudgedCollection, plan: SearchPlan, names: Mapping[str, str], most: int = DOCUMENTS_JUDGED
) -> Run:
    """Find at most `most` documents for each question as `ask_all` does, each with its best passage's score.

    `names` gives by a document's id what the judgements call it; others go by their source. Raises ModelError when
    questions cannot be embedded or passages not be read again: the search goes on without, and must not be taken for
    what it is called.
    """
    stored = parts.store.info()
    passages = most * math.ceil(stored.chunks / max(1, stored.documents))
    deep = replace(plan, k=min(LARGEST_K, passages))
    run = {}
    for question in judged.queries:
        best: dict[str, float] = {}
        for hit in searched(parts, question.text, deep).hits:
            best.setdefault(names.get(hit.document, hit.source), hit.score)
        run[question.id] = tuple(ScoredDocument(*one) for one in islice(best.items(), most))
    return run


def searched(parts: Parts, question: str, plan: SearchPlan) -> SearchResult:
    """Return what a search finds, in the mode that was asked for. Raises ModelError where that cannot be done."""
    result = search(parts, as_prose(question), plan)
    if result.mode != plan.mode or (result.degraded and result.rerank is None):
        raise ModelError(f"This cannot be measured: {result.degraded[0]}", "See `twofold doctor`, or use bm25.")
    return result


def milliseconds_a_query(parts: Parts, judged: JudgedCollection, plan: SearchPlan) -> float:
    """Give the mean time of one search, embedding included, over the first hundred questions."""
    times = [
        search(parts, as_prose(question.text), plan).timings_ms["total"] for question in judged.queries[:QUERIES_TIMED]
    ]
    return sum(times) / len(times)
