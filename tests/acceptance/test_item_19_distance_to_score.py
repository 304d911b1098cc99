"""Checklist 19: `max(0, 1 - cosine distance)` for a distance from 0 to 2, as searches give it."""

import pytest

from support.exact_scores import COSINE_TOLERANCE, QUESTION, exact_index
from twofold.compat.voicevault import VectorRetriever

DISTANCES = {"same": 0.0, "near": 0.25, "unrelated": 1.0, "opposite": 2.0}
SCORES = {"same": 1.0, "near": 0.75, "unrelated": 0.0, "opposite": 0.0}
COSINES = {name: 1.0 - distance for name, distance in DISTANCES.items()}


def test_distances_become_scores() -> None:
    with exact_index({}, COSINES) as index:
        found = VectorRetriever(index).search(QUESTION)

    assert {one.source_file: one.vector_score for one in found} == pytest.approx(SCORES, abs=COSINE_TOLERANCE)


def test_a_fusion_counts_a_cosine_in_the_same_way() -> None:
    with exact_index({"near": 1}, COSINES) as index:
        found = index.search(QUESTION, profile="modes")

    vector = {hit.source: hit.trace.vector for hit in found.hits}
    shown = {source: one.normalized for source, one in vector.items() if one is not None}
    assert shown == pytest.approx(SCORES, abs=COSINE_TOLERANCE)
