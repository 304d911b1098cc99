"""Several indexes in one search, for Python programs: what they find becomes one answer, and a broken one is named.

`search.multi_index_merge` says how: `global` asks both retrievers over all of them before anything is fused, as one
index of all their passages would; `rrf` searches each by itself, with its own models and settings, and joins the
answers by rank; `rerank` does too, and lets a reranker read them all.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import numpy as np

from twofold.answer.types import Answer
from twofold.answering import Answering
from twofold.config.load import Settings, merge
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, TwofoldError, check_several
from twofold.domain.ports import Embedder, EmbedderIdentity, Reranker, RerankerIdentity
from twofold.domain.types import Ranking
from twofold.domain.warning import StageWarning, WarningCode, is_degraded, warning_of
from twofold.factory.places import short_name
from twofold.index_reader import Collection
from twofold.ranking.confidence import confidence
from twofold.ranking.fusion import RetrieverTrace, rank_values
from twofold.search.components import SearchComponents
from twofold.search.engine import (
    DEFAULT_OPTIONS,
    SearchEngine,
    SearchOptions,
    at_cursor,
    beyond,
    check_no_cursor,
    check_options,
    check_questions,
)
from twofold.search.paging import Place, page
from twofold.search.pipeline import search_many
from twofold.search.plan import SearchPlan
from twofold.search.query import check_embedder
from twofold.search.rerank import RerankInput
from twofold.search.reranker_chain import rerank_with_fallback, reranker_chain_for
from twofold.search.result import Counts, Hit, HitTrace, SearchResult, StageTrace, Step, joined_facets
from twofold.search.state import PipelineState, Stopwatch
from twofold.search.why_not import WhyNot, why_not
from twofold.stores import federated
from twofold.stores.federated_ids import check_names, federated_id
from twofold.stores.sessions import Sessions, sessions_folder


@dataclass(frozen=True, slots=True)
class SubResult:
    """What one collection answered by itself."""

    name: str
    result: SearchResult


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """All passages in one order, each by its place in `hits`."""

    hits: tuple[Hit, ...]
    ranking: Ranking


def joined_by_rank(
    parts: SearchComponents, answers: Sequence[SubResult], plan: SearchPlan, watch: Stopwatch
) -> SearchResult:
    """Return the k best of all by reciprocal rank; its own retrievers stand in the trace without weight.

    Lifting and reranking that a collection did within its own list is in its order, and in no step of the trace.
    """
    with watch.step("fuse"):
        pool = _pooled(answers, plan)
        state = PipelineState(parts, plan, ranking=pool.ranking, constants={"k": float(plan.fusion.rrf_k)})
    return _merged_result(answers, pool, state, plan, watch)


def joined_by_reranker(
    parts: SearchComponents, question: str, answers: Sequence[SubResult], plan: SearchPlan, watch: Stopwatch
) -> SearchResult:
    """Return the k best of all by a reranker, where they are more than it reads; else by rank.

    A reranker that fails leaves them by rank, with a warning. Raises InvalidInputError without a reranker.
    """
    check_reranker(parts)
    with watch.step("fuse"):
        pool = _pooled(answers, plan)
    state = PipelineState(parts, plan, ranking=pool.ranking, constants={"k": float(plan.fusion.rrf_k)})
    if len(pool.ranking) > plan.rerank.candidates:
        readers = reranker_chain_for(parts, plan)
        reading = RerankInput(question, pool.ranking, lambda keys: [_read_of(pool.hits[key]) for key in keys])
        with watch.step("rerank"):
            state = rerank_with_fallback(state, readers, reading, replace(plan.rerank, weight=1.0), watch.elapsed)
    return _merged_result(answers, pool, state, plan, watch)


def check_reranker(parts: SearchComponents) -> None:
    """Refuse to merge by a reranker where none is set. Raises InvalidInputError."""
    if not parts.models.rerankers:
        raise InvalidInputError(
            "There is no reranker to join several indexes by.",
            "Name one: `rerank.model`; or `search.multi_index_merge=rrf`.",
        )


def _pooled(answers: Sequence[SubResult], plan: SearchPlan) -> _Pool:
    """Put all passages in one order by reciprocal rank, ties to the collection that was named first."""
    hits: list[Hit] = []
    values = []
    for name, result in ((one.name, one.result) for one in answers):
        listed = Ranking(np.arange(len(result.hits)), np.zeros(len(result.hits)))
        ranked = rank_values(listed, plan.fusion.rrf_k).scores
        values.append(ranked)
        for hit, value in zip(result.hits, ranked.tolist(), strict=True):
            own = tuple(replace(retriever, weight=0.0) for retriever in hit.trace.retrievers)
            retriever = RetrieverTrace(name, hit.rank, hit.score, value, 1.0)
            trace = replace(hit.trace, retrievers=(retriever, *own), steps=())
            hits.append(replace(hit, collection=name, trace=trace))
    scores = np.concatenate(values) if values else np.empty(0)
    return _Pool(tuple(hits), Ranking.of(np.arange(len(hits)), scores))


def _read_of(hit: Hit) -> str:
    """Return what a reranker reads of a passage."""
    return "\n".join(filter(None, (" > ".join(hit.heading), hit.text)))


def _merged_result(
    answers: Sequence[SubResult], pool: _Pool, state: PipelineState, plan: SearchPlan, watch: Stopwatch
) -> SearchResult:
    best = list(state.ranking)[: plan.k]
    hits = tuple(
        replace(pool.hits[key], rank=rank, score=score, trace=_stepped(pool.hits[key].trace, state.steps, key))
        for rank, (key, score) in enumerate(best, start=1)
    )
    first = answers[0].result
    relevance = [hit.trace.rerank.relevance for hit in hits if hit.trace.rerank is not None]
    warnings = (*_warnings(answers), *state.warnings)
    return SearchResult(
        query=first.query,
        mode=first.mode,
        fusion="rrf",
        hits=hits,
        constants=state.constants,
        timings_ms={**{one.name: one.result.timings_ms["total"] for one in answers}, **watch.total()},
        degraded=is_degraded(warnings),
        warnings=warnings,
        rerank=state.rerank,
        stages=_steps(answers, len(pool.hits), state, watch),
        counts=Counts(
            sum(one.result.counts.retrieved for one in answers),
            sum(one.result.counts.after_filter for one in answers),
            len(hits),
            sum(one.result.counts.total for one in answers),
        ),
        queries=first.queries,
        confidence=confidence([one for one in relevance if one is not None]),
        profile=plan.profile,
        generation=sum(one.result.generation for one in answers),
        facets=joined_facets([one.result.facets for one in answers]),
        extracted=first.extracted,
    )


def _stepped(trace: HitTrace, steps: Mapping[int, tuple[Step, ...]], key: int) -> HitTrace:
    return replace(trace, steps=steps.get(key, ()))


def _warnings(answers: Sequence[SubResult]) -> tuple[StageWarning, ...]:
    return tuple(replace(warning, collection=one.name) for one in answers for warning in one.result.warnings)


def _steps(answers: Sequence[SubResult], pooled: int, state: PipelineState, watch: Stopwatch) -> tuple[StageTrace, ...]:
    searched = tuple(
        StageTrace(one.name, one.result.counts.retrieved, len(one.result.hits), one.result.timings_ms["total"])
        for one in answers
    )
    joined = (StageTrace("fuse", pooled, pooled), *state.stages)
    return (*searched, *(replace(one, milliseconds=watch.steps.get(one.name, 0.0)) for one in joined))


Where = Collection | str | Path
Indexes = Mapping[str, Where] | Sequence[Where]
Given = TypeVar("Given")
ACROSS = ("global", "rrf", "rerank")
NOT_ACROSS = "a retriever of the user's own is not asked across indexes; `search.multi_index_merge: rrf` asks it."


@dataclass(frozen=True, slots=True)
class UnavailableIndex:
    """An index that is left out, and why."""

    name: str
    error: TwofoldError

    @property
    def warning(self) -> StageWarning:
        """The warning of every result without it."""
        return replace(warning_of("index", self.error), collection=self.name)


@dataclass(frozen=True, slots=True, eq=False)
class _Member:
    """One index in one search."""

    name: str
    parts: SearchComponents
    plan: SearchPlan


class MultiIndex(Answering):
    """Several indexes, searched together, and asked together.

    Each is an `Index`, which stays its owner's, or a name or a path, which is opened here and closed with this; one
    that cannot be opened is left out and named by each answer. A mapping gives them names of your own. `lost` are
    further ones, which could not be opened before.

    `ask` and `ask_stream` answer as an `Index` does, with the first index's settings and language model; the
    `collection` of each source and citation says which index it is from. Conversations are kept with these indexes
    together.

    >>> from twofold import Index, MultiIndex
    >>> from twofold.models.embedders.hashing import HashingEmbedder
    >>> made = [Index(":memory:", embedder=HashingEmbedder()) for _ in range(2)]
    >>> _ = made[0].add("The cat sat.", source="cat.txt"), made[1].add("The dog ran.", source="dog.txt")
    >>> with MultiIndex({"cats": made[0], "dogs": made[1]}) as several:
    ...     [(hit.collection, hit.source) for hit in several.search("dog ran").hits][:1]
    [('dogs', 'dog.txt')]

    Raises InvalidInputError for no index, and for names that are equal; the last error where none opens.
    """

    def __init__(self, indexes: Indexes, lost: Sequence[UnavailableIndex] = ()) -> None:
        named = _named(indexes)
        self._opened: dict[str, SearchEngine] = {}
        self._lost = list(lost)
        folders: list[Path | None] = []
        settings: list[Settings] = []
        with ExitStack() as stack:
            for name, where in named.items():
                try:
                    index = where if isinstance(where, Collection) else stack.enter_context(Collection(where))
                except TwofoldError as error:
                    self._lost.append(UnavailableIndex(name, error))
                else:
                    self._opened[name] = index.searcher
                    folders.append(index.folder)
                    settings.append(index.settings)
            if not self._opened:
                raise self._lost[-1].error
            self._stack = stack.pop_all()
        self._passages = self
        self._settings = settings[0]
        kept = [one for one in folders if one is not None]
        whole = len(kept) == len(folders)
        self._sessions = Sessions(sessions_folder(self.settings.home, *kept) if whole else None)

    @property
    def settings(self) -> Settings:
        """The settings of the first index, which hold for `global`, for joining and for answers."""
        return self._settings

    @property
    def lost(self) -> Sequence[UnavailableIndex]:
        """Those that could not be opened."""
        return tuple(self._lost)

    def search(self, query: str, options: SearchOptions = DEFAULT_OPTIONS, across: str | None = None) -> SearchResult:
        """Find the k passages of all that answer a question best; each hit's `collection` says where it is from.

        `across` is `global`, `rrf` or `rerank`; None is as `search.multi_index_merge` says for the first index, whose
        settings hold for `global` and for joining. Where `search.on_failure` is `raise`, an index that is lost is an
        error. No answer is remembered. Raises as `Index.search` does; MismatchError where `global` finds indexes of
        different embedders or analyzers, InvalidInputError for `rerank` without a reranker; the last error where all
        are lost. Where only the setting says `rerank` and reranking is turned off, indexes are joined by rank.
        """
        check_options(options)
        if not options.results.cursor:
            return self.search_many([query], options, across)[0]
        options, digest, began = at_cursor(query, options)
        plan, plain = self.parts_for(options)[1], replace(options.results, cursor="")
        (found,) = self._found([query], replace(options, results=plain, offset=0, k=plan.k), across)
        paged = page(found, began, Place(options.offset, plan.reach, found.generation), digest)
        return paged.with_warnings(self.log(paged))

    def search_many(
        self, queries: Sequence[str], options: SearchOptions = DEFAULT_OPTIONS, across: str | None = None
    ) -> Sequence[SearchResult]:
        """Search for many questions: all embedded at once, each ranked for itself."""
        return [one.with_warnings(self.log(one)) for one in self._found(queries, options, across)]

    def find(self, query: str, options: SearchOptions = DEFAULT_OPTIONS) -> SearchResult:
        """Search for one question; the caller keeps it in the query log with the answer that it makes of it."""
        return self._found([query], options, None)[0]

    def log(self, found: SearchResult, answer: Answer | None = None) -> tuple[StageWarning, ...]:
        """Keep a question in the query log of the first index; see `SearchEngine.log`."""
        return next(iter(self._opened.values())).log(found, answer)

    def why_not(self, query: str, document: str, options: SearchOptions = DEFAULT_OPTIONS) -> WhyNot:
        """Return which stage of a `global` search lost a document, named by its source or as `collection/id`."""
        check_questions([query])
        members, _, _ = self._participants(options, "global")
        return _as_one(members, lambda parts, plan: why_not(parts, query, document, plan))[0]

    def parts_for(self, options: SearchOptions) -> tuple[SearchComponents, SearchPlan]:
        """Return the parts and the plan of the first index that takes part: what answers are made with."""
        members, _, _ = self._participants(options, None)
        return members[0].parts, members[0].plan

    def record_stages(self, timings_ms: Mapping[str, float]) -> None:
        """Add what making an answer took to the figures of each index."""
        for searcher in self._opened.values():
            searcher.record_stages(timings_ms)

    def _found(self, queries: Sequence[str], options: SearchOptions, across: str | None) -> Sequence[SearchResult]:
        check_questions(queries)
        check_no_cursor(options)
        members, lost, how = self._participants(options, across)
        if how != "global":
            _check_results(options)
        if how == "global":
            found, more = _as_one(members, lambda parts, plan: search_many(parts, queries, plan, options.history))
            found = [_with_collections(one, members, (*lost, *more)) for one in found]
        else:
            found = _each(members, lost, queries, options, how)
        return [beyond(one, options.offset) for one in found]

    def close(self) -> None:
        """Close what was opened here. Calling it twice does nothing more."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _participants(
        self, options: SearchOptions, across: str | None
    ) -> tuple[Sequence[_Member], tuple[UnavailableIndex, ...], str]:
        """Return what takes part: each index's own parts and plan, models that are the same shared."""
        how = across or merge(self._settings, options.overrides).search.multi_index_merge
        if how not in ACROSS:
            raise InvalidInputError(f"Indexes cannot be joined by {how!r}.", f"Use one of {', '.join(ACROSS)}.")
        members, lost = [], list(self._lost)
        embedders: dict[EmbedderIdentity, Embedder] = {}
        rerankers: dict[RerankerIdentity, Reranker] = {}
        for name, searcher in self._opened.items():
            try:
                parts, plan = searcher.parts_for(options)
                _check_own_embedder(parts, plan)
            except InvalidInputError:
                raise
            except TwofoldError as error:
                lost.append(UnavailableIndex(name, error))
                continue
            embedder = embedders.setdefault(parts.embedder.identity, parts.embedder)
            readers = tuple(rerankers.setdefault(one.identity, one) for one in parts.models.rerankers)
            parts = replace(parts, embedder=embedder, models=replace(parts.models, rerankers=readers))
            members.append(_Member(name, parts, plan))
        _refuse_if_all_are(lost, members)
        if across is None and how == "rerank" and not members[0].parts.models.rerankers:
            how = "rrf"  # a setting asks for a reranker that is turned off; a caller who asks for it is refused
        return members, tuple(lost), how


def search_multi(
    indexes: Indexes, query: str, options: SearchOptions = DEFAULT_OPTIONS, across: str | None = None
) -> SearchResult:
    """Search several indexes at once, by their names, paths, or open; see `MultiIndex.search`."""
    with MultiIndex(indexes) as several:
        return several.search(query, options, across)


def _named(indexes: Indexes) -> Mapping[str, Where]:
    """Return each a name: its own, with a number where another one has it."""
    if not indexes:
        raise InvalidInputError("There is no index to search.", "Name one or more.")
    if isinstance(indexes, Mapping):
        check_names(list(indexes))
        return indexes
    check_several("Several indexes", indexes, "Give a list of names, paths or indexes.")
    named: dict[str, Where] = {}
    for where in indexes:
        own = where.info().name if isinstance(where, Collection) else short_name(where)
        if where in named.values():
            raise InvalidInputError(f"The index {own!r} is named twice.", "Name each once.")
        number = 1 + sum(name.partition(" #")[0] == own for name in named)
        named[own if number == 1 else f"{own} #{number}"] = where
    check_names(list(named))
    return named


def _check_own_embedder(parts: SearchComponents, plan: SearchPlan) -> None:
    """Refuse an index that is opened with another embedder than it was made with."""
    if plan.mode == "bm25":
        return
    with parts.store.view() as view:
        held = view.fingerprint
    if held is not None:
        check_embedder(held.embedder, parts.embedder.identity)


def _check_results(options: SearchOptions) -> None:
    """Refuse what has no meaning for answers that are joined. Raises InvalidInputError."""
    if options.results.sort or options.results.mmr is not None:
        hint = "Search them as one: `search.multi_index_merge=global`."
        raise InvalidInputError("Answers of several indexes that are joined by rank cannot be sorted.", hint)


def _refuse_if_all_are(lost: Sequence[UnavailableIndex], members: Sequence[_Member]) -> None:
    """Raise the last error where nothing is left, or where nothing is to be done without."""
    if lost and (not members or members[0].plan.on_failure == "raise"):
        raise lost[-1].error


def _as_one(
    members: Sequence[_Member], ask: Callable[[SearchComponents, SearchPlan], Given]
) -> tuple[Given, tuple[UnavailableIndex, ...]]:
    """Ask indexes as if they were one, again without each that turns out to be broken."""
    lost: list[UnavailableIndex] = []
    left = list(members)
    while True:
        first = left[0]
        store = federated.FederatedStore(
            [federated.Collection(one.name, one.parts.store) for one in left], by_meaning=first.plan.mode != "bm25"
        )
        # Retrievers name passages of one collection by the ids that they have there.
        parts = replace(first.parts, store=store, models=replace(first.parts.models, retrievers=()))
        try:
            return ask(parts, first.plan), tuple(lost)
        except federated.LostCollectionError as error:
            lost.append(UnavailableIndex(error.name, error.error))
            left = [one for one in left if one.name != error.name]
            _refuse_if_all_are(lost, left)


def _with_collections(
    found: SearchResult, members: Sequence[_Member], lost: Sequence[UnavailableIndex]
) -> SearchResult:
    """Return a result whose passages name their index and have its ids, with a warning for each index left out."""
    hits = tuple(_as_member_hit(hit, members) for hit in found.hits)
    unasked = tuple(
        StageWarning(name, WarningCode.SKIPPED, NOT_ACROSS, one.name)
        for one in members
        for name, _ in one.parts.models.retrievers
    )
    return replace(found, hits=hits).with_warnings((*(one.warning for one in lost), *unasked, *found.warnings))


def _as_member_hit(hit: Hit, members: Sequence[_Member]) -> Hit:
    name = next(one.name for one in members if hit.document.startswith(federated_id(one.name, "")))
    before = len(federated_id(name, ""))
    return replace(hit, collection=name, document=hit.document[before:], chunk_id=hit.chunk_id[before:])


def _each(
    members: Sequence[_Member],
    lost: tuple[UnavailableIndex, ...],
    queries: Sequence[str],
    options: SearchOptions,
    how: str,
) -> Sequence[SearchResult]:
    """Ask each index by itself, and join the answers."""
    if how == "rerank":
        check_reranker(members[0].parts)
    watch = Stopwatch()
    answers: list[tuple[_Member, Sequence[SearchResult]]] = []
    for one in members:
        parts, plan = one.parts, one.plan
        if how == "rerank":
            parts = replace(parts, models=replace(parts.models, rerankers=()))
            plan = replace(plan, k=max(plan.k, plan.rerank.candidates))
        try:
            answers.append((one, search_many(parts, queries, plan, options.history)))
        except InvalidInputError:
            raise
        except TwofoldError as error:
            lost = (*lost, UnavailableIndex(one.name, error))
    _refuse_if_all_are(lost, [one for one, _ in answers])
    first = answers[0][0]
    results = []
    for number in range(len(queries)):
        answered = [SubResult(one.name, found[number]) for one, found in answers]
        own = watch.share(len(queries))
        if how == "rerank":
            question = answered[0].result.queries[0]
            joined = joined_by_reranker(first.parts, question, answered, first.plan, own)
        else:
            joined = joined_by_rank(first.parts, answered, first.plan, own)
        results.append(joined.with_warnings((*(one.warning for one in lost), *joined.warnings)))
    return results
