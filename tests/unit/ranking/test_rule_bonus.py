"""+0.15 for a spreadsheet of fewer than 40 words about one of two subjects."""

import pytest

from twofold.domain.filters import And, Condition, Operator, Or
from twofold.domain.types import MetadataValue, Ranking
from twofold.ranking.boost import Rule, boosted, boosts_for

SUBJECTS = ("biodiversity_conservation", "water_bodies")
RULE = Rule(
    "short spreadsheet",
    And(
        (
            Condition("source_type", Operator.EQ, "excel"),
            Condition("word_count", Operator.LT, 40),
            Or(tuple(Condition("semantic_type_primary", Operator.EQ, subject) for subject in SUBJECTS)),
        )
    ),
    0.15,
)


def score(**fields: MetadataValue) -> float:
    steps = boosts_for([], [""], 1.5, [RULE], [fields])
    return next(iter(boosted(Ranking.of([1], [0.5]), steps))).score


@pytest.mark.parametrize("subject", SUBJECTS)
def test_39_words_have_the_bonus_and_40_have_none(subject: str) -> None:
    assert score(source_type="excel", word_count=39, semantic_type_primary=subject) == 0.65
    assert score(source_type="excel", word_count=40, semantic_type_primary=subject) == 0.5


def test_another_source_or_subject_has_none() -> None:
    assert score(source_type="pdf", word_count=39, semantic_type_primary="water_bodies") == 0.5
    assert score(source_type="excel", word_count=39, semantic_type_primary="economy") == 0.5


def test_missing_fields_have_none_and_do_not_raise() -> None:
    assert score() == 0.5
