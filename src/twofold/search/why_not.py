"""Why a document was not found: the stage that lost it, and the smallest change that brings it back, proved.

The stages are asked in the order in which a search goes through them; the first one whose order no longer holds a
passage of the document has lost it. What lost it is undone, the search done again, and so on until the document is in
the answer; what turns out not to be needed is taken back.
"""

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, NotFoundError, check_kind
from twofold.domain.ports import Snapshot
from twofold.domain.types import Chunk, ChunkKeys
from twofold.search.components import SearchComponents
from twofold.search.diagnose import STAGES, Evidence, MissCase, evidence, lost
from twofold.search.document_names import document_named
from twofold.search.one_state import in_one_state
from twofold.search.pipeline import ENCODING, ranked
from twofold.search.plan import SearchPlan, check
from twofold.search.remedies import NO_RERANKER, Fix, changed, undoing
from twofold.search.state import PipelineState

NOTHING_CHANGED = Fix()
MAX_UNDONE = 12
MAX_ORDINAL_LENGTH = 9  # digits


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What became of a document.

        `rank` is its best passage's place in the answer, from 1, or None. `stage` names what lost it: `not_indexed`,
        `no_passages`, `default_filter`, `filter`, `operators`, `intent`, `hide`, `retrieval`, `post_filter`, `rerank`,
    `collapse`, `diversify`, `pin` or `top_k`; it is empty for a document that was found. `reason` says why in a line,
    `evidence` what else was seen on the way. `fix` is the smallest change of the search that brings it back,
    `rank_after_fix` its rank then, from 1; both are None where none was found. `hint` says what to do where asking
    otherwise does not help.
    """

    query: str
    document: str
    rank: int | None
    stage: str = ""
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    fix: Fix | None = None
    rank_after_fix: int | None = None
    hint: str = ""


def why_not(parts: SearchComponents, question: str, document: str, plan: SearchPlan) -> WhyNot:
    """Return what became of a document, or of one passage, named as `document_named` takes it or by its own id.

    Raises InvalidInputError for a question or a plan that cannot be; a document that is not there is an answer.
    """
    check_kind("A document's name", document, str, "Give its id, its source, or an ending of its source.")
    check(plan)
    encoded = _encoded(parts, question, plan)
    return in_one_state(parts.store, lambda view: _explained(encoded, view, document))


def _explained(encoded: PipelineState, view: Snapshot, document: str) -> WhyNot:
    parts, question, plan = encoded.parts, encoded.question, encoded.plan
    try:
        keys = _keys_of(view, document)
    except NotFoundError as error:
        hint = f"Add it with `twofold sync {document}`."
        return WhyNot(question, document, None, "not_indexed", error.message, hint=hint)
    if not len(keys):
        reason = "The document has no text that could be searched."
        hint = "`twofold show` prints what was read of it."
        return WhyNot(question, document, None, "no_passages", reason, hint=hint)
    bench = _Bench(parts, view, keys, question, plan, encoded)
    case = bench.case(NOTHING_CHANGED)
    stage, reason = lost(case)
    if not stage:
        return WhyNot(question, document, case.shown, reason=reason)
    fix = _recovery(bench, case, stage)
    rank = None if fix is None else bench.case(fix).shown
    return WhyNot(question, document, None, stage, reason, tuple(evidence(case)), fix, rank)


def _encoded(parts: SearchComponents, question: str, plan: SearchPlan) -> PipelineState:
    state = PipelineState(parts, plan, question)
    for stage in ENCODING:
        state = stage(state)
    return state


def _keys_of(view: Snapshot, name: str) -> ChunkKeys:
    found = _passage(view, name) or view.chunks_of(document_named(view, name).id)
    return np.sort(np.array([chunk.key for chunk in found], dtype=np.int64))


def _passage(view: Snapshot, name: str) -> Sequence[Chunk]:
    """Return the passage with this id, if it exists: in several collections its key does not follow from its id."""
    document, _, ordinal = name.rpartition("_chunk_")
    if not ordinal.isdecimal() or len(ordinal) > MAX_ORDINAL_LENGTH:
        return ()
    return view.stretch(document, int(ordinal), int(ordinal))


@dataclass(frozen=True, slots=True, eq=False)
class _Bench:
    """Searches again and again for one document, in one state of the collection."""

    parts: SearchComponents
    view: Snapshot
    keys: ChunkKeys
    question: str
    plan: SearchPlan
    encoded: PipelineState
    seen: dict[str, MissCase] = field(default_factory=dict)

    def case(self, change: Fix) -> MissCase:
        """Search with a change. Raises InvalidInputError where that cannot be."""
        key = repr(change)
        if key not in self.seen:
            plan, parts = changed(self.plan, change), self.parts
            check(plan)
            if change.rerank == NO_RERANKER:
                parts = replace(parts, models=replace(parts.models, rerankers=()))
            done = ranked(replace(self._encoded(change, plan), parts=parts, plan=plan), self.view)
            self.seen[key] = MissCase(parts, self.view, self.keys, done)
        return self.seen[key]

    def attempt(self, change: Fix) -> MissCase | None:
        """Search with a change; None where that cannot be."""
        try:
            return self.case(change)
        except InvalidInputError:
            return None

    def shows(self, change: Fix) -> bool:
        """Return whether a search with this change has the document in its answer."""
        tried = self.attempt(change)
        return tried is not None and tried.shown is not None

    def _encoded(self, change: Fix, plan: SearchPlan) -> PipelineState:
        """Encode the question again where the change asks so; else what a generator made of it stays the same."""
        same = plan.intent_filter == self.plan.intent_filter and "extract_filters" not in change.without
        if change.query is None and change.mode is None and same:
            return self.encoded
        return _encoded(self.parts, change.query or self.question, plan)


def _recovery(bench: _Bench, case: MissCase, stage: str) -> Fix | None:
    """Undo what lost the document, stage by stage, until it is found; None if nothing brings it back."""
    change = NOTHING_CHANGED
    for _ in range(MAX_UNDONE):
        further = _step(bench, change, case, stage)
        if further is None:
            return None
        change = further
        case = bench.case(change)
        stage, _ = lost(case)
        if not stage:
            return _least(bench, change)
    return None


def _step(bench: _Bench, change: Fix, case: MissCase, stage: str) -> Fix | None:
    """Return the first change that takes the document past the stage that lost it."""

    def attempt(more: Fix) -> MissCase | None:
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


def _least(bench: _Bench, change: Fix) -> Fix:
    """Leave out of a change what it does not need."""
    for lesser in change.lesser():
        if bench.shows(lesser):
            return _least(bench, lesser)
    return change if change.k is None else _fewest(bench, change, change.k)


def _fewest(bench: _Bench, change: Fix, k: int) -> Fix:
    """Ask for no more passages than it takes, by halving; what each number of them does is tried."""
    enough, few = k, (bench.case(change).shown or k) - 1
    while enough - few > 1:
        middle = (enough + few) // 2
        if bench.shows(replace(change, k=middle)):
            enough = middle
        else:
            few = middle
    return replace(change, k=enough)
