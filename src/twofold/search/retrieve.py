"""Retrieval: both retrievers asked every query, their scores completed for whatever either found, and all fused."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass, replace
from twofold.domain.errors import CorruptError, ModelError, StageTimeoutError, StoreError, TwofoldError
from twofold.domain.filters import MATCH_ALL
from twofold.domain.ports import Scope, Snapshot, Translating
from twofold.domain.types import EMPTY_RANKING, ChunkKeys, Ranking, Scores, TermCounts, Vector, chunk_key
from twofold.domain.warning import StageWarning, WarningCode, warning_of
from twofold.kernels import falling, filled, scores_of
from twofold.query.operators import all_of
from twofold.ranking.fusion import Candidates, Fused, FusionPlan, best_of, by_ranks, fuse, union
from twofold.ranking.prf import Feedback, expanded, relevance_model
from twofold.search.degradation import RETRIEVERS, Stage
from twofold.search.known_words import known_words, with_known_words
from twofold.search.pending_vectors import FreshVectors, OnTheSpot, embed_candidates
from twofold.search.plan import SearchPlan
from twofold.search.prf import expand_with_prf
from twofold.search.query import check_embedder, degrade
from twofold.search.request import EncodedQuery, QueryVariant
from twofold.search.result import StageTrace, of_terms, with_notes
from twofold.search.stages import condition_of
from twofold.search.state import PipelineState, Retrieved, Stopwatch
from twofold.search.timeouts import Deadline, waited
from twofold.text.analyzer import may_expand


@dataclass(frozen=True, slots=True)
class RetrievalScope:
    """What the retrievers search, how many candidates each returns, and their deadline.

    `spot` embeds candidates that have no vector; None where passages are left as they are.
    """

    scope: Scope
    depth: int
    deadline: Deadline = field(default_factory=lambda: Deadline("retrieval", 0.0))
    spot: OnTheSpot | None = None


def find_candidates(
    view: Snapshot, asked: Sequence[QueryVariant], reach: RetrievalScope, watch: Stopwatch
) -> Candidates:
    """Search with both retrievers; of several queries a passage keeps its best score in each.

    Raises StageTimeoutError between two of its steps where the time is up.
    """
    with watch.step("bm25"):
        by_words = [
            EMPTY_RANKING if one.terms is None else view.search_bm25(one.terms, reach.depth, reach.scope)
            for one in _in_time(asked, reach.deadline)
        ]
        bm25 = _best(by_words, reach.depth)
    with watch.step("vector"):
        by_meaning = [
            EMPTY_RANKING if one.vector is None else view.search_vectors(one.vector, reach.depth, reach.scope)
            for one in _in_time(asked, reach.deadline)
        ]
    fresh = _embedded(view, asked, bm25, reach, watch)
    scores: VectorScore = view.score_vector
    if fresh is not None:
        scores = partial(_with_fresh, fresh, view)
        by_meaning = [
            ranking if one.vector is None else fresh.ranking(one.vector, ranking, reach.depth)
            for one, ranking in zip(asked, by_meaning, strict=True)
        ]
    vector = _best(by_meaning, reach.depth)
    reach.deadline.check()
    keys = union((bm25.keys, vector.keys))
    with watch.step("bm25"):
        bm25_scores, queries = _all_completed(
            keys, by_words, [None if one.terms is None else partial(view.score_terms, one.terms) for one in asked]
        )
    with watch.step("vector"):
        vector_scores, _ = _all_completed(
            keys, by_meaning, [None if one.vector is None else partial(scores, one.vector) for one in asked]
        )
    return Candidates(bm25, vector, keys, bm25_scores, vector_scores, queries, _pending(view, keys, fresh))


VectorScore = Callable[[Vector, ChunkKeys], Scores]


def _embedded(
    view: Snapshot, asked: Sequence[QueryVariant], bm25: Ranking, reach: RetrievalScope, watch: Stopwatch
) -> FreshVectors | None:
    """Embed candidates that have no vector, where the query has one to compare them with."""
    if not view.pending or reach.spot is None or all(one.vector is None for one in asked):
        return None
    with watch.step("embed"):
        return embed_candidates(view, bm25, reach.spot)


def _with_fresh(fresh: FreshVectors, view: Snapshot, vector: Vector, keys: ChunkKeys) -> Scores:
    return fresh.score(vector, view.score_vector, keys)


def _pending(view: Snapshot, keys: ChunkKeys, fresh: FreshVectors | None) -> NDArray[np.bool_] | None:
    """Mark the candidates that have no vector, also none that was just made."""
    if not view.pending:
        return None
    waiting = np.isin(keys, view.without_vector(keys))
    return waiting if fresh is None else waiting & ~np.isin(keys, fresh.keys)


def _in_time(asked: Sequence[QueryVariant], deadline: Deadline) -> Iterator[QueryVariant]:
    for one in asked:
        deadline.check()
        yield one


def _best(rankings: Sequence[Ranking], depth: int) -> Ranking:
    if len(rankings) == 1:
        return rankings[0]
    best = best_of(rankings)
    return Ranking(best.keys[:depth], best.scores[:depth])


Score = Callable[[ChunkKeys], Scores]


def _all_completed(
    keys: ChunkKeys, listed: Sequence[Ranking], score: Sequence[Score | None]
) -> tuple[Scores, Sequence[int] | None]:
    """Return each key's best score over the queries, and which query that is; the first of equals."""
    rows = [
        np.zeros(len(keys)) if one is None else _completed(keys, ranking, one)
        for ranking, one in zip(listed, score, strict=True)
    ]
    if len(rows) == 1:
        return rows[0], None
    table = np.stack(
        [row if one is not None else np.full(len(keys), -np.inf) for row, one in zip(rows, score, strict=True)]
    )
    if all(one is None for one in score):
        return np.zeros(len(keys)), None
    best = table.argmax(axis=0)
    return table[best, np.arange(len(keys))], best.tolist()


def _completed(keys: ChunkKeys, listed: Ranking, score: Score) -> Scores:
    """Take the true scores that a retriever has given already, and ask it for those it has not."""
    scores, missing, wanted = filled(keys, listed.keys, listed.scores)
    if len(missing):
        scores[missing] = score(wanted)
    return scores


PASSAGES = 10
"""How many passages are learnt from."""


def with_dense_terms(
    view: Snapshot, asked: Sequence[QueryVariant], reach: RetrievalScope, terms: int
) -> tuple[tuple[QueryVariant, ...], StageTrace | None]:
    """Add at most `terms` terms to the first query; as it was, and no trace, where nothing is to be added.

    Raises StageTimeoutError where the time is up.
    """
    first = asked[0]
    if not terms or first.terms is None or first.vector is None:
        return tuple(asked), None
    reach.deadline.check()
    found = view.search_vectors(first.vector, min(PASSAGES, reach.depth), reach.scope)
    passages = [_plain(counts) for counts in view.term_counts(found.keys.tolist())]
    model = relevance_model(passages, found.scores)
    known = first.terms.statistics or view.statistics(tuple(dict.fromkeys((*model, *first.terms.weights))))
    made = expanded(first.terms, model, known, Feedback(terms=terms))
    new = [term for term in made.gained if term not in first.terms.weights]
    if not made.gained:
        return tuple(asked), None
    trace = of_terms("prf_dense", len(found), len(new), new)
    return (replace(first, terms=made.query), *asked[1:]), trace


def _plain(counts: TermCounts) -> TermCounts:
    """Leave out what stands for itself alone."""
    plain = {term: count for term, count in counts.counts.items() if may_expand(term)}
    return TermCounts(plain, sum(plain.values()))


MAX_TERMS = 500
CODE_SHARE = 0.5
"""What is left of the vector weight for a question about a code: `docs/decisions/0061-codes-lean-on-words.md`."""


class _Look(NamedTuple):
    """What the retrievers gave for the queries `asked`: together, or one by one where their orders are merged by rank.

    `learnt` and `added` are the traces of what expanded the query, `share` is what is left of BM25's weight and PRF's.
    """

    asked: tuple[QueryVariant, ...]
    founds: tuple[Candidates, ...]
    learnt: StageTrace | None = None
    added: StageTrace | None = None
    leaning: tuple[str, ...] = ()
    share: float = 1.0

    @property
    def found(self) -> Candidates:
        """What was found for the question as it was asked."""
        return self.founds[0]


class _Other(NamedTuple):
    """What another retriever found, and how it put the question, where it translates it."""

    name: str
    ranking: Ranking
    said: str = ""

    @property
    def decisions(self) -> tuple[str, ...]:
        return (self.said,) if self.said else ()


def retrieve(state: PipelineState) -> PipelineState:
    """Search with both retrievers, fuse, expand the query by what came first, and fuse again.

    A retriever that fails is left out, with a warning; each of at most three tries has the stage's time. Raises what
    failed where the plan says `raise` or asks for one retriever, MismatchError for vectors of another embedder.
    """
    plan, watch, query = state.plan, state.watch, state.query
    _check_embedder(state)
    scope, untried = scope_of(state), _lesser(query)
    while True:
        seconds = 0.0 if query.asked == NOTHING_ASKED else plan.timeouts.limits.retrieve
        reach = RetrievalScope(scope, plan.reach, Deadline("retrieval", seconds), _spot(state))
        fusion = fusion_of(query, plan)
        try:
            first = look = _look(state, query, reach)
            with watch.step("fuse"):
                fusion, first = _by_known_words(state, query, fusion, first)
                fused = fuse(first.found, fusion, query.mode)
            look = _expanded(state, query, first, fused)
            if (results := plan.results) is not None and results.boosts:
                look = look._replace(founds=results.with_boosts(state, look.asked, look.founds))
            if look is not first:
                with watch.step("prf"):
                    fused = fuse(look.found, fusion, query.mode)
            if len(look.founds) > 1:
                fused = _merged(look, fusion, query.mode)
            return _fused_state(replace(state, query=query), reach, look._replace(founds=first.founds), fused)
        except (CorruptError, StoreError, StageTimeoutError) as error:
            if query.asked == NOTHING_ASKED:
                raise
            query, untried = _without_failed(state, untried, error)


NOTHING_ASKED = (QueryVariant(None, None),)


def _spot(state: PipelineState) -> OnTheSpot:
    parts = state.parts
    return OnTheSpot(parts.embedder, parts.models.pending, state.plan.pending_seconds)


def _check_embedder(state: PipelineState) -> None:
    """Refuse vectors of another embedder than the passages'. Raises MismatchError."""
    if state.query.embedder is not None:
        held = state.passages.view.fingerprint
        if held is not None:
            check_embedder(held.embedder, state.query.embedder)


def scope_of(state: PipelineState) -> Scope:
    """Return where to look; narrowed to the kind of passage that the question is after, if there are any."""
    parsed = state.request.parsed
    early = condition_of(state) if state.plan.filter_stage == "pre" else MATCH_ALL
    scope = Scope(early, parsed.required, parsed.excluded)
    intent, first = state.request.intent, state.query.asked[:1]
    if intent is None or not first:
        return scope
    view, one = state.passages.view, first[0]
    narrow = replace(scope, filter=all_of(scope.filter, intent.condition))
    found = (one.terms is not None and len(view.search_bm25(one.terms, 1, narrow))) or (
        one.vector is not None and len(view.search_vectors(one.vector, 1, narrow))
    )
    return narrow if found else scope


Lesser = tuple[tuple[Stage, EncodedQuery], ...]


def _lesser(query: EncodedQuery) -> Lesser:
    """Return what to try when a retriever has failed, nobody knows which: BM25 only, then vectors only."""
    if not query.degradation.left >= RETRIEVERS:
        return ()
    words = tuple(replace(one, vector=None) for one in query.asked)
    meaning = tuple(replace(one, terms=None) for one in query.asked)
    return (
        (Stage.VECTOR, replace(query, mode="bm25", asked=words)),
        (Stage.BM25, replace(query, mode="vector", asked=meaning)),
    )


def _without_failed(state: PipelineState, untried: Lesser, error: TwofoldError) -> tuple[EncodedQuery, Lesser]:
    """Return what to ask after a failure, and what is left to try then; nothing is asked where nothing is left."""
    plan, query = state.plan, state.query
    degradation = query.degradation
    if untried:
        stage, lesser = untried[0]
        degradation = degrade(degradation, stage, error, plan)
        if degradation.left:
            return replace(lesser, degradation=degradation), untried[1:]
    for stage in sorted(degradation.left & RETRIEVERS):
        degradation = degrade(degradation, stage, error, plan)
    return replace(query, asked=NOTHING_ASKED, degradation=degradation), ()


def _look(state: PipelineState, query: EncodedQuery, reach: RetrievalScope) -> _Look:
    """Ask both retrievers every query: together, or one by one where their orders are merged by rank."""
    plan, watch, view = state.plan, state.watch, state.passages.view
    asked, learnt = query.asked or NOTHING_ASKED, None
    if plan.dense_terms and query.mode == "hybrid":
        with watch.step("prf_dense"):
            asked, learnt = with_dense_terms(view, asked, reach, plan.dense_terms)
    evidence = (plan.fusion.evidence,) if plan.fusion.evidence and query.mode == "hybrid" else ()
    leaning = ((_leaning(plan.fusion),) if leans_on_words(query, plan) else ()) + evidence
    if plan.query_expansion.merge == "rrf" and len(asked) > 1:
        founds = tuple(find_candidates(view, (one,), reach, watch) for one in asked)
    else:
        founds = (find_candidates(view, asked, reach, watch),)
    return _Look(asked, founds, learnt, None, leaning)


def _merged(look: _Look, fusion: FusionPlan, mode: str) -> Fused:
    """Merge the orders of several queries by rank."""
    orders = [fuse(each, fusion, mode).ranking for each in look.founds]
    return by_ranks([(f"query {number}", order) for number, order in enumerate(orders, start=1)], fusion.rrf_k)


def _fused_state(state: PipelineState, reach: RetrievalScope, look: _Look, fused: Fused) -> PipelineState:
    """Return the state after retrieval, with the results of plugin retrievers joined by rank."""
    query = state.query
    others, failed = _plugins(state, query, reach) if state.parts.models.retrievers else ((), ())
    if others:
        fused = _with_others(fused, others, fusion_of(query, state.plan))
    return replace(
        state,
        retrieved=Retrieved(fused, look.found, look.asked),
        ranking=fused.ranking,
        constants=fused.constants,
        stages=_traces(query, look, fused, others, _counting(state)),
        passed=(("fuse", fused.ranking),),
        warnings=(
            *state.parts.models.warnings,
            *query.understood.warnings,
            *query.degradation.warnings,
            *(StageWarning("search", WarningCode.UNAVAILABLE, part) for part in state.passages.view.missing),
            *_pending_warnings(state),
            *failed,
        ),
    )


def fusion_of(query: EncodedQuery, plan: SearchPlan) -> FusionPlan:
    """Return how this query is fused: one about a code with half the vector weight, whatever else was found."""
    if not leans_on_words(query, plan):
        return plan.fusion
    return replace(plan.fusion, method="convex", vector_weight=plan.fusion.vector_weight * CODE_SHARE)


def leans_on_words(query: EncodedQuery, plan: SearchPlan) -> bool:
    """Return whether the vector weight is lowered for a code: in `adaptive` alone, which chooses its weights."""
    return query.about_a_code and query.mode == "hybrid" and plan.fusion.method == "adaptive"


def _by_known_words(
    state: PipelineState, query: EncodedQuery, fusion: FusionPlan, look: _Look
) -> tuple[FusionPlan, _Look]:
    """Return what is left of BM25's weight where the index has few of the question's words, and a look that says so."""
    terms, chooses = look.asked[0].terms, fusion.method == "adaptive" and query.mode == "hybrid"
    if not chooses or terms is None or terms.scorer != "bm25" or not can_expand(query, look.found):
        return fusion, look
    fusion, share, note = with_known_words(fusion, known_words(state.passages.view, terms, look.found.bm25))
    return fusion, look._replace(leaning=(*look.leaning, *note), share=share)


def _leaning(fusion: FusionPlan) -> str:
    return f"the question is a code: vector_weight {fusion.vector_weight:g} × {CODE_SHARE:g}"


def can_expand(query: EncodedQuery, found: Candidates) -> bool:
    """Return whether PRF may expand a question: one query, hits of both retrievers, and not about a code.

    One of more than 500 terms has enough of them.
    """
    if len(query.asked) != 1 or query.about_a_code or len(query.understood.parsed.terms.weights) > MAX_TERMS:
        return False
    return len(found.bm25) > 0 and len(found.vector) > 0


def _expanded(state: PipelineState, query: EncodedQuery, look: _Look, fused: Fused) -> _Look:
    """Expand the query by what was fused first, and score the same candidates again; the look itself where it stays."""
    if not can_expand(query, look.found) or len(look.founds) > 1:
        return look
    (one,), found, view, prf = look.asked, look.found, state.passages.view, state.plan.prf
    if one.terms is None:
        return look
    with state.watch.step("prf"):
        more = expand_with_prf(view, one.terms, fused.ranking, replace(prf, weight=prf.weight * look.share))
        if more is one.terms:
            return look
        scores = view.score_terms(more, found.keys)
        listed = found.bm25.keys
        bm25 = Ranking(*falling(listed, scores_of(found.keys, scores, listed)))
    count, added = len(fused.ranking), list(more.weights)[len(one.terms.weights) :]
    again = replace(found, bm25=bm25, bm25_scores=scores)
    trace = of_terms("prf", count, count, added)
    return _Look((replace(one, terms=more),), (again,), look.learnt, trace, look.leaning)


def _plugins(
    state: PipelineState, query: EncodedQuery, reach: RetrievalScope
) -> tuple[tuple[_Other, ...], tuple[StageWarning, ...]]:
    """Ask the user's own retrievers; what they name that is not there, or out of scope, is left out.

    One that fails is left out with a warning, unless the plan says `raise`.
    """
    found, failed = [], []
    parts, plan, view = state.parts, state.plan, state.passages.view
    words, patience = query.understood.parsed.words, plan.timeouts
    for name, retriever in parts.models.retrievers:
        call = partial(retriever.search, words, reach.depth)
        try:
            with state.watch.step(name):
                given = waited(parts.models.calls, name, patience.limits.retrieve, patience.retry, call)
        except ModelError as error:
            if plan.on_failure == "raise":
                raise
            failed.append(warning_of(name, error))
            continue
        scored = {chunk_key(one.chunk_id): one.score for one in given}
        held = view.within(np.array(sorted(scored), dtype=np.int64), reach.scope).tolist()
        said = retriever.translation(words) if isinstance(retriever, Translating) else ""
        found.append(_Other(name, Ranking.of(held, [scored[key] for key in held]), said))
    return tuple(found), tuple(failed)


def _with_others(fused: Fused, others: Sequence[_Other], fusion: FusionPlan) -> Fused:
    """Fuse the order of the two retrievers with those of plugins, by rank; their scores are on no common scale."""
    made = by_ranks([("fused", fused.ranking), *(one[:2] for one in others)], fusion.rrf_k, below=fused.shares)
    return replace(made, constants={**fused.constants, **made.constants})


ROUNDED = "counted over all documents, rounded to two digits, 10 at the least"


def _counting(state: PipelineState) -> tuple[str, ...]:
    """Return a note that BM25 counts what the viewer may not read, where it does."""
    view = state.passages.view
    return (ROUNDED,) if view.viewer_key and view.statistics(()).rounded else ()


def _traces(
    query: EncodedQuery, look: _Look, fused: Fused, others: Sequence[_Other], counting: Sequence[str]
) -> tuple[StageTrace, ...]:
    understood, found = query.understood, look.found
    queries = tuple(variant.words for variant in understood.queries)
    terms = tuple(understood.parsed.terms.weights)
    given = len(found.bm25) + len(found.vector) + sum(len(one.ranking) for one in others)
    return (
        with_notes(of_terms("parse", 1, 1, terms), understood.parsed.notes),
        StageTrace("expand", 1, len(queries), notes=understood.decisions),
        StageTrace("embed", len(queries), sum(one.vector is not None for one in query.asked)),
        *(() if look.learnt is None else (look.learnt,)),
        StageTrace("bm25", len(query.asked), len(found.bm25), notes=tuple(counting)),
        StageTrace("vector", len(query.asked), len(found.vector), notes=_waiting(found)),
        *(StageTrace(one.name, 1, len(one.ranking), notes=one.decisions) for one in others),
        StageTrace("fuse", given, len(fused.ranking), notes=look.leaning),
        *(() if look.added is None else (look.added,)),
    )


def _waiting(found: Candidates) -> tuple[str, ...]:
    """Return a note of how many candidates have no vector yet; nothing where all have theirs."""
    count = 0 if found.pending is None else int(np.count_nonzero(found.pending))
    return (f"{count} of {len(found.keys)} candidates have no vector yet",) if count else ()


def _pending_warnings(state: PipelineState) -> tuple[StageWarning, ...]:
    """Return a warning of how many passages have no vector yet, where vectors were asked for."""
    view = state.passages.view
    if state.query.mode == "bm25" or not view.pending:
        return ()
    total = view.sizes().chunks
    says = f"{view.pending:,} of {total:,} passages have no vector yet; they are ranked by their words."
    return (StageWarning("vector", WarningCode.PENDING, says),)
