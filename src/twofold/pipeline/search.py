"""The search: understand the question, let the arms look, fuse, lift, filter, rerank, weigh, diversify, tell."""

from collections.abc import Sequence
from dataclasses import replace

from twofold.domain.errors import CorruptError, StageTimeoutError, StoreError, TwofoldError
from twofold.domain.filters import EVERYTHING
from twofold.domain.ports import Scope, View
from twofold.pipeline.boosting import boost
from twofold.pipeline.diversifying import diversify
from twofold.pipeline.fallback import ARMS, Stage
from twofold.pipeline.filtering import filter_late
from twofold.pipeline.fusing import Joined, joined_arms
from twofold.pipeline.limits import Deadline
from twofold.pipeline.looking import Reach
from twofold.pipeline.plan import SearchPlan, check
from twofold.pipeline.rerank import Reading
from twofold.pipeline.rereading import readers_for, reread
from twofold.pipeline.results import SearchResult
from twofold.pipeline.search_parts import SearchParts
from twofold.pipeline.standing import Passages, Standing, Stopwatch
from twofold.pipeline.telling import Run, told
from twofold.pipeline.understanding import Asked, Heard, fall, hear, understand
from twofold.pipeline.weighing import weigh
from twofold.query.history import Turn
from twofold.query.limits import checked
from twofold.query.operators import all_of


def search(parts: SearchParts, question: str, plan: SearchPlan, history: Sequence[Turn] = ()) -> SearchResult:
    """Find the k passages that answer a question best.

    A part that fails is gone without, and `degraded` says so: a hybrid search whose model fails goes on with words
    alone, one whose reranker fails keeps the fused order. A search in a mode of one arm has nothing to go on with: its
    error is raised, as every error is where the plan says `raise`; where it says `empty` nothing is found instead.
    Raises InvalidInputError for an empty question or a plan that cannot be, MismatchError when the collection was made
    with another embedder.
    """
    return search_many(parts, [question], plan, history)[0]


def search_many(
    parts: SearchParts, questions: Sequence[str], plan: SearchPlan, history: Sequence[Turn] = ()
) -> Sequence[SearchResult]:
    """Search for many questions: all embedded at once, ranked each for itself, in one state of the collection."""
    check(plan)
    watch = Stopwatch()
    understood = [understand(parts, question, plan, history, watch) for question in questions]
    heard = hear(parts, understood, plan, watch)
    with parts.store.view() as view:
        results = []
        for one in heard:
            own = watch.share(len(heard))
            results.append(told(parts, view, run(parts, view, one, plan, own), own))
    return results


def answer(parts: SearchParts, heard: Heard, plan: SearchPlan, watch: Stopwatch) -> SearchResult:
    """Rank and tell one question that was heard already."""
    with parts.store.view() as view:
        return told(parts, view, run(parts, view, heard, plan, watch), watch)


def run(parts: SearchParts, view: View, heard: Heard, plan: SearchPlan, watch: Stopwatch) -> Run:
    """Take the candidates through every stage; the order after each is kept."""
    parsed = heard.understood.parsed
    condition = all_of(checked(plan.filter), all_of(plan.gates_left, parsed.filter))
    early, late = (condition, EVERYTHING) if plan.filter_stage == "pre" else (EVERYTHING, condition)
    reach = Reach(_narrowed(view, Scope(early, parsed.required, parsed.excluded), heard), plan.reach)
    arms, heard = _looked(parts, view, heard, plan, reach, watch)
    footing = heard.footing
    passages = Passages(view)
    standing = Standing(
        arms.fused.ranking,
        constants=arms.fused.constants,
        stages=arms.stages,
        passed=(("fuse", arms.fused.ranking),),
        degraded=(*parts.aids.notes, *heard.understood.degraded, *footing.notes, *arms.degraded),
    )
    with watch.step("boost"):
        standing = boost(standing, passages, parsed.original, plan.boost, "fused")
    with watch.step("filter"):
        standing = filter_late(standing, passages, late)
    if parts.aids.rerankers and Stage.RERANK in footing.left:
        with watch.step("rerank"):
            standing = _reread(parts, standing, passages, heard.understood.complete or parsed.words, plan, watch)
        with watch.step("boost"):
            standing = boost(standing, passages, parsed.original, plan.boost, "rerank")
    with watch.step("metadata"):
        standing = weigh(standing, passages, parsed.words, heard.understood.kinds, plan.metadata)
    with watch.step("diversity"):
        standing = diversify(standing, passages, plan.diversity, plan.k)
    return Run(heard, plan, arms, standing, passages)


def _narrowed(view: View, scope: Scope, heard: Heard) -> Scope:
    """Narrow the scope to the kind of passage that the question is after, if there are any (checklist 40)."""
    intent, first = heard.understood.intent, heard.asked[:1]
    if intent is None or not first:
        return scope
    narrow = replace(scope, filter=all_of(scope.filter, intent.condition))
    one = first[0]
    found = (one.terms is not None and len(view.find_terms(one.terms, 1, narrow))) or (
        one.vector is not None and len(view.find_vector(one.vector, 1, narrow))
    )
    return narrow if found else scope


def _reread(
    parts: SearchParts, standing: Standing, passages: Passages, words: str, plan: SearchPlan, watch: Stopwatch
) -> Standing:
    reading = Reading(words, standing.ranking, passages.texts)
    return reread(standing, readers_for(parts, plan), reading, plan.rerank, watch.elapsed)


def _looked(  # what a look takes
    parts: SearchParts, view: View, heard: Heard, plan: SearchPlan, reach: Reach, watch: Stopwatch
) -> tuple[Joined, Heard]:
    """Let the arms look; where one of them fails, the other alone; where none is left, nothing is found.

    Gives also what was heard in the end. Each try has the time of the stage for itself; there are three at the most.
    """
    footing = heard.footing

    def look(again: Heard) -> Joined:
        deadline = Deadline("retrieval", plan.patience.limits.retrieve)
        return joined_arms(parts, view, again, plan, replace(reach, deadline=deadline), watch)

    try:
        return look(heard), heard
    except (CorruptError, StoreError, StageTimeoutError) as error:
        failed: TwofoldError = error
    for stage, lesser in _lesser(heard):
        footing = fall(footing, stage, failed, plan)
        if not footing.left:
            break
        try:
            return look(lesser), replace(lesser, footing=footing)
        except (CorruptError, StoreError, StageTimeoutError) as error:
            failed, footing = error, heard.footing
    for stage in sorted(footing.left & ARMS):
        footing = fall(footing, stage, failed, plan)
    nothing = replace(heard, asked=(Asked(None, None),))
    return joined_arms(parts, view, nothing, plan, reach, watch), replace(nothing, footing=footing)


def _lesser(heard: Heard) -> tuple[tuple[Stage, Heard], ...]:
    """Give what to try when an arm has failed, nobody knows which: words alone, then meaning alone."""
    if not heard.footing.left >= ARMS:
        return ()
    words = tuple(replace(one, vector=None) for one in heard.asked)
    meaning = tuple(replace(one, terms=None) for one in heard.asked)
    return (
        (Stage.DENSE, replace(heard, mode="bm25", asked=words)),
        (Stage.LEXICAL, replace(heard, mode="semantic", asked=meaning)),
    )
