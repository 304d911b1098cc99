"""Filtering late: what a filter leaves of an order that was made without it. Narrowing the arms beforehand is better.

It stands for systems that filter so (checklist item C10): it can leave fewer passages than there are.
"""

from dataclasses import dataclass

import numpy as np

from twofold.domain.filters import Filter, fields_of, matches
from twofold.domain.ports import View
from twofold.domain.types import Ranking
from twofold.pipeline.results import FilterSummary

FILTER_STAGES = ("pre", "post")


@dataclass(frozen=True, slots=True)
class Filtered:
    """What is left, in its order, and the counts before and after."""

    ranking: Ranking
    summary: FilterSummary


def filter_late(view: View, ranking: Ranking, condition: Filter) -> Filtered:
    """Keep what passes: of 100 candidates, 3 of them in SQL files, `type == ".sql"` leaves these 3."""
    chunks = view.chunks(ranking.keys.tolist())
    infos = view.describe(list({chunk.document for chunk in chunks}))
    passing = [matches(condition, fields_of(infos[chunk.document], chunk)) for chunk in chunks]
    kept = np.array(passing, dtype=np.bool_)
    left = Ranking(ranking.keys[kept], ranking.scores[kept])
    return Filtered(left, FilterSummary(candidates=len(ranking), kept=len(left)))
