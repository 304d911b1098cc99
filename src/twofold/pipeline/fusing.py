"""Fusing what the arms found: all wordings of a question, the user's own retrievers beside them, and feedback."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from twofold.domain.errors import ModelError
from twofold.domain.ports import Translating, View
from twofold.domain.types import Ranking, TermQuery, chunk_key
from twofold.pipeline.feeding import fed
from twofold.pipeline.growing import grown
from twofold.pipeline.looking import Reach, look
from twofold.pipeline.patience import waited
from twofold.pipeline.plan import SearchPlan
from twofold.pipeline.results import StageTrace, of_terms
from twofold.pipeline.search_parts import SearchParts
from twofold.pipeline.standing import Stopwatch
from twofold.pipeline.understanding import Asked, Heard
from twofold.ranking.fusion import Candidates, Fused, FusionPlan, by_ranks, fuse

MOST_TERMS = 500
CODE_SHARE = 0.5
"""What is left of the weight of meaning for a question about a code: `docs/decisions/0061-codes-lean-on-words.md`."""


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """One order of all that was found.

    `found` is what the arms gave for the question as it was asked. `asked` are the wordings in the order that
    `found.wordings` counts, the first of them grown where `likeness` acted, for which scores are explained.
    """

    fused: Fused
    found: Candidates
    asked: tuple[Asked, ...]
    stages: tuple[StageTrace, ...]
    degraded: tuple[str, ...] = ()

    def terms_of(self, key: int) -> tuple[int, TermQuery | None]:
        """Say which wording a passage's lexical score is of, and its terms; none for what only a retriever found."""
        found = self.found
        place = int(found.keys.searchsorted(key))
        if place == len(found.keys) or found.keys[place] != key:
            return 0, None
        number = 0 if found.wordings is None else int(found.wordings[place])
        return number, self.asked[number].terms if self.asked else None


class _Other(NamedTuple):
    """What another retriever found, and how it put the question, where it translates it."""

    name: str
    ranking: Ranking
    said: str = ""

    @property
    def decisions(self) -> tuple[str, ...]:
        return (self.said,) if self.said else ()


def joined_arms(  # what a look takes
    parts: SearchParts, view: View, heard: Heard, plan: SearchPlan, reach: Reach, watch: Stopwatch
) -> Joined:
    """Let the arms look and fuse what they found, by best score in each arm or by rank over the wordings."""
    fusion = leaning_on_words(plan.fusion) if leans_on_words(heard, plan) else plan.fusion
    asked = heard.asked or (Asked(None, None),)
    added: StageTrace | None = None
    with watch.step("feedback"):
        asked, learnt = fed(view, asked, reach, plan.feedback if heard.mode == "hybrid" else 0)
    if plan.rewrite.merge == "rrf" and len(asked) > 1:
        founds = [look(view, (one,), reach, watch) for one in asked]
        with watch.step("fuse"):
            orders = [fuse(each, fusion, heard.mode).ranking for each in founds]
            named = [(f"wording {number}", order) for number, order in enumerate(orders, start=1)]
            fused = by_ranks(named, fusion.rank_constant)
        found = founds[0]
    else:
        found = look(view, asked, reach, watch)
        with watch.step("fuse"):
            fused = fuse(found, fusion, heard.mode)
        if may_grow(heard, found):
            with watch.step("likeness"):
                asked, fused, added = _grown(
                    view, Joined(fused, found, asked, ()), plan, lambda again: fuse(again, fusion, heard.mode)
                )
    others, failed = _others(parts, view, heard, plan, reach, watch)
    if others:
        fused = _with_others(fused, others, fusion)
    stages = _stages(heard, found, fused, others, learnt)
    if leans_on_words(heard, plan):
        said = f"the question is a code: dense_weight {plan.fusion.dense_weight:g} × {CODE_SHARE:g}"
        stages = (*stages[:-1], replace(stages[-1], decisions=(said,)))
    return Joined(fused, found, asked, stages if added is None else (*stages, added), failed)


def leans_on_words(heard: Heard, plan: SearchPlan) -> bool:
    """Return whether the weight of meaning is lowered for a code: in `adaptive` alone, which chooses its weights."""
    return heard.about_a_code and heard.mode == "hybrid" and plan.fusion.form == "adaptive"


def leaning_on_words(fusion: FusionPlan) -> FusionPlan:
    """Return a fusion with half the weight of meaning, the same whatever else was found."""
    return replace(fusion, form="convex", dense_weight=fusion.dense_weight * CODE_SHARE)


def may_grow(heard: Heard, found: Candidates) -> bool:
    """Say whether a question may grow: one wording, both arms spoke, and it is not about a code, which stands alone.

    One of more than 500 terms has enough of them.
    """
    if len(heard.asked) != 1 or heard.about_a_code or len(heard.understood.parsed.terms.weights) > MOST_TERMS:
        return False
    return len(found.lexical) > 0 and len(found.dense) > 0


def _grown(
    view: View, first: Joined, plan: SearchPlan, fuse: Callable[[Candidates], Fused]
) -> tuple[tuple[Asked, ...], Fused, StageTrace | None]:
    """Grow the question by what was fused first, score the same candidates again, and fuse them again."""
    (one,) = first.asked
    if one.terms is None:
        return first.asked, first.fused, None
    more = grown(view, one.terms, first.fused.ranking, plan.likeness)
    if more is one.terms:
        return first.asked, first.fused, None
    scores = view.score_terms(more, first.found.keys)
    listed = first.found.lexical.keys
    lexical = Ranking.of(listed, scores[first.found.keys.searchsorted(listed)])
    fused = fuse(replace(first.found, lexical=lexical, lexical_scores=scores))
    count = len(first.fused.ranking)
    added = list(more.weights)[len(one.terms.weights) :]
    return (replace(one, terms=more),), fused, of_terms("likeness", count, count, added)


def _others(  # what a look takes
    parts: SearchParts, view: View, heard: Heard, plan: SearchPlan, reach: Reach, watch: Stopwatch
) -> tuple[tuple[_Other, ...], tuple[str, ...]]:
    """Ask the user's own retrievers; what they name that is not there, or out of scope, is left out.

    One that fails is gone without and told of, where the plan does not say `raise`.
    """
    found, failed = [], []
    words, patience = heard.understood.parsed.words, plan.patience
    for name, retriever in parts.aids.retrievers:
        call = partial(retriever.search, words, reach.depth)
        try:
            with watch.step(name):
                given = waited(parts.aids.calls, name, patience.limits.retrieve, patience.retry, call)
        except ModelError as error:
            if plan.on_failure == "raise":
                raise
            failed.append(f"{name} unavailable: {error.message}")
            continue
        scored = {chunk_key(one.chunk_id): one.score for one in given}
        held = view.within(np.array(sorted(scored), dtype=np.int64), reach.scope).tolist()
        said = retriever.translation(words) if isinstance(retriever, Translating) else ""
        found.append(_Other(name, Ranking.of(held, [scored[key] for key in held]), said))
    return tuple(found), tuple(failed)


def _with_others(fused: Fused, others: Sequence[_Other], fusion: FusionPlan) -> Fused:
    """Fuse the order of the two arms with those of other retrievers, by rank; their scores are on nobody's scale."""
    made = by_ranks([("fused", fused.ranking), *(one[:2] for one in others)], fusion.rank_constant, below=fused.shares)
    return replace(made, constants={**fused.constants, **made.constants})


def _stages(
    heard: Heard,
    found: Candidates,
    fused: Fused,
    others: Sequence[_Other],
    learnt: StageTrace | None,
) -> tuple[StageTrace, ...]:
    understood = heard.understood
    wordings = tuple(wording.words for wording in understood.wordings)
    terms = tuple(understood.parsed.terms.weights)
    given = len(found.lexical) + len(found.dense) + sum(len(one.ranking) for one in others)
    return (
        of_terms("parse", 1, 1, terms),
        StageTrace("rewrite", 1, len(wordings), decisions=understood.decisions),
        StageTrace("embed", len(wordings), sum(one.vector is not None for one in heard.asked)),
        *(() if learnt is None else (learnt,)),
        StageTrace("lexical", len(heard.asked), len(found.lexical)),
        StageTrace("dense", len(heard.asked), len(found.dense)),
        *(StageTrace(one.name, 1, len(one.ranking), decisions=one.decisions) for one in others),
        StageTrace("fuse", given, len(fused.ranking)),
    )
