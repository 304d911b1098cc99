"""Filtering late: what a filter leaves of an order that was made without it. Narrowing the arms beforehand is better.

It stands for systems that filter so (checklist item C10): it can leave fewer passages than there are.
"""

from dataclasses import replace

import numpy as np

from twofold.domain.filters import EVERYTHING, Filter, matches
from twofold.domain.types import Ranking
from twofold.pipeline.results import FilterSummary
from twofold.pipeline.standing import Passages, Standing

FILTER_STAGES = ("pre", "post")


def filter_late(standing: Standing, passages: Passages, condition: Filter) -> Standing:
    """Keep what passes: of 100 candidates, 3 of them in SQL files, `type == ".sql"` leaves these 3."""
    if condition == EVERYTHING:
        return standing
    ranking = standing.ranking
    passing = [matches(condition, fields) for fields in passages.fields(ranking.keys.tolist())]
    kept = np.array(passing, dtype=np.bool_)
    left = Ranking(ranking.keys[kept], ranking.scores[kept])
    summary = FilterSummary(candidates=len(ranking), kept=len(left))
    return replace(standing.after("filter", left), filtered=summary)
