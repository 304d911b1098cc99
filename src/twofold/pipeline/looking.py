"""Looking: every wording of a question asked of both arms, and the scores of whatever either found completed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from twofold.domain.ports import Scope, View
from twofold.domain.types import EMPTY_RANKING, ChunkKeys, Ranking, Scores
from twofold.pipeline.limits import Deadline
from twofold.pipeline.standing import Stopwatch
from twofold.pipeline.understanding import Asked
from twofold.ranking.fusion import Candidates, best_of, union


@dataclass(frozen=True, slots=True)
class Reach:
    """Where the arms look, how many candidates each gives, and by when they must have looked."""

    scope: Scope
    depth: int
    deadline: Deadline = field(default_factory=lambda: Deadline("retrieval", 0.0))


def look(view: View, asked: Sequence[Asked], reach: Reach, watch: Stopwatch) -> Candidates:
    """Let the arms look; of several wordings a passage has its best score in each arm (checklist 32).

    Raises StageTimeoutError between two of its steps where the time is up.
    """
    with watch.step("lexical"):
        by_words = [
            EMPTY_RANKING if one.terms is None else view.find_terms(one.terms, reach.depth, reach.scope)
            for one in _in_time(asked, reach.deadline)
        ]
        lexical = _best(by_words, reach.depth)
    with watch.step("dense"):
        by_meaning = [
            EMPTY_RANKING if one.vector is None else view.find_vector(one.vector, reach.depth, reach.scope)
            for one in _in_time(asked, reach.deadline)
        ]
        dense = _best(by_meaning, reach.depth)
    reach.deadline.check()
    keys = union((lexical.keys, dense.keys))
    with watch.step("lexical"):
        lexical_scores, wordings = _all_completed(
            keys, by_words, [None if one.terms is None else partial(view.score_terms, one.terms) for one in asked]
        )
    with watch.step("dense"):
        dense_scores, _ = _all_completed(
            keys, by_meaning, [None if one.vector is None else partial(view.score_vector, one.vector) for one in asked]
        )
    return Candidates(lexical, dense, keys, lexical_scores, dense_scores, wordings)


def _in_time(asked: Sequence[Asked], deadline: Deadline) -> Iterator[Asked]:
    for one in asked:
        deadline.check()
        yield one


def _best(rankings: Sequence[Ranking], depth: int) -> Ranking:
    if len(rankings) == 1:
        return rankings[0]
    best = best_of(rankings)
    return Ranking(best.keys[:depth], best.scores[:depth])


Score = Callable[[ChunkKeys], Scores]


def _all_completed(
    keys: ChunkKeys, listed: Sequence[Ranking], score: Sequence[Score | None]
) -> tuple[Scores, Sequence[int] | None]:
    """Give each key its best score over the wordings, and which wording that is of; the first of equals."""
    rows = [
        np.zeros(len(keys)) if one is None else _completed(keys, ranking, one)
        for ranking, one in zip(listed, score, strict=True)
    ]
    if len(rows) == 1:
        return rows[0], None
    table = np.stack(
        [row if one is not None else np.full(len(keys), -np.inf) for row, one in zip(rows, score, strict=True)]
    )
    if all(one is None for one in score):
        return np.zeros(len(keys)), None
    best = table.argmax(axis=0)
    return table[best, np.arange(len(keys))], best.tolist()


def _completed(keys: ChunkKeys, listed: Ranking, score: Score) -> Scores:
    """Take the true scores that an arm has given already, and ask it for those it has not."""
    places = np.minimum(keys.searchsorted(listed.keys), max(len(keys) - 1, 0))
    known = keys[places] == listed.keys if len(keys) else np.zeros(0, dtype=np.bool_)
    scores = np.empty(len(keys), dtype=np.float64)
    missing = np.ones(len(keys), dtype=np.bool_)
    scores[places[known]] = listed.scores[known]
    missing[places[known]] = False
    scores[missing] = score(keys[missing])
    return scores
