"""Several indexes in one search, for Python programs: what they find becomes one answer, and a broken one is named.

`search.across` says how: `global` asks both arms over all of them before anything is fused, as one index of all their
passages would (checklist 73); `rrf` searches each by itself, with its own models and settings, and joins the answers by
rank; `rerank` does too, and lets a reranker read them all (checklist 55, 74, C22).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from twofold.answer.types import Answer
from twofold.asked import Answering
from twofold.collection import Collection
from twofold.domain.errors import InvalidInputError, TwofoldError
from twofold.domain.ports import Embedder, EmbedderIdentity, Reranker, RerankerIdentity
from twofold.pipeline.joining import Answered, check_reranker, joined_by_rank, joined_by_reranker
from twofold.pipeline.joint import LostCollectionError, check_names, joint_id
from twofold.pipeline.joint_store import Collection as Joined
from twofold.pipeline.joint_store import JointStore
from twofold.pipeline.plan import SearchPlan
from twofold.pipeline.results import FoundPassage, SearchResult
from twofold.pipeline.search import search_many
from twofold.pipeline.search_parts import SearchParts
from twofold.pipeline.standing import Stopwatch
from twofold.pipeline.understanding import check_embedder
from twofold.pipeline.whynot import WhyNot, why_not
from twofold.searcher import AS_SET, Asking, Searcher, beyond, check_question
from twofold.settings import Settings, merge
from twofold.stores.sessions import Sessions, sessions_folder

Where = Collection | str | Path
Indexes = Mapping[str, Where] | Sequence[Where]
Given = TypeVar("Given")
ACROSS = ("global", "rrf", "rerank")


@dataclass(frozen=True, slots=True)
class Lost:
    """An index that is left out, and why."""

    name: str
    error: TwofoldError

    @property
    def note(self) -> str:
        """The line that `degraded` shows."""
        return str(LostCollectionError(self.name, self.error).message)


@dataclass(frozen=True, slots=True, eq=False)
class _Member:
    """One index in one search."""

    name: str
    parts: SearchParts
    plan: SearchPlan


class Several(Answering):
    """Several indexes, searched together, and asked together.

    Each is an `Index`, which stays its owner's, or a name or a path, which is opened here and closed with this; one
    that cannot be opened is left out and named by each answer. A mapping gives them names of your own. `lost` are
    further ones, which could not be opened before.

    `ask` and `ask_stream` answer as an `Index` does, with the first index's settings and language model; the
    `collection` of each source and citation says which index it is from. Conversations are kept with these indexes
    together.

    >>> from twofold import Index, Several
    >>> from twofold.models.hashing import HashingEmbedder
    >>> made = [Index(":memory:", embedder=HashingEmbedder()) for _ in range(2)]
    >>> _ = made[0].add("The cat sat.", source="cat.txt"), made[1].add("The dog ran.", source="dog.txt")
    >>> with Several({"cats": made[0], "dogs": made[1]}) as several:
    ...     [(hit.collection, hit.source) for hit in several.search("dog ran").hits][:1]
    [('dogs', 'dog.txt')]

    Raises InvalidInputError for no index, and for names that cannot be told apart; the last error where none opens.
    """

    def __init__(self, indexes: Indexes, lost: Sequence[Lost] = ()) -> None:
        named = _named(indexes)
        self._opened: dict[str, Searcher] = {}
        self._lost = list(lost)
        folders: list[Path | None] = []
        with ExitStack() as stack:
            for name, where in named.items():
                try:
                    index = where if isinstance(where, Collection) else stack.enter_context(Collection(where))
                except TwofoldError as error:
                    self._lost.append(Lost(name, error))
                else:
                    self._opened[name] = index.searcher
                    folders.append(index.folder)
            if not self._opened:
                raise self._lost[-1].error
            self._stack = stack.pop_all()
        self._passages = self
        kept = [one for one in folders if one is not None]
        whole = len(kept) == len(folders)
        self._sessions = Sessions(sessions_folder(self.settings.home, *kept) if whole else None)

    @property
    def settings(self) -> Settings:
        """The settings of the first index, which hold for `global`, for joining and for answers."""
        return next(iter(self._opened.values())).settings

    @property
    def lost(self) -> Sequence[Lost]:
        """Those that could not be opened."""
        return tuple(self._lost)

    def search(self, query: str, asking: Asking = AS_SET, across: str | None = None) -> SearchResult:
        """Find the k passages of all that answer a question best; each hit's `collection` says where it is from.

        `across` is `global`, `rrf` or `rerank`; None is as `search.across` says for the first index, whose settings
        hold for `global` and for joining. Where `search.on_failure` is `raise`, an index that is lost is an error.
        No answer is remembered. Raises as `Index.search` does; MismatchError where `global` finds indexes of different
        embedders or analysers, InvalidInputError for `rerank` without a reranker; the last error where all are lost.
        Where only the setting says `rerank` and reranking is turned off, indexes are joined by rank.
        """
        return self.search_many([query], asking, across)[0]

    def search_many(
        self, queries: Sequence[str], asking: Asking = AS_SET, across: str | None = None
    ) -> Sequence[SearchResult]:
        """Search for many questions: all embedded at once, each ranked for itself."""
        return [replace(one, degraded=self.log(one)) for one in self._found(queries, asking, across)]

    def find(self, query: str, asking: Asking = AS_SET) -> SearchResult:
        """Search for one question; the caller keeps it in the query log with the answer that it makes of it."""
        return self._found([query], asking, None)[0]

    def log(self, found: SearchResult, answer: Answer | None = None) -> tuple[str, ...]:
        """Keep a question in the query log of the first index; see `Searcher.log`."""
        return next(iter(self._opened.values())).log(found, answer)

    def why_not(self, query: str, document: str, asking: Asking = AS_SET) -> WhyNot:
        """Say which stage of a `global` search lost a document, named by its source or as `collection/id`."""
        members, _, _ = self._asked(asking, "global")
        return _as_one(members, lambda parts, plan: why_not(parts, query, document, plan))[0]

    def parts_for(self, asking: Asking) -> tuple[SearchParts, SearchPlan]:
        """Return the parts and the plan of the first index that takes part: what answers are made with."""
        members, _, _ = self._asked(asking, None)
        return members[0].parts, members[0].plan

    def record_stages(self, timings_ms: Mapping[str, float]) -> None:
        """Add what making an answer took to the figures of each index."""
        for searcher in self._opened.values():
            searcher.record_stages(timings_ms)

    def _found(self, queries: Sequence[str], asking: Asking, across: str | None) -> Sequence[SearchResult]:
        for query in queries:
            check_question(query)
        members, lost, how = self._asked(asking, across)
        if how == "global":
            found, more = _as_one(members, lambda parts, plan: search_many(parts, queries, plan, asking.history))
            found = [_told(one, members, (*lost, *more)) for one in found]
        else:
            found = _each(members, lost, queries, asking, how)
        return [beyond(one, asking.offset) for one in found]

    def close(self) -> None:
        """Close what was opened here. Calling it twice does nothing more."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _asked(self, asking: Asking, across: str | None) -> tuple[Sequence[_Member], tuple[Lost, ...], str]:
        """Give what takes part: each index's own parts and plan, models that are the same shared."""
        how = across or merge(next(iter(self._opened.values())).settings, asking.overrides).search.across
        if how not in ACROSS:
            raise InvalidInputError(f"Indexes cannot be joined by {how!r}.", f"Use one of {', '.join(ACROSS)}.")
        members, lost = [], list(self._lost)
        embedders: dict[EmbedderIdentity, Embedder] = {}
        rerankers: dict[RerankerIdentity, Reranker] = {}
        for name, searcher in self._opened.items():
            try:
                parts, plan = searcher.parts_for(asking)
                _check_own(parts, plan)
            except InvalidInputError:
                raise
            except TwofoldError as error:
                lost.append(Lost(name, error))
                continue
            embedder = embedders.setdefault(parts.embedder.identity, parts.embedder)
            readers = tuple(rerankers.setdefault(one.identity, one) for one in parts.aids.rerankers)
            parts = replace(parts, embedder=embedder, aids=replace(parts.aids, rerankers=readers))
            members.append(_Member(name, parts, plan))
        _refuse_if_all_are(lost, members)
        if across is None and how == "rerank" and not members[0].parts.aids.rerankers:
            how = "rrf"  # a setting asks for a reranker that is turned off; a caller who asks for it is refused
        return members, tuple(lost), how


def search_several(indexes: Indexes, query: str, asking: Asking = AS_SET, across: str | None = None) -> SearchResult:
    """Search several indexes at once, by their names, paths, or open; see `Several.search`."""
    with Several(indexes) as several:
        return several.search(query, asking, across)


def _named(indexes: Indexes) -> Mapping[str, Where]:
    """Give each a name: its own, with a number where another one has it."""
    if not indexes:
        raise InvalidInputError("There is no index to search.", "Name one or more.")
    if isinstance(indexes, Mapping):
        check_names(list(indexes))
        return indexes
    if isinstance(indexes, str):
        raise InvalidInputError("Several indexes are given as a list.", f"Write [{indexes!r}].")
    named: dict[str, Where] = {}
    for where in indexes:
        own = where.info().name if isinstance(where, Collection) else str(where)
        if where in named.values():
            raise InvalidInputError(f"The index {own!r} is named twice.", "Name each once.")
        number = 1 + sum(name.partition(" #")[0] == own for name in named)
        named[own if number == 1 else f"{own} #{number}"] = where
    check_names(list(named))
    return named


def _check_own(parts: SearchParts, plan: SearchPlan) -> None:
    """Refuse an index that is opened with another embedder than it was made with."""
    if plan.mode == "bm25":
        return
    with parts.store.view() as view:
        held = view.recipe
    if held is not None:
        check_embedder(held.embedder, parts.embedder.identity)


def _refuse_if_all_are(lost: Sequence[Lost], members: Sequence[_Member]) -> None:
    """Raise the last error where nothing is left, or where nothing is to be done without."""
    if lost and (not members or members[0].plan.on_failure == "raise"):
        raise lost[-1].error


def _as_one(
    members: Sequence[_Member], ask: Callable[[SearchParts, SearchPlan], Given]
) -> tuple[Given, tuple[Lost, ...]]:
    """Ask indexes as if they were one, again without each that turns out to be broken."""
    lost: list[Lost] = []
    left = list(members)
    while True:
        first = left[0]
        store = JointStore([Joined(one.name, one.parts.store) for one in left], by_meaning=first.plan.mode != "bm25")
        # Retrievers name passages of one collection by the ids that they have there.
        parts = replace(first.parts, store=store, aids=replace(first.parts.aids, retrievers=()))
        try:
            return ask(parts, first.plan), tuple(lost)
        except LostCollectionError as error:
            lost.append(Lost(error.name, error.error))
            left = [one for one in left if one.name != error.name]
            _refuse_if_all_are(lost, left)


def _told(found: SearchResult, members: Sequence[_Member], lost: Sequence[Lost]) -> SearchResult:
    """Say of each passage which index it is of, by the ids that it has there; and what was left out."""
    hits = tuple(_own(hit, members) for hit in found.hits)
    unasked = tuple(
        f"{one.name}: the retriever {name} is not asked across indexes; search.across=rrf asks it"
        for one in members
        for name, _ in one.parts.aids.retrievers
    )
    return replace(found, hits=hits, degraded=(*(one.note for one in lost), *unasked, *found.degraded))


def _own(hit: FoundPassage, members: Sequence[_Member]) -> FoundPassage:
    name = next(one.name for one in members if hit.document.startswith(joint_id(one.name, "")))
    before = len(joint_id(name, ""))
    return replace(hit, collection=name, document=hit.document[before:], chunk_id=hit.chunk_id[before:])


def _each(
    members: Sequence[_Member], lost: tuple[Lost, ...], queries: Sequence[str], asking: Asking, how: str
) -> Sequence[SearchResult]:
    """Ask each index by itself, and join the answers."""
    if how == "rerank":
        check_reranker(members[0].parts)
    watch = Stopwatch()
    answers: list[tuple[_Member, Sequence[SearchResult]]] = []
    for one in members:
        parts, plan = one.parts, one.plan
        if how == "rerank":
            parts = replace(parts, aids=replace(parts.aids, rerankers=()))
            plan = replace(plan, k=max(plan.k, plan.rerank.candidates))
        try:
            answers.append((one, search_many(parts, queries, plan, asking.history)))
        except InvalidInputError:
            raise
        except TwofoldError as error:
            lost = (*lost, Lost(one.name, error))
    _refuse_if_all_are(lost, [one for one, _ in answers])
    first = answers[0][0]
    results = []
    for number in range(len(queries)):
        answered = [Answered(one.name, found[number]) for one, found in answers]
        own = watch.share(len(queries))
        if how == "rerank":
            question = answered[0].result.wordings[0]
            joined = joined_by_reranker(first.parts, question, answered, first.plan, own)
        else:
            joined = joined_by_rank(answered, first.plan, own)
        results.append(replace(joined, degraded=(*(one.note for one in lost), *joined.degraded)))
    return results
