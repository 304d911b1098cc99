"""Searching with a memory: a question that was answered already, in these words or nearly, has that answer."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from twofold.query.history import Turn
from twofold.search.build_result import build_result
from twofold.search.cache import CachedResult, CacheKey, ResultCache, ResultCaches, cache_key
from twofold.search.components import SearchComponents
from twofold.search.one_state import in_one_state
from twofold.search.pipeline import ranked, search
from twofold.search.plan import SearchPlan, check
from twofold.search.query import embed, expand, parse
from twofold.search.result import SearchResult, hit_of
from twofold.search.state import PipelineState

Memory = ResultCache[SearchResult]
Memories = ResultCaches[SearchResult]


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
    if history:
        return search(parts, question, plan, history)
    check(plan)
    state = parse(PipelineState(parts, plan, question))
    key = _key(state, session)
    known = None if memory.get_exact(key) is None else memory.get_similar(key)
    if known is not None:
        return _again(known, state)
    state = embed(expand(state))  # a generator may be asked for other queries
    vector = state.query.asked[0].vector if state.query.asked else None
    known = memory.get_similar(key, vector)
    if known is not None:
        return _again(known, state)
    made = build_result(in_one_state(parts.store, partial(ranked, state)))
    if made.warnings == parts.models.warnings:
        memory.put(key, vector, made)
    return made


def _key(state: PipelineState, session: str) -> CacheKey:
    parts, plan = state.parts, state.plan
    with parts.store.view(rows_only=True) as view:
        generation, viewer = view.generation, view.viewer_key
    rewriter = parts.models.rewriter if plan.query_expansion.needs_generator else None
    writes = None if rewriter is None else rewriter.identity
    models = (parts.embedder.identity, writes, *(reranker.identity for reranker in parts.models.rerankers))
    settings = (viewer, plan, models, parts.analyzer.describe(), parts.models.own, parts.models.warnings)
    return cache_key(state.request.parsed, [("", generation)], settings, session)


def _again(known: CachedResult[SearchResult], state: PipelineState) -> SearchResult:
    cache = hit_of(known.age, known.cosine)
    return replace(known.value, query=state.question, cache=cache, timings_ms=state.watch.total())
