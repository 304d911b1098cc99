"""Looking: every wording of a question asked of both retrievers, and the scores of whatever either found completed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.ports import Scope, Snapshot, Translating
from twofold.domain.types import EMPTY_RANKING, ChunkKeys, Ranking, Scores, TermCounts, TermQuery, chunk_key
from twofold.domain.warning import StageWarning, warning_of
from twofold.ranking.fusion import Candidates, Fused, FusionPlan, best_of, by_ranks, fuse, union
from twofold.ranking.prf import Feedback, PrfParameters, expanded, prf_terms, relevance_model, shares
from twofold.search.components import SearchComponents
from twofold.search.plan import SearchPlan
from twofold.search.query import EncodedQuery, QueryVariant
from twofold.search.result import StageTrace, of_terms
from twofold.search.state import Stopwatch
from twofold.search.timeouts import Deadline, waited
from twofold.text.analyzer import may_expand
from twofold.text.bm25 import inverse_document_frequency, length_norm, saturation


@dataclass(frozen=True, slots=True)
class RetrievalScope:
    """Where the retrievers look, how many candidates each gives, and by when they must have looked."""

    scope: Scope
    depth: int
    deadline: Deadline = field(default_factory=lambda: Deadline("retrieval", 0.0))


def retrieve(view: Snapshot, asked: Sequence[QueryVariant], reach: RetrievalScope, watch: Stopwatch) -> Candidates:
    """Let the retrievers look; of several wordings a passage has its best score in each retriever.

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
        vector = _best(by_meaning, reach.depth)
    reach.deadline.check()
    keys = union((bm25.keys, vector.keys))
    with watch.step("bm25"):
        bm25_scores, queries = _all_completed(
            keys, by_words, [None if one.terms is None else partial(view.score_terms, one.terms) for one in asked]
        )
    with watch.step("vector"):
        vector_scores, _ = _all_completed(
            keys, by_meaning, [None if one.vector is None else partial(view.score_vector, one.vector) for one in asked]
        )
    return Candidates(bm25, vector, keys, bm25_scores, vector_scores, queries)


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
    """Return each key its best score over the wordings, and which wording that is of; the first of equals."""
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
    places = np.minimum(keys.searchsorted(listed.keys), max(len(keys) - 1, 0))
    known = keys[places] == listed.keys if len(keys) else np.zeros(0, dtype=np.bool_)
    scores = np.empty(len(keys), dtype=np.float64)
    missing = np.ones(len(keys), dtype=np.bool_)
    scores[places[known]] = listed.scores[known]
    missing[places[known]] = False
    scores[missing] = score(keys[missing])
    return scores


def expand_with_prf(view: Snapshot, terms: TermQuery, first: Ranking, prf: PrfParameters) -> TermQuery:
    """Add to a question the strongest terms of the passages that stand first in an order.

    Returns the question itself where the likeness leaves everything out or nothing stands in the order.
    """
    counting = shares(first.scores, prf)
    if not len(counting):
        return terms
    counted = view.term_counts(first.keys[: len(counting)].tolist())
    plain = [{term: often for term, often in one.counts.items() if may_expand(term)} for one in counted]
    distinct = list(dict.fromkeys(term for some in plain for term in some))
    known = terms.statistics or view.statistics(distinct)
    idfs = {term: inverse_document_frequency(known.chunks, known.frequencies.get(term, 0)) for term in distinct}
    average = known.average_length
    impacts = [
        _impacts(TermCounts(some, one.length), idfs, terms, average) for some, one in zip(plain, counted, strict=True)
    ]
    return prf_terms(terms, impacts, counting, prf)


def _impacts(counted: TermCounts, idfs: Mapping[str, float], asked: TermQuery, average: float) -> Mapping[str, float]:
    """Return what each of a passage's terms adds to its BM25 score at weight 1."""
    norm = length_norm(counted.length, average, asked.k1, asked.b)
    return {term: idfs[term] * saturation(often, norm, asked.k1) for term, often in counted.counts.items()}


PASSAGES = 10
"""How many passages are learnt from."""


def with_dense_terms(
    view: Snapshot, asked: Sequence[QueryVariant], reach: RetrievalScope, terms: int
) -> tuple[tuple[QueryVariant, ...], StageTrace | None]:
    """Add at most so many terms to the first wording; as it was, and no trace, where nothing is to be added.

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
"""What is left of the weight of meaning for a question about a code: `docs/decisions/0061-codes-lean-on-words.md`."""


@dataclass(frozen=True, slots=True, eq=False)
class FusedCandidates:
    """One order of all that was found.

    `found` is what the retrievers gave for the question as it was asked. `asked` are the wordings in the order that
    `found.queries` counts, the first of them grown where `prf` acted, for which scores are explained.
    """

    fused: Fused
    found: Candidates
    asked: tuple[QueryVariant, ...]
    stages: tuple[StageTrace, ...]
    warnings: tuple[StageWarning, ...] = ()

    def terms_of(self, key: int) -> tuple[int, TermQuery | None]:
        """Return which wording a passage's BM25 score is of, and its terms; none for what only a retriever found."""
        found = self.found
        place = int(found.keys.searchsorted(key))
        if place == len(found.keys) or found.keys[place] != key:
            return 0, None
        number = 0 if found.queries is None else int(found.queries[place])
        return number, self.asked[number].terms if self.asked else None


class _Other(NamedTuple):
    """What another retriever found, and how it put the question, where it translates it."""

    name: str
    ranking: Ranking
    said: str = ""

    @property
    def decisions(self) -> tuple[str, ...]:
        return (self.said,) if self.said else ()


def retrieve_and_fuse(  # what a look takes
    parts: SearchComponents,
    view: Snapshot,
    heard: EncodedQuery,
    plan: SearchPlan,
    reach: RetrievalScope,
    watch: Stopwatch,
) -> FusedCandidates:
    """Retrieve and fuse, several queries by best score in each retriever or by rank."""
    fusion = leaning_on_words(plan.fusion) if leans_on_words(heard, plan) else plan.fusion
    asked = heard.asked or (QueryVariant(None, None),)
    added: StageTrace | None = None
    with watch.step("prf_dense"):
        asked, learnt = with_dense_terms(view, asked, reach, plan.dense_terms if heard.mode == "hybrid" else 0)
    if plan.query_expansion.merge == "rrf" and len(asked) > 1:
        founds = [retrieve(view, (one,), reach, watch) for one in asked]
        with watch.step("fuse"):
            orders = [fuse(each, fusion, heard.mode).ranking for each in founds]
            named = [(f"query {number}", order) for number, order in enumerate(orders, start=1)]
            fused = by_ranks(named, fusion.rrf_k)
        found = founds[0]
    else:
        found = retrieve(view, asked, reach, watch)
        with watch.step("fuse"):
            fused = fuse(found, fusion, heard.mode)
        if can_expand(heard, found):
            with watch.step("prf"):
                asked, fused, added = _grown(
                    view, FusedCandidates(fused, found, asked, ()), plan, lambda again: fuse(again, fusion, heard.mode)
                )
    others, failed = _others(parts, view, heard, plan, reach, watch)
    if others:
        fused = _with_others(fused, others, fusion)
    stages = _stages(heard, found, fused, others, learnt)
    if leans_on_words(heard, plan):
        said = f"the question is a code: vector_weight {plan.fusion.vector_weight:g} × {CODE_SHARE:g}"
        stages = (*stages[:-1], replace(stages[-1], notes=(said,)))
    return FusedCandidates(fused, found, asked, stages if added is None else (*stages, added), failed)


def leans_on_words(heard: EncodedQuery, plan: SearchPlan) -> bool:
    """Return whether the weight of meaning is lowered for a code: in `adaptive` alone, which chooses its weights."""
    return heard.about_a_code and heard.mode == "hybrid" and plan.fusion.method == "adaptive"


def leaning_on_words(fusion: FusionPlan) -> FusionPlan:
    """Return a fusion with half the weight of meaning, the same whatever else was found."""
    return replace(fusion, method="convex", vector_weight=fusion.vector_weight * CODE_SHARE)


def can_expand(heard: EncodedQuery, found: Candidates) -> bool:
    """Return whether PRF may expand a question: one query, hits of both retrievers, and not about a code.

    One of more than 500 terms has enough of them.
    """
    if len(heard.asked) != 1 or heard.about_a_code or len(heard.understood.parsed.terms.weights) > MAX_TERMS:
        return False
    return len(found.bm25) > 0 and len(found.vector) > 0


def _grown(
    view: Snapshot, first: FusedCandidates, plan: SearchPlan, fuse: Callable[[Candidates], Fused]
) -> tuple[tuple[QueryVariant, ...], Fused, StageTrace | None]:
    """Grow the question by what was fused first, score the same candidates again, and fuse them again."""
    (one,) = first.asked
    if one.terms is None:
        return first.asked, first.fused, None
    more = expand_with_prf(view, one.terms, first.fused.ranking, plan.prf)
    if more is one.terms:
        return first.asked, first.fused, None
    scores = view.score_terms(more, first.found.keys)
    listed = first.found.bm25.keys
    bm25 = Ranking.of(listed, scores[first.found.keys.searchsorted(listed)])
    fused = fuse(replace(first.found, bm25=bm25, bm25_scores=scores))
    count = len(first.fused.ranking)
    added = list(more.weights)[len(one.terms.weights) :]
    return (replace(one, terms=more),), fused, of_terms("prf", count, count, added)


def _others(  # what a look takes
    parts: SearchComponents,
    view: Snapshot,
    heard: EncodedQuery,
    plan: SearchPlan,
    reach: RetrievalScope,
    watch: Stopwatch,
) -> tuple[tuple[_Other, ...], tuple[StageWarning, ...]]:
    """Ask the user's own retrievers; what they name that is not there, or out of scope, is left out.

    One that fails is gone without and told of, where the plan does not say `raise`.
    """
    found, failed = [], []
    words, patience = heard.understood.parsed.words, plan.timeouts
    for name, retriever in parts.aids.retrievers:
        call = partial(retriever.search, words, reach.depth)
        try:
            with watch.step(name):
                given = waited(parts.aids.calls, name, patience.limits.retrieve, patience.retry, call)
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


def _stages(
    heard: EncodedQuery,
    found: Candidates,
    fused: Fused,
    others: Sequence[_Other],
    learnt: StageTrace | None,
) -> tuple[StageTrace, ...]:
    understood = heard.understood
    queries = tuple(variant.words for variant in understood.queries)
    terms = tuple(understood.parsed.terms.weights)
    given = len(found.bm25) + len(found.vector) + sum(len(one.ranking) for one in others)
    return (
        of_terms("parse", 1, 1, terms),
        StageTrace("expand", 1, len(queries), notes=understood.decisions),
        StageTrace("embed", len(queries), sum(one.vector is not None for one in heard.asked)),
        *(() if learnt is None else (learnt,)),
        StageTrace("bm25", len(heard.asked), len(found.bm25)),
        StageTrace("vector", len(heard.asked), len(found.vector)),
        *(StageTrace(one.name, 1, len(one.ranking), notes=one.decisions) for one in others),
        StageTrace("fuse", given, len(fused.ranking)),
    )
