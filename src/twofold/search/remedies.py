"""How to search otherwise so that a lost document is found: what undoes each stage, smallest first."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, And, Filter
from twofold.query.filter_syntax import parse_filter, render
from twofold.query.parse import loosened
from twofold.ranking.diversify import Limits, Reason
from twofold.search.diagnose import MissCase
from twofold.search.plan import MAX_K, MODES, SearchPlan
from twofold.search.query import is_field
from twofold.search.result import RerankTrace

NO_FILTER: Final = "()"
NO_RERANKER: Final = "none"
MAX_SET_DEPTH: Final = 99_999
MAX_READ: Final = 50
"""How many passages a reranker is asked to read to prove a change; it takes seconds."""


@dataclass(frozen=True, slots=True)
class Fix:
    """Another way to ask. What is None stays; `filter` is the one that is left, as `parse_filter` reads it.

    `rerank` is `none` or None, `settings` are by their dotted keys, as text. `without` names what is asked of the
    results no more, such as `collapse`.
    """

    query: str | None = None
    mode: str | None = None
    k: int | None = None
    filter: str | None = None
    rerank: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    def joined(self, other: "Fix") -> "Fix":
        """Make both changes; where both say something the other one counts."""
        return Fix(
            self.query if other.query is None else other.query,
            self.mode if other.mode is None else other.mode,
            self.k if other.k is None else other.k,
            self.filter if other.filter is None else other.filter,
            self.rerank if other.rerank is None else other.rerank,
            _as_settings({**_changes(self.settings), **_changes(other.settings)}),
            tuple(dict.fromkeys((*self.without, *other.without))),
        )

    def lesser(self) -> Iterator["Fix"]:
        """Return the changes with one thing less changed."""
        one_less = (
            replace(self, query=None),
            replace(self, mode=None),
            replace(self, k=None),
            replace(self, filter=None),
            replace(self, rerank=None),
        )
        yield from (one for one in one_less if one != self)
        made = _changes(self.settings)
        for key in made:
            left = {one: value for one, value in made.items() if one != key}
            yield replace(self, settings=_as_settings(left))
        for name in self.without:
            yield replace(self, without=tuple(one for one in self.without if one != name))


_MAPS: Final = frozenset({"diversity", "query", "timeouts"})
"""Settings that are maps; a fix names a part of one as `per_page:0`."""


def _changes(settings: Mapping[str, str]) -> dict[str, str]:
    """Take maps apart: `{"diversity": "per_page:0"}` is `{"diversity.per_page": "0"}`."""
    found: dict[str, str] = {}
    for key, text in settings.items():
        if key in _MAPS:
            found |= {f"{key}.{name}": value for name, _, value in (one.partition(":") for one in text.split())}
        else:
            found[key] = text
    return found


def _as_settings(changes: Mapping[str, str]) -> dict[str, str]:
    """Put parts into their maps, as settings are written."""
    found: dict[str, str] = {}
    for key, text in changes.items():
        setting, _, part = key.rpartition(".")
        if setting in _MAPS:
            found[setting] = f"{found[setting]} {part}:{text}" if setting in found else f"{part}:{text}"
        else:
            found[key] = text
    return found


Apply = Callable[[SearchPlan, str], SearchPlan]

_KNOWN: Mapping[str, Apply] = {
    "search.default_filter": lambda plan, text: replace(plan, default_filter=parse_filter(text)),
    "search.candidates": lambda plan, text: replace(plan, candidates=text),
    "timeouts.search": lambda plan, text: replace(plan, rerank=replace(plan.rerank, budget_ms=float(text) * 1000.0)),
    "query.intent_filter": lambda plan, text: replace(plan, intent_filter=text == "true"),
    "rerank.candidates": lambda plan, text: replace(plan, rerank=replace(plan.rerank, candidates=int(text))),
    "rerank.top_n": lambda plan, text: replace(plan, rerank=replace(plan.rerank, top_n=int(text))),
    "rerank.threshold": lambda plan, text: replace(plan, rerank=replace(plan.rerank, threshold=float(text))),
    "diversity.per_page": lambda plan, text: replace(plan, diversity=replace(plan.diversity, per_page=int(text))),
    "diversity.per_source": lambda plan, text: replace(plan, diversity=replace(plan.diversity, per_source=int(text))),
    "diversity.max_overlap": lambda plan, text: replace(
        plan, diversity=replace(plan.diversity, max_overlap=float(text))
    ),
}
_UNDOING: Mapping[Reason, str] = {
    Reason.PAGE: "diversity.per_page",
    Reason.SOURCE: "diversity.per_source",
    Reason.DUPLICATE: "diversity.max_overlap",
}

OF_RESULTS: Final = ("hide", "collapse", "pin")
"""Stages that are undone by not asking for them."""

Try = Callable[[Fix], MissCase | None]
"""Searches with a change more; None where that cannot be, as with a question of which nothing is left."""


def changed(plan: SearchPlan, change: Fix) -> SearchPlan:
    """Return the plan of a changed search."""
    plan = replace(
        plan,
        k=plan.k if change.k is None else change.k,
        mode=plan.mode if change.mode is None else change.mode,
        filter=plan.filter if change.filter is None else parse_filter(change.filter),
    )
    for key, value in _changes(change.settings).items():
        plan = _KNOWN[key](plan, value)
    if change.without and plan.results is not None:
        plan = replace(plan, results=plan.results.without(change.without))
    return plan


def undoing(case: MissCase, stage: str, question: str, attempt: Try) -> Iterator[Fix]:
    """Return what may undo one stage, the smallest change first; some of it is found by trying."""
    if stage in OF_RESULTS:
        yield Fix(without=(stage,))
    else:
        yield from _undoing_retrieval_or_order(case, stage, question, attempt)


def _undoing_retrieval_or_order(case: MissCase, stage: str, question: str, attempt: Try) -> Iterator[Fix]:
    match stage:
        case "default_filter" | "filter" | "post_filter":
            yield from _looser_filters(case, question)
        case "operators":
            yield from (Fix(query=one) for one in loosened(question, partial(is_field, case.parts.store)))
        case "intent":
            yield _set("query.intent_filter", "false")
        case "retrieval":
            yield from _deeper(case)
        case "rerank":
            yield from _read_on(case, attempt)
        case "diversify":
            yield from _less_diverse(case)
        case "top_k":
            yield from _more(case)


def _set(key: str, value: object) -> Fix:
    return Fix(settings=_as_settings({key: str(value)}))


def _looser_filters(case: MissCase, question: str) -> Iterator[Fix]:
    """Take back what the document fails: gates, single conditions of the filter, what the question says; then more."""
    plan, asked = case.plan, case.state.request.parsed.filter
    if not case.passes(plan.default_filter_left):
        yield _set("search.default_filter", NO_FILTER)
        return
    if not case.passes(plan.filter):
        left = And(tuple(part for part in _parts(plan.filter) if case.passes(part)))
        yield Fix(filter=_written(left))
        yield Fix(filter=NO_FILTER)
        return
    if not case.passes(asked):
        if plan.results is not None and plan.results.extract_filters:
            yield Fix(without=("extract_filters",))
        yield from (Fix(query=one) for one in loosened(question, partial(is_field, case.parts.store)))
        return
    if plan.default_filter != MATCH_ALL:
        yield _set("search.default_filter", NO_FILTER)
    if plan.filter != MATCH_ALL:
        yield Fix(filter=NO_FILTER)
    yield from (Fix(query=one) for one in loosened(question, partial(is_field, case.parts.store)))
    yield _set("search.default_filter", NO_FILTER).joined(Fix(filter=NO_FILTER))


def _parts(condition: Filter) -> tuple[Filter, ...]:
    return condition.parts if isinstance(condition, And) else (condition,)


def _written(condition: And) -> str:
    try:
        return render(condition)
    except InvalidInputError:  # what the language cannot say
        return NO_FILTER


def _deeper(case: MissCase) -> Iterator[Fix]:
    """Look deeper in the retriever that has the document soonest; then in another mode."""
    ranks = sorted(rank for _, rank in case.retriever_ranks() if rank is not None and rank <= MAX_SET_DEPTH)
    for rank in ranks:
        yield _set("search.candidates", rank)
    if case.plan.mode != "hybrid":
        yield Fix(mode=MODES[0])
    everything = min(MAX_SET_DEPTH, case.view.sizes().chunks)
    if ranks and everything > max(ranks):
        yield _set("search.candidates", everything)


def _read_on(case: MissCase, attempt: Try) -> Iterator[Fix]:
    """Let the reranker read as far as the document, and keep what is as relevant as it; or do without it."""
    before = [rank for _, rank in case.ranks_after() if rank is not None][-1]
    if before <= max(MAX_READ, case.plan.rerank.candidates):
        yield from _keep_fixes(case, before, attempt)
    yield Fix(rerank=NO_RERANKER)


def _keep_fixes(case: MissCase, before: int, attempt: Try) -> Iterator[Fix]:
    open_wide = Fix(settings={"rerank.top_n": "0", "rerank.threshold": "0"})
    if before > case.plan.rerank.candidates:
        open_wide = open_wide.joined(_set("rerank.candidates", before))
    if case.plan.rerank.budget_ms:
        open_wide = open_wide.joined(_set("timeouts.search", 0))
    tried = attempt(open_wide)
    if tried is None:
        return
    relevance = max(_relevances(tried), default=0.0)
    threshold = min(case.plan.rerank.threshold, math.floor(relevance * 1000) / 1000)
    exact = open_wide.joined(_set("rerank.threshold", f"{threshold:g}"))
    kept = attempt(exact)
    rank = None if kept is None else dict(kept.ranks_after()).get("rerank")
    if rank is not None and case.plan.rerank.top_n:
        yield exact.joined(_set("rerank.top_n", max(rank, case.plan.rerank.top_n)))
    yield exact
    yield open_wide


def _relevances(case: MissCase) -> Iterator[float]:
    for key in case.keys.tolist():
        for step in case.state.steps.get(key, ()):
            if isinstance(step.detail, RerankTrace) and step.detail.relevance is not None:
                yield step.detail.relevance


def _less_diverse(case: MissCase) -> Iterator[Fix]:
    """Lift the limits that left it out, one by one, then all."""
    undone = Fix()
    for reason in case.diversity_reasons():
        if reason in _UNDOING:
            one = _set(_UNDOING[reason], 0)
            undone = undone.joined(one)
            yield one
    yield undone
    if case.plan.diversity != Limits():
        yield Fix(settings=_as_settings(dict.fromkeys(_UNDOING.values(), "0")))


def _more(case: MissCase) -> Iterator[Fix]:
    """Ask for more passages: as many as the rank says, or, since more passages may change the order, more still."""
    k = case.plan.k
    rank = case.rank_in(case.state.ranking)
    if rank is not None and rank <= MAX_K:
        yield Fix(k=rank)
    while k < MAX_K:
        k = min(MAX_K, max(2 * k, rank or 0))
        yield Fix(k=k)
