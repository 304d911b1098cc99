"""Where a search lost a document: the first stage whose order no longer holds a passage of it, and what was seen."""

from collections.abc import Iterator

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.filters import MATCH_ALL, Filter
from twofold.domain.ports import Scope, Snapshot
from twofold.domain.types import ChunkKeys, Ranking
from twofold.query.operators import all_of
from twofold.query.parse import ParsedQuery
from twofold.ranking.diversify import Reason
from twofold.search.components import SearchComponents
from twofold.search.plan import SearchPlan
from twofold.search.state import PipelineState
from twofold.text.bm25 import with_groups

STAGES = (
    "default_filter",
    "filter",
    "operators",
    "intent",
    "hide",
    "retrieval",
    "post_filter",
    "rerank",
    "collapse",
    "diversify",
    "pin",
    "top_k",
    "",
)
"""What can lose a document that is in the index, in the order in which a search goes through it; "" for none."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was seen on the way, such as `bm25`: `rank 143; 100 were taken`."""

    name: str
    detail: str


@dataclass(frozen=True, slots=True, eq=False)
class MissCase:
    """One document that is looked for, by its passages' keys, and a search for it."""

    parts: SearchComponents
    view: Snapshot
    keys: ChunkKeys
    state: PipelineState

    @property
    def plan(self) -> SearchPlan:
        """How the search was done."""
        return self.state.plan

    @property
    def shown(self) -> int | None:
        """The best passage's rank, from 1, if it is in the answer."""
        rank = self.rank_in(self.state.ranking)
        return rank if rank is not None and rank <= self.plan.k else None

    def rank_in(self, ranking: Ranking) -> int | None:
        """Return the best place of a passage of the document, from 1."""
        places = np.flatnonzero(np.isin(ranking.keys, self.keys))
        return int(places[0]) + 1 if len(places) else None

    def allowed(self, scope: Scope) -> bool:
        """Return whether a passage of the document may be found at all."""
        return len(self.view.within(self.keys, scope)) > 0

    def passes(self, condition: Filter) -> bool:
        """Return whether a passage of the document passes a filter."""
        return self.allowed(Scope(condition))

    def ranks_after(self) -> Iterator[tuple[str, int | None]]:
        """Yield each stage with the rank that it left the document at; None where it is gone."""
        for name, ranking in self.state.passed:
            yield name, self.rank_in(ranking)

    def retriever_ranks(self) -> Iterator[tuple[str, int | None]]:
        """Yield the document's rank in each retriever's whole list, however far down; None where it is not listed."""
        first, everything, scope = self.state.query.asked[0], self.parts.store.info().chunks, self._scope()
        if first.terms is not None:
            yield "bm25", self.rank_in(self.view.search_bm25(first.terms, everything, scope))
        if first.vector is not None:
            yield "vector", self.rank_in(self.view.search_vectors(first.vector, everything, scope))

    def diversity_reasons(self) -> tuple[Reason, ...]:
        """Return why passages of the document were left out for the sake of diversity."""
        reasons = {one.reason for one in self.state.dropped if one.key in self.keys}
        return tuple(reason for reason in Reason if reason in reasons)

    def _scope(self) -> Scope:
        plan, parsed = self.plan, self.state.request.parsed
        condition = all_of(plan.filter, all_of(plan.default_filter_left, parsed.filter))
        return Scope(condition if plan.filter_stage == "pre" else MATCH_ALL, parsed.required, parsed.excluded)

    def outside(self) -> tuple[str, str] | None:
        """Name what keeps the document out of the retrievers' sight, and say why; None where nothing does."""
        parsed, intent, results = self.state.request.parsed, self.state.request.intent, self.plan.results
        if results is not None and not self.passes(results.hidden_documents(self.state)):
            return "hide", HIDDEN
        if self.plan.filter_stage == "pre" and (found := self.failing()) is not None:
            return found
        if not self.allowed(Scope(MATCH_ALL, parsed.required, parsed.excluded)):
            return "operators", self._failing_clause(parsed)
        if not self.allowed(self._scope()):
            return (
                "filter",
                "No single passage of it passes `search.default_filter`, the filter and the question together.",
            )
        if intent is not None and self._excluded_by_kind(intent.condition):
            return "intent", f"The question asks for a {intent.name}, and no passage of it is of that kind."
        return None

    def _failing_clause(self, parsed: ParsedQuery) -> str:
        """Name the first thing that the question demands, or forbids, and that no passage of it satisfies."""
        for clause in parsed.required:
            if not self.allowed(Scope(required=(clause,))):
                return f"The question demands {clause.label or clause.verbatim}, and no passage of it holds that."
        for clause in parsed.excluded:
            if not self.allowed(Scope(excluded=(clause,))):
                return f"The question excludes {clause.label or clause.verbatim}, and every passage of it holds that."
        return "No single passage of it holds all that the question demands and none of what it excludes."

    def failing(self) -> tuple[str, str] | None:
        """Name the first of `search.default_filter`, the filter and the question that no passage of it passes."""
        parsed = self.state.request.parsed
        if not self.passes(self.plan.default_filter_left):
            return "default_filter", "`search.default_filter` leaves all of its passages out."
        if not self.passes(self.plan.filter):
            return "filter", "The filter leaves all of its passages out."
        if not self.passes(parsed.filter):
            return "filter", "What the question says of where to look leaves all of its passages out."
        return None

    def _excluded_by_kind(self, kind: Filter) -> bool:
        """Return whether the retrievers searched passages of one kind only, none of which is the document's."""
        found = self.state.retrieved.fused.ranking.keys
        return (
            not self.passes(kind)
            and len(found) > 0
            and len(self.view.within(np.sort(found), Scope(kind))) == len(found)
        )


def lost(case: MissCase) -> tuple[str, str]:
    """Name the stage that lost the document, one of `STAGES`, and say why in a line."""
    outside = case.outside()
    if outside is not None:
        return outside
    before, at = "fuse", case.rank_in(case.state.retrieved.fused.ranking)
    if at is None:
        return "retrieval", _below_depth(case)
    for name, rank in case.ranks_after():
        if rank is None:
            return _dropped(case, name, before, at)
        before, at = name, rank
    if case.shown is not None:
        return "", f"It was found, at rank {at}; up to {case.plan.k} are shown."
    return "top_k", f"It is at rank {at}, and {case.plan.k} passages were asked for."


HIDDEN = "The search hides it, or the index does for this question."
LEFT_OUT = {
    "hide": "the search hides it, or the index does for this question",
    "collapse": "one passage of each document is shown, and another one of this document is better",
    "pin": "a pinned passage of its document stands for it",
}
"""Why a stage that the results were asked for leaves a passage out."""
WITHOUT_RANK = {"bm25": "none of the question's terms occurs in it", "vector": "it has no vector yet"}


def _below_depth(case: MissCase) -> str:
    said = [
        f"for {name} {WITHOUT_RANK[name]}" if rank is None else f"{name} has it at rank {rank}"
        for name, rank in case.retriever_ranks()
    ]
    return f"Each retriever returns its best {case.plan.reach}: {', '.join(said)}."


def _dropped(case: MissCase, name: str, before: str, at: int) -> tuple[str, str]:
    place = f"After {before} it was at rank {at}"
    if name == "diversify":
        reasons = case.diversity_reasons()
        if not reasons:
            return "top_k", f"{place}, and {case.plan.k} passages were asked for."
        return name, f"{place}; it was left out for the sake of diversity: {', '.join(reasons)}."
    if name == "post_filter":
        failing = case.failing()
        why = failing[1] if failing is not None else "No single passage of it passes all filters together."
        return name, f"{place}. {why}"
    if name == "rerank":
        return name, f"{place}; the reranker {_cut_reason(case, at)}."
    return name, f"{place}; {LEFT_OUT.get(name, f'{name} left it out')}."


def _cut_reason(case: MissCase, at: int) -> str:
    plan, summary = case.plan.rerank, case.state.rerank
    if summary is not None and plan.threshold and at > summary.read:
        return f"read the best {summary.read} alone, and leaves out what it has not read"
    if plan.threshold and plan.top_n:
        return f"found it less relevant than {plan.threshold:g}, or others {plan.top_n} times better"
    return f"found it less relevant than {plan.threshold:g}" if plan.threshold else f"keeps the best {plan.top_n} alone"


def evidence(case: MissCase) -> Iterator[Evidence]:
    """Return what else was seen on the way: the question's terms, the places in each retriever, after each stage."""
    first = case.state.query.asked[0]
    if first.terms is not None:
        counted = with_groups(first.terms, case.view.statistics(first.terms.terms))
        often = case.view.explain_terms(first.terms, case.keys.tolist()).frequencies
        names = list(first.terms.weights)
        held = {names[at] for at in np.flatnonzero(often.any(axis=0)).tolist()}
        for term in first.terms.weights:
            where = "in it" if term in held else "not in it"
            yield Evidence(
                f"term {term}", f"{where}; in {counted.frequencies.get(term, 0)} of {counted.chunks} passages"
            )
        if not first.terms.weights:
            yield Evidence("terms", "the analyzer left no term of the question")
    for name, rank in case.retriever_ranks():
        place = WITHOUT_RANK[name] if rank is None else f"rank {rank}"
        yield Evidence(name, f"{place}; {case.plan.reach} were taken")
    yield from (Evidence("fuse", note) for one in case.state.stages if one.name == "fuse" for note in one.notes)
    waiting = len(case.view.without_vector(case.keys))
    if waiting:
        detail = f"{waiting} of its {len(case.keys)} passages have none yet; `twofold sync` makes them"
        yield Evidence("vectors", detail)
    sizes = {name: len(one) for name, one in case.state.passed}
    for name, rank in case.ranks_after():
        yield Evidence(
            f"after {name}", f"gone; {sizes[name]} stay" if rank is None else f"rank {rank} of {sizes[name]}"
        )
    for warning in case.state.warnings:
        yield Evidence("warning", str(warning))
