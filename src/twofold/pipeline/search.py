"""The search: understand the question, let both arms look, complete their scores, fuse, fetch, explain."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

import numpy as np

from twofold.domain.errors import InvalidInputError, MismatchError, ModelError
from twofold.domain.filters import EVERYTHING, Filter
from twofold.domain.ports import Scope, View
from twofold.domain.types import EMPTY_RANKING, ChunkKeys, Ranking, Scores, TermQuery, Vector
from twofold.lexical.codes import is_about_a_code
from twofold.lexical.normal import fold
from twofold.pipeline.filtering import FILTER_STAGES, filter_late
from twofold.pipeline.fusion import ALONE, FUSIONS, Candidates, Fused
from twofold.pipeline.parts import Analyser, Parts
from twofold.pipeline.rerank import Reading, Reranked, RerankPlan, check, rerank
from twofold.pipeline.results import FoundPassage, HitTrace, SearchResult
from twofold.query.limits import checked
from twofold.query.operators import all_of
from twofold.query.parse import Analysis, ParsedQuery, parse

MODES = ("hybrid", "bm25", "semantic")
LARGEST_K = 1_000


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """How a search is done. `depth` is how many candidates each arm gives, never fewer than `k` (1 to 1,000).

    `filter_stage` is `pre`, before the arms choose, or `post`, after fusion, which can leave fewer than `k`.
    """

    k: int = 10
    mode: str = "hybrid"
    depth: int = 100
    fusion: str = "convex"
    dense_weight: float = 0.6
    k1: float = 1.2
    b: float = 0.75
    filter: Filter = EVERYTHING
    filter_stage: str = "pre"
    rerank: RerankPlan = field(default_factory=RerankPlan)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question as the arms hear it: the dense one is left out without a vector, the lexical one unless `by_words`."""

    terms: TermQuery
    vector: Vector | None
    scope: Scope
    by_words: bool


class Stopwatch:
    """Measures the steps of one search in milliseconds."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self.steps: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step; a step entered twice adds up."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.steps[name] = self.steps.get(name, 0.0) + (time.perf_counter() - started) * 1e3

    def elapsed(self) -> float:
        """Give the time since the search began."""
        return (time.perf_counter() - self._started) * 1e3

    def total(self) -> Mapping[str, float]:
        """Give all steps, and the time since the search began."""
        return {**self.steps, "total": self.elapsed()}


def search(parts: Parts, question: str, plan: SearchPlan) -> SearchResult:
    """Find the k passages that answer a question best.

    Where the model that embeds questions fails, a hybrid search goes on with words alone and says so in `degraded`; a
    semantic one raises ModelError. Raises InvalidInputError for an empty question, an unknown mode or fusion or a k out
    of range, MismatchError when the collection was made with another embedder. `parts.reranker`, if there is one, reads
    the best again; where it fails the fused order stands, and `degraded` says so.
    """
    _check(plan)
    watch = Stopwatch()
    with watch.step("parse"):
        analyser = parts.analyser
        parsed = parse(question, Analysis(fold, analyser.query, analyser.phrase_terms, analyser.clause_terms))
    mode, vector, degraded = _embed(parts, parsed, plan.mode, watch)
    with parts.store.view() as view:
        terms = replace(parsed.terms, k1=plan.k1, b=plan.b)
        condition = all_of(checked(plan.filter), parsed.filter)
        early = condition if plan.filter_stage == "pre" else EVERYTHING
        scope = Scope(early, parsed.required, parsed.excluded)
        found = _look(view, Asked(terms, vector, scope, mode != "semantic"), max(plan.depth, plan.k), watch)
        with watch.step("fuse"):
            fuse = FUSIONS[plan.fusion] if mode == "hybrid" else ALONE[mode]
            fused = fuse(found, _dense_weight(terms, plan, parts.analyser))
        filtered = None
        if condition != early:
            filtered = filter_late(view, fused.ranking, condition)
            fused = replace(fused, ranking=filtered.ranking)
        ranked = _rerank(parts, Reading(parsed.words, fused.ranking, partial(_texts, view)), plan.rerank, watch)
        with watch.step("fetch"):
            hits = _fetch(view, fused, ranked, terms, plan.k)
    fusion = plan.fusion if mode == "hybrid" else mode
    constants = {**fused.constants, **ranked.constants}
    notes = (*degraded, *ranked.degraded)
    counts = None if filtered is None else filtered.summary
    return SearchResult(question, mode, fusion, hits, constants, watch.total(), notes, ranked.summary, counts)


def _check(plan: SearchPlan) -> None:
    if plan.mode not in MODES:
        raise InvalidInputError(f"There is no mode {plan.mode!r}.", f"Use one of {', '.join(MODES)}.")
    if plan.fusion not in FUSIONS:
        raise InvalidInputError(f"There is no fusion {plan.fusion!r}.", f"Use one of {', '.join(FUSIONS)}.")
    if plan.filter_stage not in FILTER_STAGES:
        raise InvalidInputError(
            f"There is no filter stage {plan.filter_stage!r}.", f"Use one of {', '.join(FILTER_STAGES)}."
        )
    if not 1 <= plan.k <= LARGEST_K:
        raise InvalidInputError(f"k must be from 1 to {LARGEST_K}, not {plan.k}.", "Ask for fewer passages.")
    check(plan.rerank)


def _embed(
    parts: Parts, parsed: ParsedQuery, mode: str, watch: Stopwatch
) -> tuple[str, Vector | None, tuple[str, ...]]:
    """Embed the question's words; say which mode is left, with what vector, and what was given up."""
    if mode == "bm25" or not parsed.words.strip():
        return mode, None, ()
    with parts.store.view() as view:
        held = view.recipe
    if held is not None and held.embedder != parts.embedder.identity:
        raise MismatchError(
            f"The index was made with the embedder {held.embedder.name!r}, not {parts.embedder.identity.name!r}.",
            "Search with `--embedder` as it was made, or run `twofold index reindex`.",
        )
    try:
        with watch.step("embed"):
            return mode, parts.embedder.embed_queries([parsed.words])[0], ()
    except ModelError as error:
        if mode == "semantic":
            raise
        return "bm25", None, (f"dense unavailable: {error.message}",)


def _dense_weight(terms: TermQuery, plan: SearchPlan, analyser: Analyser) -> float:
    """Halve the weight of meaning for a question about a code: `docs/decisions/0061-codes-lean-on-words.md`."""
    return plan.dense_weight * (0.5 if is_about_a_code(terms.weights, analyser.counts) else 1.0)


def _look(view: View, asked: Asked, depth: int, watch: Stopwatch) -> Candidates:
    """Let the arms look, then complete the scores of whatever either of them found."""
    lexical = dense = EMPTY_RANKING
    with watch.step("lexical"):
        if asked.by_words:
            lexical = view.find_terms(asked.terms, depth, asked.scope)
    with watch.step("dense"):
        if asked.vector is not None:
            dense = view.find_vector(asked.vector, depth, asked.scope)
    keys = _united(lexical.keys, dense.keys)
    lexical_scores = dense_scores = np.zeros(len(keys))
    with watch.step("lexical"):
        if asked.by_words:
            lexical_scores = _completed(keys, lexical, partial(view.score_terms, asked.terms))
    with watch.step("dense"):
        if asked.vector is not None:
            dense_scores = _completed(keys, dense, partial(view.score_vector, asked.vector))
    return Candidates(lexical, dense, keys, lexical_scores, dense_scores)


def _united(first: ChunkKeys, second: ChunkKeys) -> ChunkKeys:
    """Give the keys of both, rising; `numpy.union1d` would load numpy's masked arrays, 10 ms in a cold process."""
    rising = np.sort(np.concatenate((first, second)))
    new = np.ones(len(rising), dtype=np.bool_)
    new[1:] = rising[1:] != rising[:-1]
    return rising[new]


def _completed(keys: ChunkKeys, listed: Ranking, score: Callable[[ChunkKeys], Scores]) -> Scores:
    """Take the true scores that an arm has given already, and ask it for those it has not."""
    scores = np.empty(len(keys), dtype=np.float64)
    missing = np.ones(len(keys), dtype=np.bool_)
    places = keys.searchsorted(listed.keys)
    scores[places] = listed.scores
    missing[places] = False
    scores[missing] = score(keys[missing])
    return scores


def _rerank(parts: Parts, reading: Reading, plan: RerankPlan, watch: Stopwatch) -> Reranked:
    if parts.reranker is None:
        return Reranked(reading.fused)
    with watch.step("rerank"):
        return rerank(parts.reranker, reading, plan, watch.elapsed)


def _texts(view: View, keys: Sequence[int]) -> Sequence[str]:
    return [chunk.indexed_text for chunk in view.chunks(keys)]


def _fetch(view: View, fused: Fused, ranked: Reranked, terms: TermQuery, k: int) -> tuple[FoundPassage, ...]:
    """Fetch the k best passages and say of each where its score came from."""
    hits = list(islice(ranked.ranking, k))
    keys = [hit.key for hit in hits]
    chunks = view.chunks(keys)
    infos = view.describe(list({chunk.document for chunk in chunks}))
    return tuple(
        FoundPassage(
            rank=rank,
            score=hit.score,
            source=infos[chunk.document].source,
            title=infos[chunk.document].title,
            document=chunk.document,
            chunk_id=chunk.id,
            page=chunk.page,
            place=chunk.place,
            heading=chunk.heading,
            start=chunk.start,
            end=chunk.end,
            text=chunk.text,
            trace=trace,
        )
        for rank, (hit, chunk, trace) in enumerate(
            zip(hits, chunks, _traces(view, fused, ranked, terms, keys), strict=True), start=1
        )
    )


def _traces(view: View, fused: Fused, ranked: Reranked, terms: TermQuery, keys: Sequence[int]) -> Sequence[HitTrace]:
    silent = [None] * len(keys)
    lexical = silent if fused.lexical is None else fused.lexical.traces(keys)
    dense = silent if fused.dense is None else fused.dense.traces(keys)
    parts = [() if fused.lexical is None else view.explain_terms(terms, key) for key in keys]
    reread = [ranked.traces.get(key) for key in keys]
    return [HitTrace(*made) for made in zip(lexical, dense, parts, reread, strict=True)]
