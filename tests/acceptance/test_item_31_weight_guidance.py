"""Checklist item 31: guidance on weights, 0.7 / 0.3 for concepts, 0.4 / 0.6 for look-ups, 0.6 / 0.4 between them.

The balance is the default; the others are among what `twofold tune` holds against it, and each can be asked for.
"""

import pytest

from twofold import Index
from twofold.config.load import Settings
from twofold.evaluation.tuning import TUNABLE
from twofold.models.embedders.hashing import HashingEmbedder

GUIDANCE = {"concepts": 0.7, "look-ups": 0.4, "balanced": 0.6}


def test_the_balance_is_the_default() -> None:
    assert Settings().fusion.vector_weight == GUIDANCE["balanced"]


@pytest.mark.parametrize("weight", GUIDANCE.values(), ids=GUIDANCE)
def test_tuning_tries_each_weight_of_the_guidance(weight: float) -> None:
    tried = {float(option["fusion.vector_weight"]) for dial in TUNABLE for option in dial.options if len(option) == 1
             and "fusion.vector_weight" in option}  # fmt: skip

    assert weight in tried


@pytest.mark.parametrize("weight", GUIDANCE.values(), ids=GUIDANCE)
def test_the_weight_that_is_asked_for_is_the_one_in_the_score(weight: float) -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add("The cat sat on the mat.", source="cat.txt")
        index.add("A dog ran past the cat.", source="dog.txt")
        found = index.search("cat", settings={"fusion.method": "linear", "fusion.vector_weight": weight})

    weights = {retriever.retriever: retriever.weight for retriever in found.hits[0].trace.retrievers}
    assert weights == pytest.approx({"bm25": 1.0 - weight, "vector": weight})
