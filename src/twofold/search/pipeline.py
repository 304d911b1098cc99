"""The search: understand the question, let the retrievers look, fuse, lift, filter, rerank, weigh, diversify, tell."""

from collections.abc import Sequence
from dataclasses import replace

from twofold.domain.errors import CorruptError, StageTimeoutError, StoreError, TwofoldError
from twofold.domain.filters import MATCH_ALL
from twofold.domain.ports import Scope, Snapshot
from twofold.query.history import Turn
from twofold.query.operators import all_of
from twofold.query.parse import checked
from twofold.search.build_result import PipelineRun, build_result
from twofold.search.components import SearchComponents
from twofold.search.degradation import RETRIEVERS, Stage
from twofold.search.plan import SearchPlan, check
from twofold.search.query import EncodedQuery, QueryVariant, degrade, encode_queries, understand
from twofold.search.rerank import RerankInput
from twofold.search.reranker_chain import rerank_with_fallback, reranker_chain_for
from twofold.search.result import SearchResult
from twofold.search.retrieve import FusedCandidates, RetrievalScope, retrieve_and_fuse
from twofold.search.stages import boost, diversify, post_filter, weigh
from twofold.search.state import Passages, PipelineState, Stopwatch
from twofold.search.timeouts import Deadline


def search(parts: SearchComponents, question: str, plan: SearchPlan, history: Sequence[Turn] = ()) -> SearchResult:
    """Find the k passages that answer a question best.

    The search goes on without a part that fails, and a warning says so: a hybrid search whose model fails goes on with
    words alone, one whose reranker fails keeps the fused order. A search in a mode of one retriever has nothing to go
    on with: its error is raised, as every error is where the plan says `raise`; where it says `empty` nothing is found
    instead. Raises InvalidInputError for an empty question or a plan that cannot be, MismatchError when the collection
    was made with another embedder.
    """
    return search_many(parts, [question], plan, history)[0]


def search_many(
    parts: SearchComponents, questions: Sequence[str], plan: SearchPlan, history: Sequence[Turn] = ()
) -> Sequence[SearchResult]:
    """Search for many questions: all embedded at once, ranked each for itself, in one state of the collection."""
    check(plan)
    watch = Stopwatch()
    understood = [understand(parts, question, plan, history, watch) for question in questions]
    heard = encode_queries(parts, understood, plan, watch)
    with parts.store.view() as view:
        results = []
        for one in heard:
            own = watch.share(len(heard))
            results.append(build_result(parts, view, run(parts, view, one, plan, own), own))
    return results


def answer(parts: SearchComponents, heard: EncodedQuery, plan: SearchPlan, watch: Stopwatch) -> SearchResult:
    """Rank and tell one question that was heard already."""
    with parts.store.view() as view:
        return build_result(parts, view, run(parts, view, heard, plan, watch), watch)


def run(
    parts: SearchComponents, view: Snapshot, heard: EncodedQuery, plan: SearchPlan, watch: Stopwatch
) -> PipelineRun:
    """Take the candidates through every stage; the order after each is kept."""
    parsed = heard.understood.parsed
    condition = all_of(checked(plan.filter), all_of(plan.default_filter_left, parsed.filter))
    early, late = (condition, MATCH_ALL) if plan.filter_stage == "pre" else (MATCH_ALL, condition)
    reach = RetrievalScope(_narrowed(view, Scope(early, parsed.required, parsed.excluded), heard), plan.reach)
    retrieved, heard = _looked(parts, view, heard, plan, reach, watch)
    degradation = heard.degradation
    passages = Passages(view)
    standing = PipelineState(
        retrieved.fused.ranking,
        constants=retrieved.fused.constants,
        stages=retrieved.stages,
        passed=(("fuse", retrieved.fused.ranking),),
        warnings=(*parts.aids.warnings, *heard.understood.warnings, *degradation.warnings, *retrieved.warnings),
    )
    with watch.step("boost_fused"):
        standing = boost(standing, passages, parsed.original, plan.boost, "fused")
    with watch.step("post_filter"):
        standing = post_filter(standing, passages, late)
    if parts.aids.rerankers and Stage.RERANK in degradation.left:
        with watch.step("rerank"):
            standing = _reread(parts, standing, passages, heard.understood.complete or parsed.words, plan, watch)
        with watch.step("boost_reranked"):
            standing = boost(standing, passages, parsed.original, plan.boost, "reranked")
    with watch.step("metadata_boost"):
        standing = weigh(standing, passages, parsed.words, heard.understood.kinds, plan.metadata_boost)
    with watch.step("diversify"):
        standing = diversify(standing, passages, plan.diversity, plan.k)
    return PipelineRun(heard, plan, retrieved, standing, passages)


def _narrowed(view: Snapshot, scope: Scope, heard: EncodedQuery) -> Scope:
    """Narrow the scope to the kind of passage that the question is after, if there are any."""
    intent, first = heard.understood.intent, heard.asked[:1]
    if intent is None or not first:
        return scope
    narrow = replace(scope, filter=all_of(scope.filter, intent.condition))
    one = first[0]
    found = (one.terms is not None and len(view.search_bm25(one.terms, 1, narrow))) or (
        one.vector is not None and len(view.search_vectors(one.vector, 1, narrow))
    )
    return narrow if found else scope


def _reread(
    parts: SearchComponents, standing: PipelineState, passages: Passages, words: str, plan: SearchPlan, watch: Stopwatch
) -> PipelineState:
    reading = RerankInput(words, standing.ranking, passages.texts)
    return rerank_with_fallback(standing, reranker_chain_for(parts, plan), reading, plan.rerank, watch.elapsed)


def _looked(  # what a look takes
    parts: SearchComponents,
    view: Snapshot,
    heard: EncodedQuery,
    plan: SearchPlan,
    reach: RetrievalScope,
    watch: Stopwatch,
) -> tuple[FusedCandidates, EncodedQuery]:
    """Let the retrievers look; where one of them fails, the other alone; where none is left, nothing is found.

    Gives also what was heard in the end. Each try has the time of the stage for itself; there are three at the most.
    """
    degradation = heard.degradation

    def look(again: EncodedQuery) -> FusedCandidates:
        deadline = Deadline("retrieval", plan.timeouts.limits.retrieve)
        return retrieve_and_fuse(parts, view, again, plan, replace(reach, deadline=deadline), watch)

    try:
        return look(heard), heard
    except (CorruptError, StoreError, StageTimeoutError) as error:
        failed: TwofoldError = error
    for stage, lesser in _lesser(heard):
        degradation = degrade(degradation, stage, failed, plan)
        if not degradation.left:
            break
        try:
            return look(lesser), replace(lesser, degradation=degradation)
        except (CorruptError, StoreError, StageTimeoutError) as error:
            failed, degradation = error, heard.degradation
    for stage in sorted(degradation.left & RETRIEVERS):
        degradation = degrade(degradation, stage, failed, plan)
    nothing = replace(heard, asked=(QueryVariant(None, None),))
    return retrieve_and_fuse(parts, view, nothing, plan, reach, watch), replace(nothing, degradation=degradation)


def _lesser(heard: EncodedQuery) -> tuple[tuple[Stage, EncodedQuery], ...]:
    """Return what to try when a retriever has failed, nobody knows which: words alone, then meaning alone."""
    if not heard.degradation.left >= RETRIEVERS:
        return ()
    words = tuple(replace(one, vector=None) for one in heard.asked)
    meaning = tuple(replace(one, terms=None) for one in heard.asked)
    return (
        (Stage.VECTOR, replace(heard, mode="bm25", asked=words)),
        (Stage.BM25, replace(heard, mode="vector", asked=meaning)),
    )
