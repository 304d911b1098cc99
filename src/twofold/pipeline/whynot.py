"""Why a document was not found: the stage that lost it, and the smallest change that brings it back, proved.

The stages are asked in the order in which a search goes through them; the first one whose order no longer holds a
passage of the document has lost it. What lost it is undone, the search done again, and so on until the document is in
the answer; what turns out not to be needed is taken back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.ports import View
from twofold.domain.types import Chunk, ChunkKeys
from twofold.pipeline.changing import NO_RERANKER, Change, changed, undoing
from twofold.pipeline.losing import STAGES, Case, Seen, evidence, lost
from twofold.pipeline.naming import document_named
from twofold.pipeline.plan import SearchPlan, check
from twofold.pipeline.search import run
from twofold.pipeline.search_parts import SearchParts
from twofold.pipeline.standing import Stopwatch
from twofold.pipeline.understanding import Heard, hear, understand

NOTHING_CHANGED = Change()
MOST_UNDONE = 12
LONGEST_ORDINAL = 9  # digits


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What became of a document.

    `rank` is its best passage's place in the answer, from 1, or None. `stage` names what lost it: `not ingested`,
    `no passages`, `gate`, `filter`, `question`, `intent`, `arms`, `filter late`, `rerank`, `diversity` or `cut`; it is
    empty for a document that was found. `reason` says why in a line, `evidence` what else was seen on the way. `change`
    is a change that brings it back, of which no part can be left out, and `proved` its rank then; both are None where
    none was found. `remedy` says what to do where asking otherwise does not help.
    """

    query: str
    document: str
    rank: int | None
    stage: str = ""
    reason: str = ""
    evidence: tuple[Seen, ...] = ()
    change: Change | None = None
    proved: int | None = None
    remedy: str = ""


def why_not(parts: SearchParts, question: str, document: str, plan: SearchPlan) -> WhyNot:
    """Say what became of a document, or of one passage, named as `document_named` takes it or by its own id.

    Raises InvalidInputError for a question or a plan that cannot be; a document that is not there is an answer.
    """
    check(plan)
    heard = _heard(parts, question, plan)
    with parts.store.view() as view:
        try:
            keys = _keys_of(view, document)
        except NotFoundError as error:
            remedy = f"Add it with `twofold sync {document}`."
            return WhyNot(question, document, None, "not ingested", error.message, remedy=remedy)
        if not len(keys):
            reason = "The document has no text that could be searched."
            remedy = "`twofold show` prints what was read of it."
            return WhyNot(question, document, None, "no passages", reason, remedy=remedy)
        bench = _Bench(parts, view, keys, question, plan, heard)
        case = bench.case(NOTHING_CHANGED)
        stage, reason = lost(case)
        if not stage:
            return WhyNot(question, document, case.shown, reason=reason)
        change = _brought_back(bench, case, stage)
        proved = None if change is None else bench.case(change).shown
        return WhyNot(question, document, None, stage, reason, tuple(evidence(case)), change, proved)


def _heard(parts: SearchParts, question: str, plan: SearchPlan) -> Heard:
    watch = Stopwatch()
    (heard,) = hear(parts, [understand(parts, question, plan, (), watch)], plan, watch)
    return heard


def _keys_of(view: View, name: str) -> ChunkKeys:
    found = _passage(view, name) or view.chunks_of(document_named(view, name).id)
    return np.sort(np.array([chunk.key for chunk in found], dtype=np.int64))


def _passage(view: View, name: str) -> Sequence[Chunk]:
    """Give the passage with this id, if there is one: among several collections its key does not follow from its id."""
    document, _, ordinal = name.rpartition("_chunk_")
    if not ordinal.isdecimal() or len(ordinal) > LONGEST_ORDINAL:
        return ()
    return view.stretch(document, int(ordinal), int(ordinal))


@dataclass(frozen=True, slots=True, eq=False)
class _Bench:
    """Searches again and again for one document, in one state of the collection."""

    parts: SearchParts
    view: View
    keys: ChunkKeys
    question: str
    plan: SearchPlan
    heard: Heard
    seen: dict[str, Case] = field(default_factory=dict)

    def case(self, change: Change) -> Case:
        """Search with a change. Raises InvalidInputError where that cannot be."""
        key = repr(change)
        if key not in self.seen:
            plan, parts = changed(self.plan, change), self.parts
            check(plan)
            if change.rerank == NO_RERANKER:
                parts = replace(parts, aids=replace(parts.aids, rerankers=()))
            done = run(parts, self.view, self._hear(change, plan), plan, Stopwatch())
            self.seen[key] = Case(parts, self.view, self.keys, done)
        return self.seen[key]

    def attempt(self, change: Change) -> Case | None:
        """Search with a change; None where that cannot be."""
        try:
            return self.case(change)
        except InvalidInputError:
            return None

    def shows(self, change: Change) -> bool:
        """Say whether a search with this change has the document in its answer."""
        tried = self.attempt(change)
        return tried is not None and tried.shown is not None

    def _hear(self, change: Change, plan: SearchPlan) -> Heard:
        """Hear the question anew where the change asks so; else what a generator made of it stays the same."""
        if change.query is None and change.mode is None and plan.by_intent == self.plan.by_intent:
            return self.heard
        return _heard(self.parts, change.query or self.question, plan)


def _brought_back(bench: _Bench, case: Case, stage: str) -> Change | None:
    """Undo what lost the document, stage by stage, until it is in the answer; None where that cannot be had."""
    change = NOTHING_CHANGED
    for _ in range(MOST_UNDONE):
        further = _step(bench, change, case, stage)
        if further is None:
            return None
        change = further
        case = bench.case(change)
        stage, _ = lost(case)
        if not stage:
            return _least(bench, change)
    return None


def _step(bench: _Bench, change: Change, case: Case, stage: str) -> Change | None:
    """Give the first change that takes the document past the stage that lost it."""

    def attempt(more: Change) -> Case | None:
        return bench.attempt(change.joined(more))

    elsewhere = None
    for option in undoing(case, stage, change.query or bench.question, attempt):
        tried = attempt(option)
        lost_at = stage if tried is None else lost(tried)[0]
        if STAGES.index(lost_at) > STAGES.index(stage):
            return change.joined(option)
        if lost_at != stage:  # more passages let more in before it
            elsewhere = elsewhere or change.joined(option)
    return elsewhere


def _least(bench: _Bench, change: Change) -> Change:
    """Leave out of a change what it does not need."""
    for lesser in change.lesser():
        if bench.shows(lesser):
            return _least(bench, lesser)
    return change if change.k is None else _fewest(bench, change, change.k)


def _fewest(bench: _Bench, change: Change, k: int) -> Change:
    """Ask for no more passages than it takes, by halving; what each number of them does is tried."""
    enough, few = k, (bench.case(change).shown or k) - 1
    while enough - few > 1:
        middle = (enough + few) // 2
        if bench.shows(replace(change, k=middle)):
            enough = middle
        else:
            few = middle
    return replace(change, k=enough)
