"""Searching with a memory: a question that was answered already, in these words or nearly, has that answer."""

from collections.abc import Sequence
from dataclasses import replace

from twofold.query.history import Turn
from twofold.query.parse import ParsedQuery
from twofold.search.cache import CachedResult, CacheKey, ResultCache, cache_key
from twofold.search.components import SearchComponents
from twofold.search.pipeline import answer
from twofold.search.plan import SearchPlan, check
from twofold.search.query import encode_queries, parsed, understand
from twofold.search.result import SearchResult, hit_of
from twofold.search.state import Stopwatch

Memory = ResultCache[SearchResult]


def search_cached(  # a search, and whose it is
    parts: SearchComponents,
    memory: Memory,
    question: str,
    plan: SearchPlan,
    history: Sequence[Turn] = (),
    session: str = "",
) -> SearchResult:
    """Search, or give the answer that is remembered; the result's `cache` then says which. Errors as for `search`.

    Only whole answers are kept: what was degraded, but for what these settings always leave out, is searched for
    again. A question with a history is never kept.
    """
    check(plan)
    watch = Stopwatch()
    if history:
        understood = understand(parts, question, plan, history, watch)
        return answer(parts, encode_queries(parts, [understood], plan, watch)[0], plan, watch)
    key = _key(parts, parsed(parts, question), plan, session)
    known = None if memory.get_exact(key) is None else memory.lookup(key)
    if known is not None:
        return _again(known, question, watch)
    understood = understand(parts, question, plan, history, watch)  # a generator may be asked for other wordings
    (heard,) = encode_queries(parts, [understood], plan, watch)
    vector = heard.asked[0].vector if heard.asked else None
    known = memory.lookup(key, vector)
    if known is not None:
        return _again(known, question, watch)
    made = answer(parts, heard, plan, watch)
    if made.warnings == parts.aids.warnings:
        memory.remember(key, vector, made)
    return made


def _key(parts: SearchComponents, asked: ParsedQuery, plan: SearchPlan, session: str) -> CacheKey:
    with parts.store.view() as view:
        generation = view.generation
    rewriter = parts.aids.rewriter if plan.query_expansion.needs_generator else None
    writes = None if rewriter is None else rewriter.identity
    models = (parts.embedder.identity, writes, *(reranker.identity for reranker in parts.aids.rerankers))
    aids = parts.aids
    return cache_key(
        asked, [("", generation)], (plan, models, parts.analyzer.describe(), aids.own, aids.warnings), session
    )


def _again(known: CachedResult[SearchResult], question: str, watch: Stopwatch) -> SearchResult:
    return replace(known.value, query=question, cache=hit_of(known.age, known.cosine), timings_ms=watch.total())
