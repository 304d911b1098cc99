"""The diversity stage: so many passages of a page, of a source, and none that only says again what stands above it."""

from collections.abc import Iterator

import numpy as np

from twofold.domain.types import Ranking
from twofold.pipeline.standing import Passages, Standing
from twofold.ranking.diversify import Candidate, Limits, diversified

AT_ONCE = 32


def diversify(standing: Standing, passages: Passages, limits: Limits, k: int) -> Standing:
    """Keep the best k that the limits allow, in their order."""
    if limits == Limits():
        return standing
    made = diversified(_candidates(standing.ranking, passages), limits, k)
    places = standing.ranking.ranks()
    kept = np.array([places[key] - 1 for key in made.kept], dtype=np.intp)
    ranking = Ranking(standing.ranking.keys[kept], standing.ranking.scores[kept])
    names = {key: passages.chunks([key])[0].id for one in made.dropped for key in (one.key, one.keeper)}
    decisions = tuple(f"left out {names[one.key]}: {one.reason}, {names[one.keeper]} stays" for one in made.dropped)
    return standing.after("diversity", ranking, decisions=decisions)


def _candidates(ranking: Ranking, passages: Passages) -> Iterator[Candidate]:
    keys = ranking.keys.tolist()
    for start in range(0, len(keys), AT_ONCE):
        some = keys[start : start + AT_ONCE]
        for key, chunk, info in zip(some, passages.chunks(some), passages.infos(some), strict=True):
            yield Candidate(key, info.id, chunk.page, chunk.text)
