"""Why a document was not found: the stage that lost it, and the smallest change that brings it back, proved.

The stages are asked in the order in which a search goes through them; the first one whose order no longer holds a
passage of the document has lost it. Changes are tried from the smallest on, each by searching again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from twofold.domain.errors import NotFoundError
from twofold.domain.filters import EVERYTHING
from twofold.domain.ports import Scope, View
from twofold.domain.types import ChunkKeys, Ranking, chunk_key
from twofold.pipeline.naming import document_named
from twofold.pipeline.parts import Parts
from twofold.pipeline.plan import LARGEST_DEPTH, LARGEST_K, SearchPlan, check
from twofold.pipeline.search import answer, run
from twofold.pipeline.standing import Stopwatch
from twofold.pipeline.telling import Run
from twofold.pipeline.understanding import Heard, hear, understand
from twofold.query.operators import all_of


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What became of a document.

    `rank` is its best passage's place in the answer, from 1, or None. `stage` names what lost it: `not ingested`,
    `no passages`, `gate`, `filter`, `question`, `arms`, `filter late`, `rerank`, `diversity` or `cut`; it is empty for
    a document that was found. `reason` says why in a line, `evidence` holds what else was seen on the way. `change` is
    the smallest change that brings it back, as one would type it, and `proved` its rank then; both are empty where
    none was found.
    """

    query: str
    document: str
    rank: int | None
    stage: str = ""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    change: str = ""
    proved: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One way to search otherwise."""

    said: str
    plan: SearchPlan


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """One document that is looked for: its passages' keys, and the search that did not show it."""

    parts: Parts
    view: View
    keys: ChunkKeys
    run: Run

    @property
    def heard(self) -> Heard:
        return self.run.heard

    @property
    def plan(self) -> SearchPlan:
        return self.run.plan

    def rank_in(self, ranking: Ranking) -> int | None:
        """Give the best place of a passage of the document, from 1."""
        places = np.flatnonzero(np.isin(ranking.keys, self.keys))
        return int(places[0]) + 1 if len(places) else None

    def allowed(self, scope: Scope) -> bool:
        """Say whether a passage of the document may be found at all."""
        return len(self.view.within(self.keys, scope)) > 0


def why_not(parts: Parts, question: str, document: str, plan: SearchPlan) -> WhyNot:
    """Say what became of a document, or of one passage, named as `document_named` takes it or by its own id.

    Raises InvalidInputError for a question or a plan that cannot be; a document that is not there is an answer.
    """
    check(plan)
    watch = Stopwatch()
    understood = understand(parts, question, plan, (), watch)
    (heard,) = hear(parts, [understood], plan, watch)
    with parts.store.view() as view:
        try:
            keys = _keys_of(view, document)
        except NotFoundError as error:
            remedy = f"add it: `twofold sync {document}`"
            return WhyNot(question, document, None, "not ingested", error.message, change=remedy)
        if not len(keys):
            reason = "The document has no text that could be searched."
            return WhyNot(question, document, None, "no passages", reason)
        case = _Case(parts, view, keys, run(parts, view, heard, plan, watch))
        rank = case.rank_in(case.run.standing.ranking)
        if rank is not None and rank <= plan.k:
            return WhyNot(question, document, rank, reason=f"It was found, at rank {rank} of {plan.k}.")
        stage, reason = _lost(case)
        evidence = tuple(_evidence(case))
    for change in _changes(case, stage):
        proved = _rank_with(parts, heard, change.plan, keys)
        if proved is not None:
            return WhyNot(question, document, None, stage, reason, evidence, change.said, proved)
    return WhyNot(question, document, None, stage, reason, evidence)


def _keys_of(view: View, name: str) -> ChunkKeys:
    key = chunk_key(name)
    if len(view.within(np.array([key], dtype=np.int64), Scope())):
        return np.array([key], dtype=np.int64)
    found = view.chunks_of(document_named(view, name).id)
    return np.sort(np.array([chunk.key for chunk in found], dtype=np.int64))


def _lost(case: _Case) -> tuple[str, str]:
    """Name the first stage that no longer holds the document, and say why in a line."""
    plan = case.plan
    outside = _outside(case)
    if outside is not None:
        return outside
    if case.rank_in(case.run.arms.fused.ranking) is None:
        return "arms", _below_depth(case)
    before = "fuse"
    for name, ranking in case.run.standing.passed:
        if case.rank_in(ranking) is None:
            return name, _dropped(case, name, before)
        before = name
    rank = case.rank_in(case.run.standing.ranking)
    return "cut", f"It is at rank {rank}, and {plan.k} passages were asked for."


def _outside(case: _Case) -> tuple[str, str] | None:
    """Say what keeps the document out of the arms' sight; None where nothing does."""
    plan, parsed = case.plan, case.heard.understood.parsed
    if plan.filter_stage == "pre":
        for stage, condition in (("gate", plan.gates), ("filter", plan.filter), ("filter", parsed.filter)):
            if not case.allowed(Scope(condition)):
                return stage, f"The {stage} leaves all of its passages out."
    if not case.allowed(Scope(EVERYTHING, parsed.required, parsed.excluded)):
        return "question", "A required word or phrase is missing from it, or an excluded one is there."
    if not case.allowed(_scope(case)):
        return "filter", "No passage of it passes gates, filter and question together."
    return None


def _scope(case: _Case) -> Scope:
    plan, parsed = case.plan, case.heard.understood.parsed
    condition = all_of(plan.filter, all_of(plan.gates, parsed.filter))
    return Scope(condition if plan.filter_stage == "pre" else EVERYTHING, parsed.required, parsed.excluded)


def _arm_ranks(case: _Case) -> Iterator[tuple[str, int | None]]:
    """Give the document's place in each arm's whole list, however far down; None where it is not in it at all."""
    first = case.heard.asked[0]
    everything = case.parts.store.info().chunks
    if first.terms is not None:
        yield "words", case.rank_in(case.view.find_terms(first.terms, everything, _scope(case)))
    if first.vector is not None:
        yield "meaning", case.rank_in(case.view.find_vector(first.vector, everything, _scope(case)))


def _below_depth(case: _Case) -> str:
    said = [
        f"by {arm} none of the question's terms occurs in it" if rank is None else f"by {arm} rank {rank}"
        for arm, rank in _arm_ranks(case)
    ]
    return f"Each arm gave its best {case.plan.reach}: {', '.join(said)}."


def _dropped(case: _Case, name: str, before: str) -> str:
    ranks = dict(case.run.standing.passed)
    at = case.rank_in(ranks[before])
    if name == "rerank":
        return f"After {before} it was at rank {at}; the reranker's threshold, or how many it keeps, left it out."
    stages = {stage.name: stage for stage in case.run.standing.stages}
    ids = {chunk.id for chunk in case.view.chunks(case.keys.tolist())}
    said = [one for one in stages[name].decisions if any(identity in one for identity in ids)]
    return f"After {before} it was at rank {at}; {name} left it out{f' ({said[0]})' if said else ''}."


def _evidence(case: _Case) -> Iterator[str]:
    """Say what else was seen on the way: the question's terms, the places in each arm, in the fused order."""
    first = case.heard.asked[0]
    if first.terms is not None:
        counted = case.view.statistics(tuple(first.terms.weights))
        held = {part.term for key in case.keys.tolist() for part in case.view.explain_terms(first.terms, key)}
        for term in first.terms.weights:
            where = "in it" if term in held else "not in it"
            yield f"term {term}: {where}, in {counted.frequencies.get(term, 0)} of {counted.chunks} passages"
        if not first.terms.weights:
            yield "the analyser left no term of the question"
    for arm, rank in _arm_ranks(case):
        yield f"by {arm}: {'not listed' if rank is None else f'rank {rank}'}, of which {case.plan.reach} were taken"
    fused = case.rank_in(case.run.arms.fused.ranking)
    if fused is not None:
        yield f"fused: rank {fused} of {len(case.run.arms.fused.ranking)}"


def _changes(case: _Case, stage: str) -> Iterator[Change]:
    """Give changes from the smallest on: what lost it undone, a deeper look, more passages, both."""
    plan = case.plan
    undone = list(_undone(plan, stage))
    yield from undone
    if stage == "arms":
        ranks = [rank for _, rank in _arm_ranks_again(case) if rank is not None and rank <= LARGEST_DEPTH]
        undone = [Change(f"--set search.depth={rank}", replace(plan, depth=rank)) for rank in sorted(ranks)]
        yield from undone
    for change in (*undone, Change("", plan)):
        rank = _rank_with(case.parts, case.heard, replace(change.plan, k=LARGEST_K, depth=change.plan.reach), case.keys)
        if rank is not None:
            more = replace(change.plan, k=rank)
            yield Change(" ".join(filter(None, (change.said, f"-k {rank}"))), more)


def _undone(plan: SearchPlan, stage: str) -> Iterator[Change]:
    """Give what undoes one stage alone."""
    if stage == "gate":
        yield Change("--set search.gates=", replace(plan, gates=EVERYTHING))
    if stage in ("filter", "filter late"):
        yield Change("without --filter", replace(plan, filter=EVERYTHING))
        yield Change("--set search.gates=", replace(plan, gates=EVERYTHING))
    if stage == "rerank":
        yield Change("--set rerank.threshold=0", replace(plan, rerank=replace(plan.rerank, threshold=0.0)))
        yield Change("--set rerank.keep=0", replace(plan, rerank=replace(plan.rerank, keep=0)))
    if stage == "diversity":
        limits = plan.diversity
        yield Change("--set diversity.duplicates=0", replace(plan, diversity=replace(limits, overlap=0.0)))
        yield Change("--set diversity.per_page=0", replace(plan, diversity=replace(limits, per_page=0)))
        yield Change("--set diversity.per_source=0", replace(plan, diversity=replace(limits, per_source=0)))


def _arm_ranks_again(case: _Case) -> Sequence[tuple[str, int | None]]:
    with case.parts.store.view() as view:
        return list(_arm_ranks(replace(case, view=view)))


def _rank_with(parts: Parts, heard: Heard, plan: SearchPlan, keys: ChunkKeys) -> int | None:
    """Search with another plan; give the document's rank among its k."""
    wanted = set(keys.tolist())
    found = answer(parts, heard, plan, Stopwatch())
    return next((hit.rank for hit in found.hits if chunk_key(hit.chunk_id) in wanted), None)
