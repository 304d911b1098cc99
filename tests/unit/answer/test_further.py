"""What follows the first sentence of an answer: as likely, of its own merit, and nothing else."""

import pytest

from support.scripted_reranker import Dictated
from twofold import Index
from twofold.domain.ports import Scale
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.plugins import Plugins

FIRST = "The kiln was built by Ada."
BEHIND = "Compare the oven, which has a door."
OTHER = "The stove of the kiln was built in March."


def shown(text: str, **scores: float) -> list[str]:
    """The sentences shown of a text for the question who built the kiln; the model reads -9 into all others."""
    reads = Dictated({**{name.replace("_", ". "): score for name, score in scores.items()}, "": -9.0}, Scale.LOGIT)
    settings = {"answer.min_answerability": 0.0, "rerank.model": "own"}
    with Index(":memory:", embedder=HashingEmbedder(), plugins=Plugins(rerankers={"own": reads})) as index:
        index.add(text, source="kiln.txt")
        return [one.text for one in index.ask("Who built the kiln?", settings=settings).sentences]


@pytest.mark.parametrize(("alone", "follows"), [(-9.0, False), (7.9, True)])
def test_a_sentence_whose_lead_is_shown_follows_where_it_answers_without(alone: float, *, follows: bool) -> None:
    """Read behind the first one it is nearly as likely as that, 8.7 and 9.2."""
    assert shown(f"{FIRST} {BEHIND}", Ada_Compare=8.7, Ada=9.2, Compare=alone) == [FIRST, *([BEHIND] * follows)]


@pytest.mark.parametrize(("read", "follows"), [(5.8, False), (7.2, True)])
def test_another_sentence_is_hardly_less_likely_than_the_first(read: float, *, follows: bool) -> None:
    """Half of what its logit lacks counts: 1.35 and .65 of 8.5, where 1 is the most."""
    assert shown(f"{FIRST}\n\n{OTHER}", Ada=8.5, stove=read) == [FIRST, *([OTHER] * follows)]
