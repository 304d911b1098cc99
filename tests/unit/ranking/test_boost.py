"""Boosts: what a code is, what it moves, what hostile patterns and texts may cost, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import Condition, Operator
from twofold.domain.types import EMPTY_RANKING, Ranking
from twofold.ranking.boost import (
    MAX_CODES,
    MAX_PATTERN_LENGTH,
    MAX_PATTERNS,
    MAX_QUESTION_LENGTH,
    NO_BOOST,
    NO_PATTERNS,
    Bonus,
    BoostStep,
    Rule,
    bonus,
    boosted,
    boosts_for,
    codes_in,
    compile_patterns,
    shared_codes,
)

SCORES = st.floats(-1e6, 1e6)
MULTIPLIERS = st.floats(1.0, 1000.0)
STEPS = st.builds(BoostStep, MULTIPLIERS, st.sampled_from([0.0, 0.15, -0.1]))


def order(ranking: Ranking) -> list[int]:
    return [hit.key for hit in ranking]


# Codes of a question


def test_codes_come_in_the_order_of_the_text_and_once() -> None:
    patterns = compile_patterns([r"ERR-\d+", r"TICKET-\d+"])

    assert codes_in(patterns, "TICKET-9 ERR-2, TICKET-9; ERR-1") == ("TICKET-9", "ERR-2", "ERR-1")


@pytest.mark.parametrize(
    "text", ["ERR-1234567", "XERR-1234", "ERR-1234x", "ERR-1234_5", "ERR-1234.5", "éERR-1234", "2ERR-1234"]
)
def test_a_part_of_a_longer_word_or_number_is_no_code(text: str) -> None:
    assert codes_in(compile_patterns([r"ERR-\d{3,6}"]), text) == ()


@pytest.mark.parametrize(
    "text", ["(ERR-1234)", "ERR-1234.", "ERR-1234-a", "错误ERR-1234的", "a/ERR-1234", "ERR-1234, 5"]
)
def test_punctuation_and_scripts_without_spaces_end_a_code(text: str) -> None:
    assert codes_in(compile_patterns([r"ERR-\d{3,6}"]), text) == ("ERR-1234",)


def test_the_longest_code_counts_whichever_pattern_comes_first() -> None:
    assert codes_in(compile_patterns([r"v\d+\.\d+", r"v\d+\.\d+\.\d+"]), "since v1.2.3") == ("v1.2.3",)


def test_capitals_matter_in_a_pattern_unless_it_says_otherwise() -> None:
    assert codes_in(compile_patterns([r"ERR-\d+"]), "err-1") == ()
    assert codes_in(compile_patterns([r"(?i)ERR-\d+", r"Q\d"]), "err-1 q2") == ("err-1",)


def test_only_the_beginning_of_a_text_is_searched_and_only_so_many_codes_are_taken() -> None:
    patterns = compile_patterns([r"C\d+"])

    assert codes_in(patterns, "C1".ljust(MAX_QUESTION_LENGTH) + "C2") == ("C1",)
    assert len(codes_in(patterns, " ".join(f"C{number}" for number in range(100)))) == MAX_CODES


@pytest.mark.parametrize("text", ["", "\ud800 C1", "\x00C1", " " * 10_000])
def test_no_text_raises(text: str) -> None:
    assert codes_in(compile_patterns([r"C\d", "x*"]), text) in {(), ("C1",)}


def test_without_patterns_there_are_no_codes() -> None:
    assert compile_patterns([]) == NO_PATTERNS
    assert codes_in(NO_PATTERNS, "ERR-1") == ()


# Patterns


@pytest.mark.parametrize("pattern", ["(", "a)|(b", r"(?=a)", r"(a)\1", "[z-a]", "\ud800", "*"])
def test_a_pattern_that_re2_does_not_read_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(InvalidInputError, match="The code pattern") as raised:
        compile_patterns(["ok", pattern])

    assert repr(pattern) in raised.value.message
    assert raised.value.hint


@pytest.mark.parametrize("pattern", [r"(?:\pL{1,50}){1,20}", r"\w{1,1000}", r"(?:(?:a{1,99}){1,9}){1,9}", r"a{1001}"])
def test_a_pattern_that_makes_a_large_program_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot be used"):
        compile_patterns([pattern])


def test_patterns_that_are_too_large_together_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="together"):
        compile_patterns([rf"{chr(192 + number)}[a-z]{{1,90}}" for number in range(MAX_PATTERNS)])


def test_the_caps_hold_and_what_they_allow_works() -> None:
    with pytest.raises(InvalidInputError, match="more than 32"):
        compile_patterns(["a"] * (MAX_PATTERNS + 1))
    with pytest.raises(InvalidInputError, match="more than 200"):
        compile_patterns(["a" * (MAX_PATTERN_LENGTH + 1)])
    patterns = compile_patterns([*(rf"K{number}-\d+" for number in range(MAX_PATTERNS - 1)), "a" * MAX_PATTERN_LENGTH])

    assert codes_in(patterns, "K7-1 K30-22") == ("K7-1", "K30-22")


@pytest.mark.parametrize(
    "pattern", [r"(a+)+$", r"(a|aa)+$", r"(a|a?)+$", r"(.*a){20}", r"([a-zA-Z]+)*$", r"(\w+\s?)+$"]
)
def test_patterns_that_hang_others_end_on_a_megabyte(pattern: str) -> None:
    patterns = compile_patterns([pattern])

    for text in ("a" * 1_000_000 + "!", "a " * 500_000, "\ud800" * 1_000_000):
        assert len(codes_in(patterns, text)) <= 1


# Codes in passages


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("see ERR-123.", True),
        ("see err-123", True),
        ("ERR-1234 but ERR-123 too", True),
        ("ERR-1234", False),
        ("ERR-123.4", False),
        ("XERR-123", False),
        ("", False),
    ],
)
def test_a_passage_holds_a_code_as_a_whole_whatever_the_case(text: str, *, stands: bool) -> None:
    assert shared_codes(["ERR-123"], text) == (("ERR-123",) if stands else ())


def test_a_version_is_not_part_of_a_longer_one() -> None:
    assert shared_codes(["1.2.3"], "0.1.2.3 and 1.2.3.4") == ()
    assert shared_codes(["1.2.3"], "1.2.3.") == ("1.2.3",)


def test_hostile_passages_end() -> None:
    code = "a" * MAX_PATTERN_LENGTH

    assert boosts_for([code], ["a" * 1_000_000] * 3, 2.0) == (NO_BOOST,) * 3


# Steps


def test_several_codes_multiply_once_and_all_are_named() -> None:
    (step,) = boosts_for(["A-1", "B-2", "C-3"], ["B-2 and A-1"], 2.0)

    assert step == BoostStep(2.0, 0.0, ("A-1", "B-2"))


def test_rules_add_up_in_their_order_and_are_named() -> None:
    rules = [
        Rule("short", Condition("words", Operator.LT, 40), 0.15),
        Rule("old", Condition("year", Operator.LT, 2000), -0.05),
    ]

    assert bonus(rules, {"words": 3, "year": 1999}) == Bonus(0.15 - 0.05, ("short", "old"))
    assert bonus(rules, {"words": "three"}) == bonus(rules, {}) == Bonus()


def test_codes_and_rules_meet_in_one_step() -> None:
    rules = [Rule("faq", Condition("kind", Operator.EQ, "faq"), 0.5)]

    steps = boosts_for(["A-1"], ["A-1", "A-1", "none"], 2.0, rules, [{"kind": "faq"}, {}, {"kind": "faq"}])

    assert steps == (
        BoostStep(2.0, 0.5, ("A-1",), ("faq",)),
        BoostStep(2.0, 0.0, ("A-1",)),
        BoostStep(1.0, 0.5, (), ("faq",)),
    )


@pytest.mark.parametrize("multiplier", [0.0, 0.99, -1.5, 1001.0, float("nan"), float("inf")])
def test_a_multiplier_that_would_not_boost_is_refused(multiplier: float) -> None:
    with pytest.raises(InvalidInputError, match="from 1 to 1000"):
        boosts_for(["A-1"], ["A-1"], multiplier)


def test_fields_that_do_not_fit_the_texts_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="argument"):
        boosts_for([], ["a", "b"], 1.5, [Rule("x", Condition("a", Operator.EXISTS), 1.0)], [{}])


# Orders


@given(SCORES, MULTIPLIERS)
def test_a_multiplier_never_lowers_a_score(score: float, multiplier: float) -> None:
    assert BoostStep(multiplier).apply(score) >= score


@given(SCORES, SCORES, MULTIPLIERS)
def test_a_multiplier_turns_no_two_boosted_scores_round(one: float, other: float, multiplier: float) -> None:
    step = BoostStep(multiplier)

    assert (step.apply(one) <= step.apply(other)) if one <= other else (step.apply(one) >= step.apply(other))


@given(st.lists(st.tuples(SCORES, STEPS), max_size=20))
def test_a_boosted_ranking_is_a_stable_sort_of_the_recomputed_scores(lines: list[tuple[float, BoostStep]]) -> None:
    ranking = Ranking.of(range(len(lines)), [score for score, _ in lines])
    steps = [step for _, step in lines]
    expected = sorted(
        ((step.apply(hit.score), hit.key) for hit, step in zip(ranking, steps, strict=True)),
        key=lambda line: -line[0],
    )

    made = boosted(ranking, steps)

    assert [(hit.score, hit.key) for hit in made] == expected


def test_ties_keep_the_order_that_they_had() -> None:
    ranking = Ranking(np.array([9, 2, 5]), np.array([0.9, 0.6, 0.6]))

    assert order(boosted(ranking, [NO_BOOST, BoostStep(1.5), BoostStep(1.5)])) == [9, 2, 5]


@pytest.mark.parametrize("ranking", [EMPTY_RANKING, Ranking(np.array([9, 2]), np.array([0.5, 0.5]))])
def test_where_nothing_is_boosted_the_ranking_itself_comes_back(ranking: Ranking) -> None:
    assert boosted(ranking, [NO_BOOST] * len(ranking)) is ranking


def test_a_step_for_each_line_is_asked_for() -> None:
    with pytest.raises(ValueError, match="one boost"):
        boosted(Ranking.of([1], [1.0]), [])
