"""`run_simple_rag` and `match_chunks`, as programs for the system `aanae` know them, over an ordinary `Index`."""

from collections.abc import Mapping

from twofold.answer.context import Budget, build_context, template_named
from twofold.compat.shapes import Shape, normalized_of, plain, raw_of
from twofold.domain.filters import MATCH_ALL, Filter
from twofold.domain.generators import Generator
from twofold.index import Index
from twofold.query.filter_json import filter_from_json
from twofold.search.result import Hit

PROFILE = "aanae"
TOP_K = 10
TOP_N = 5
CANDIDATES = 5
"""How many candidates there are for each passage that is asked for."""
CONTEXT = Budget(tokens=0, characters=12_000)
NO_SETTINGS: Mapping[str, object] = {}


def match_chunks(
    index: Index,
    query: str,
    match_count: int = TOP_K,
    filters: Mapping[str, object] | None = None,
    settings: Mapping[str, object] = NO_SETTINGS,
) -> list[Shape]:
    """Return up to `5 * match_count` passages for a reranker: `hybrid_score = dense + 0.35 * sparse + bonus`.

    `filters` are `semantic_type_primary_in`, `source_type_in`, `min_entity_density` and the others that a search takes.
    """
    asked = {**settings, "rerank.model": "none", "rerank.fallback": ""}
    found = index.search(query, k=CANDIDATES * match_count, filter=_filter_of(filters), profile=PROFILE, settings=asked)
    return [_matched(hit) for hit in found.hits]


def run_simple_rag(  # noqa: PLR0913  # the names of the earlier system
    index: Index,
    query: str,
    top_k: int = TOP_K,
    top_n: int = TOP_N,
    *,
    filters: Mapping[str, object] | None = None,
    llm: str | Generator | None = None,
    settings: Mapping[str, object] = NO_SETTINGS,
) -> Shape:
    """Answer a question from the `top_n` best of `5 * top_k` candidates.

    Return `answer`, `confidence` (0.5 to 1; None where nothing was reranked), `chunks`, and the `context`: their texts,
    cut at 12,000 characters. Without a model the answer is made of the documents' own sentences.
    """
    asked = {**settings, "search.candidates": str(CANDIDATES * top_k)}
    answer = index.ask(query, llm=llm, k=top_n, filter=_filter_of(filters), profile=PROFILE, settings=asked)
    chunks = [
        {"chunk_id": one.first.chunk_id, "chunk_text": one.text, "score": one.score, "metadata": plain(one.metadata)}
        for one in answer.sources
    ]
    context = build_context(answer.sources, template_named(PROFILE), CONTEXT, "truncate").text
    return {"answer": answer.text, "confidence": answer.confidence, "chunks": chunks, "context": context}


def _filter_of(filters: Mapping[str, object] | None) -> Filter:
    return filter_from_json(filters) if filters else MATCH_ALL


def _matched(hit: Hit) -> Shape:
    return {
        "chunk_id": hit.chunk_id,
        "chunk_text": hit.text,
        "dense_score": raw_of(hit, "vector"),
        "sparse_score": normalized_of(hit, "bm25"),
        "hybrid_score": hit.score,
        "metadata": plain(hit.metadata),
    }
