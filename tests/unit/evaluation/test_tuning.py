"""Tuning: a difference that is there is found and confirmed, and one that is not is not believed."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.config.load import Settings, merge
from twofold.config.settings import known_settings
from twofold.domain.errors import InvalidInputError
from twofold.evaluation.dataset import Question
from twofold.evaluation.tuning import (
    JUDGED,
    SYNTHETIC_TUNABLE,
    TUNABLE,
    Changes,
    Rules,
    TunableSetting,
    described,
    split,
    tune_by,
)

WORDS_ALONE = {"search.mode": "bm25"}


def questions(count: int) -> list[Question]:
    return [Question(f"q{number}", f"question {number}") for number in range(count)]


def noise(*seed: object) -> float:
    return Random(repr(seed)).random()  # noqa: S311  # no secret


def planted(changes: Changes, asked: Sequence[Question]) -> list[float]:
    """Every way does as well as the next, but for the retriever of meaning, which is noise that costs a fifth."""
    cost = 0.0 if changes.get("search.mode") == "bm25" else 0.2
    return [max(0.0, noise(one.id) - cost * noise(one.id, "cost")) for one in asked]


@given(st.integers(20, 60), st.integers(0, 5), st.randoms())
def test_halves_share_nothing_hold_everything_and_hang_on_the_seed_alone(count: int, seed: int, random: Random) -> None:
    asked = questions(count)
    choosing, confirming = split(asked, seed)
    random.shuffle(asked)

    assert sorted((*choosing, *confirming), key=lambda one: one.id) == sorted(asked, key=lambda one: one.id)
    assert len(confirming) - len(choosing) in (0, 1)
    assert split(asked, seed) == (choosing, confirming)


def test_another_seed_parts_the_questions_otherwise() -> None:
    assert split(questions(40), 0) != split(questions(40), 1)


def test_an_arm_that_is_noise_is_found_and_the_finding_confirmed() -> None:
    done = tune_by(questions(80), planted, "nDCG@10")

    assert done.winner == WORDS_ALONE
    assert done.confirmed[0].differences[0].p_holm < JUDGED.alpha
    assert (done.choosing, done.confirming) == (40, 40)


def test_where_nothing_differs_the_default_is_kept_and_nothing_is_held_against_it() -> None:
    done = tune_by(questions(80), lambda _, asked: [noise(one.id) for one in asked], "nDCG@10")

    assert (done.winner, done.finalists, done.confirmed) == ({}, (), ())
    assert "Keep the default" in done.reason
    assert done.detectable == 0.0


def test_chance_seldom_passes_for_a_gain() -> None:
    """Two hundred collections where every way answers by lot: at most one in twenty may seem to be better."""
    all_settings = (
        TunableSetting("one", tuple({"fusion.vector_weight": str(one)} for one in range(8))),
        TunableSetting("two", (WORDS_ALONE,)),
    )
    winners = []
    for lot in range(200):

        def by_lot(changes: Changes, asked: Sequence[Question], lot: int = lot) -> list[float]:
            return [noise(lot, described(changes), one.id) for one in asked]

        winners.append(tune_by(questions(60), by_lot, "nDCG@10", all_settings).winner)

    assert sum(bool(winner) for winner in winners) <= JUDGED.alpha * 200


def test_the_questions_that_confirm_have_no_part_in_choosing() -> None:
    met: list[tuple[Changes, frozenset[str]]] = []

    def measure(changes: Changes, asked: Sequence[Question]) -> list[float]:
        met.append((changes, frozenset(one.id for one in asked)))
        return planted(changes, asked)

    done = tune_by(questions(80), measure, "nDCG@10")
    choosing, confirming = ({one.id for one in half} for half in split(questions(80)))

    assert [asked for _, asked in met[: len(done.trials)]] == [choosing] * len(done.trials)
    assert [asked for _, asked in met[len(done.trials) :]] == [confirming] * (1 + len(done.finalists))


def test_a_sure_gain_that_is_too_small_to_matter_is_left() -> None:
    def slightly(changes: Changes, asked: Sequence[Question]) -> list[float]:
        return [0.5 + 0.003 * ("search.bm25" in changes) for _ in asked]

    done = tune_by(questions(80), slightly, "nDCG@10")

    assert done.confirmed[0].differences[0].p_holm < JUDGED.alpha
    assert done.winner == {}
    assert "0.005" in done.reason


def test_dials_stand_on_one_another_and_each_step_is_confirmed() -> None:
    def additive(changes: Changes, asked: Sequence[Question]) -> list[float]:
        gain = 0.1 * (changes.get("fusion.vector_weight") == "0.4") + 0.1 * (
            changes.get("search.bm25") == "k1:0.9 b:0.4"
        )
        return [0.5 + gain + 0.05 * noise(one.id) for one in asked]

    done = tune_by(questions(80), additive, "nDCG@10")

    assert done.winner == {"fusion.vector_weight": "0.4", "search.bm25": "k1:0.9 b:0.4"}
    assert done.finalists == (done.winner, {"fusion.vector_weight": "0.4"})


def test_of_two_that_are_confirmed_the_simpler_is_taken_unless_the_other_gains_clearly_more() -> None:
    def flattered(changes: Changes, asked: Sequence[Question]) -> list[float]:
        chosen = {one.id for one in split(questions(80))[0]}
        more = 0.05 * ("search.bm25" in changes)
        return [0.5 + 0.1 * (changes.get("fusion.vector_weight") == "0.4") + more * (one.id in chosen) for one in asked]

    done = tune_by(questions(80), flattered, "nDCG@10")

    assert all(one.differences[0].p_holm < JUDGED.alpha for one in done.confirmed)
    assert "search.bm25" in done.finalists[0]
    assert done.winner == {"fusion.vector_weight": "0.4"}


def test_the_same_seed_gives_the_same_answer() -> None:
    def told() -> list[tuple[Changes, float]]:
        return [(one.changes, one.mean) for one in tune_by(questions(40), planted, "nDCG@10").trials]

    assert told() == told()


@pytest.mark.parametrize("seconds", [0.0, 30.0, 400.0])
def test_when_time_runs_short_fewer_questions_choose_and_what_was_chosen_is_confirmed_all_the_same(
    seconds: float,
) -> None:
    spent = 0.0

    def slow(changes: Changes, asked: Sequence[Question]) -> list[float]:
        nonlocal spent
        spent += len(asked) * 0.1
        return planted(changes, asked)

    done = tune_by(questions(80), slow, "nDCG@10", rules=Rules(seconds=seconds), clock=lambda: spent)

    assert done.cut_short == (seconds < 400)
    assert done.choosing >= 10
    assert done.confirming == 40
    assert spent <= max(seconds, 6.0)
    assert bool(done.confirmed) == bool(done.finalists)


@pytest.mark.parametrize("count", [0, 1, 19])
def test_too_few_questions_are_refused(count: int) -> None:
    with pytest.raises(InvalidInputError, match="too few"):
        tune_by(questions(count), planted, "nDCG@10")


def test_made_up_questions_never_leave_an_arm_out() -> None:
    modes = {option.get("search.mode", "hybrid") for dial in SYNTHETIC_TUNABLE for option in dial.options}

    assert modes == {"hybrid"}
    assert [dial.name for dial in SYNTHETIC_TUNABLE] == [dial.name for dial in TUNABLE]


def test_every_option_is_a_setting_of_a_search() -> None:
    for dial in TUNABLE:
        for option in dial.options:
            assert all(known_settings()[key].of_a_search for key in option)
            merge(Settings(), option)
