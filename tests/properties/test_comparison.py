"""Laws of comparing two configurations on the same questions."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.evaluation.dataset import Question
from twofold.evaluation.report import Comparison, MetricValues, Scored, compare_all
from twofold.evaluation.significance import holm

METRICS = ("first", "second")
values = st.integers(0, 20).map(lambda number: number / 20)
pairs = st.lists(st.tuples(values, values, values, values), min_size=1, max_size=25)


def compared(one: Scored, other: Scored) -> Comparison:
    questions = [Question(f"q{number}", f"what is {number}") for number in range(len(one.values[0].values))]
    (comparison,) = compare_all([one], other, questions)
    return comparison


def scored(name: str, rows: list[tuple[float, ...]], first: int) -> Scored:
    found = zip(METRICS, (first, first + 1), strict=True)
    return Scored(name, tuple(MetricValues(metric, tuple(row[place] for row in rows)) for metric, place in found))


@given(pairs)
def test_swapping_the_two_turns_every_sign_and_nothing_else(rows: list[tuple[float, ...]]) -> None:
    a, b = scored("a", rows, 0), scored("b", rows, 2)
    there, back = compared(a, b), compared(b, a)

    for one, other in zip(there.differences, back.differences, strict=True):
        assert one.interval.mean == pytest.approx(-other.interval.mean, abs=1e-12)
        assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-12)
        assert (one.p, one.p_holm) == (other.p, other.p_holm)
        assert (one.better, one.same, one.worse) == (other.worse, other.same, other.better)
        assert one.detectable == pytest.approx(other.detectable)
    assert [change.value - change.baseline for change in there.gained] == [
        change.baseline - change.value for change in back.lost
    ]


@given(pairs)
def test_a_configuration_does_not_differ_from_itself(rows: list[tuple[float, ...]]) -> None:
    same = compared(scored("a", rows, 0), scored("a", rows, 0))

    for one in same.differences:
        assert (one.interval.mean, one.interval.low, one.interval.high) == (0.0, 0.0, 0.0)
        assert (one.p, one.p_holm, one.better, one.worse, one.same) == (1.0, 1.0, 0, 0, len(rows))
        assert one.detectable == (0.0 if len(rows) > 1 else None)
    assert same.gained == same.lost == ()


@given(pairs)
def test_every_question_is_better_the_same_or_worse_and_the_largest_changes_come_first(
    rows: list[tuple[float, ...]],
) -> None:
    found = compared(scored("a", rows, 0), scored("b", rows, 2))

    assert all(one.better + one.same + one.worse == len(rows) for one in found.differences)
    gains = [change.value - change.baseline for change in found.gained]
    losses = [change.baseline - change.value for change in found.lost]
    assert gains == sorted(gains, reverse=True)
    assert losses == sorted(losses, reverse=True)
    assert all(gain > 0 for gain in (*gains, *losses))
    assert len(gains) == min(5, found.differences[0].better)
    assert len(losses) == min(5, found.differences[0].worse)


@given(st.lists(pairs, min_size=1, max_size=3))
def test_holm_is_over_every_metric_of_every_comparison(several: list[list[tuple[float, ...]]]) -> None:
    count = min(map(len, several))
    questions = [Question(str(number), "") for number in range(count)]
    other = scored("other", several[0][:count], 2)
    found = compare_all([scored(str(at), rows[:count], 0) for at, rows in enumerate(several)], other, questions)

    chances = [one.p for each in found for one in each.differences]
    assert [one.p_holm for each in found for one in each.differences] == list(holm(chances))


@given(st.lists(st.floats(0.0, 1.0), max_size=12), st.randoms(use_true_random=False))
def test_holm_keeps_the_order_lowers_nothing_and_does_not_mind_the_order_given(
    chances: list[float], random: Random
) -> None:
    adjusted = holm(chances)
    order = list(range(len(chances)))
    random.shuffle(order)

    assert all(was <= now <= 1.0 for was, now in zip(chances, adjusted, strict=True))
    assert [now for _, now in sorted(zip(chances, adjusted, strict=True))] == sorted(adjusted)
    assert holm([chances[place] for place in order]) == tuple(adjusted[place] for place in order)
