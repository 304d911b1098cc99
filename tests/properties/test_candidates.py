"""Lists of candidates: the kernels in C and their twins in numpy agree with plain Python, whatever the lists."""

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold import _kernels_numpy_candidates

KEYS = st.integers(-(2**63), 2**63 - 1)
SCORES = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1.5, -2.0])  # few, so that many are alike


@pytest.fixture(scope="module", params=["c", "numpy"])
def kernels(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "numpy":
        return _kernels_numpy_candidates
    built: ModuleType = pytest.importorskip(
        "twofold._kernels", reason="the kernels were not built", exc_type=ImportError
    )
    return built


@given(scored=st.dictionaries(KEYS, SCORES, max_size=40), k=st.integers(1, 50), parts=st.integers(1, 4))
def test_the_best_of_all_parts_come_first_and_ties_go_to_the_smaller_key(
    kernels: ModuleType, scored: dict[int, float], k: int, parts: int
) -> None:
    dealt = [list(scored.items())[part::parts] for part in range(parts)]
    given_parts = tuple(
        (  # a part's slots are its keys backwards
            np.array([key for key, _ in held][::-1], np.int64),
            np.arange(len(held), dtype=np.uint32)[::-1].copy(),
            np.array([score for _, score in held], np.float64),
        )
        for held in dealt
    )

    keys, scores, places, slots = kernels.order_found(given_parts, k)

    assert [one.dtype for one in (keys, scores, places, slots)] == [np.int64, np.float64, np.uint32, np.uint32]
    expected = sorted(scored.items(), key=lambda one: (-one[1], one[0]))[:k]
    assert list(zip(keys.tolist(), scores.tolist(), strict=True)) == expected
    stand = [given_parts[part][0][slot] for part, slot in zip(places.tolist(), slots.tolist(), strict=True)]
    assert stand == keys.tolist()
    whole = (np.array(list(scored), np.int64), np.array(list(scored.values()), np.float64))
    assert [one.tolist()[:k] for one in kernels.falling(*whole)] == [keys.tolist(), scores.tolist()]


def test_a_score_that_is_no_number_comes_last(kernels: ModuleType) -> None:
    keys, scores = kernels.falling(np.array([1, 2, 3, 4], np.int64), np.array([np.nan, -np.inf, 1.0, np.nan]))

    assert keys.tolist() == [3, 2, 1, 4]
    assert scores.tolist()[:2] == [1.0, -np.inf]


def test_what_no_ranking_can_hold_is_refused(kernels: ModuleType) -> None:
    keys, slots, scores = np.array([7, 8], np.int64), np.array([0, 1], np.uint32), np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="twice"):
        kernels.order_found(((keys, slots, scores), (keys, slots, scores)), 5)
    with pytest.raises(ValueError, match="twice"):
        kernels.falling(np.array([8, 7, 8], np.int64), np.ones(3))
    with pytest.raises(ValueError, match="number"):
        kernels.order_found(((keys, slots, np.array([1.0, np.nan])),), 5)
    with pytest.raises(ValueError, match="out of range"):
        kernels.order_found(((keys, slots + np.uint32(1), scores),), 5)
    with pytest.raises(ValueError, match="at least 1"):
        kernels.order_found(((keys, slots, scores),), 0)
    with pytest.raises(ValueError, match="wrong length"):
        kernels.falling(keys, np.ones(3))
    with pytest.raises(ValueError, match="int64"):
        kernels.union_of((keys.astype(np.int32),))


@given(lists=st.lists(st.lists(st.integers(-5, 5), max_size=8), max_size=4))
def test_a_union_rises_and_has_each_key_once(kernels: ModuleType, lists: list[list[int]]) -> None:
    found = kernels.union_of(tuple(np.array(one, np.int64) for one in lists))

    assert found.dtype == np.int64
    assert found.tolist() == sorted({key for one in lists for key in one})


@given(scored=st.dictionaries(st.integers(0, 30), SCORES, max_size=20), keys=st.sets(st.integers(0, 30)))
def test_scores_that_are_listed_are_taken_and_the_others_are_named(
    kernels: ModuleType, scored: dict[int, float], keys: set[int]
) -> None:
    rising = np.array(sorted(keys), np.int64)
    listed, values = np.array(list(scored), np.int64), np.array(list(scored.values()), np.float64)

    scores, missing, wanted = kernels.filled(rising, listed, values)

    assert scores.tolist() == [scored.get(key, 0.0) for key in rising.tolist()]
    assert wanted.tolist() == [key for key in rising.tolist() if key not in scored]
    assert rising[missing].tolist() == wanted.tolist()
    known = np.array(sorted(scored), np.int64)
    of_known = np.array([scored[key] for key in known.tolist()], np.float64)
    assert kernels.scores_of(known, of_known, listed).tolist() == values.tolist()
    with pytest.raises(ValueError, match="no score"):
        kernels.scores_of(known, of_known, np.array([31], np.int64))


@given(
    held=st.dictionaries(KEYS, st.tuples(st.integers(0, 3), st.integers(0, 2**32 - 1)), max_size=30),
    data=st.data(),
    searches=st.integers(1, 4),
)
def test_keys_that_were_noted_are_found_again_part_by_part(
    kernels: ModuleType, held: dict[int, tuple[int, int]], data: st.DataObject, searches: int
) -> None:
    names = list(held)
    noted = tuple(
        (
            np.array(some, np.int64),
            np.array([held[key][0] for key in some], np.uint32),
            np.array([held[key][1] for key in some], np.uint32),
        )
        for some in (names[at::searches] for at in range(searches))
    )
    wanted = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []

    found = kernels.locate(noted, np.array(wanted, np.int64), 4)

    spots = {wanted[at]: (part, slot) for part, places, slots in found for at, slot in zip(places, slots, strict=True)}
    assert spots == {key: held[key] for key in wanted}
    assert [part for part, _, _ in found] == sorted({held[key][0] for key in wanted})
    strange = data.draw(KEYS.filter(lambda key: key not in held))
    assert kernels.locate(noted, np.array([*wanted, strange], np.int64), 4) is None
