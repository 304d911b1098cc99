"""The nearest rows: what codes rule out, and that a row's score never depends on the rows around it."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from support.exact_ranking import reference_top
from twofold import _kernels_numpy_nearest as in_numpy
from twofold import kernels
from twofold._kernels_numpy_vectors import codes_at
from twofold.domain.types import Scores
from twofold.vectors import scan as scanning
from twofold.vectors.quantize import Codes, Halves, quantize
from twofold.vectors.rabitq import BitCodes, bit_codes
from twofold.vectors.scan import Mask, Near, Plane, Slots, exact_scores, nearest, rescored_count


def meaningful_rows(seed: int, count: int, width: int = 384) -> NDArray[np.float16]:
    """Make unit rows that lie near a few dozen directions, as embeddings of text do, rather than all around."""
    random = np.random.default_rng(seed)
    topics = random.normal(size=(40, 24))
    held = topics[random.integers(0, 40, count)] + 0.7 * random.normal(size=(count, 24))
    rows = held @ random.normal(size=(24, width)) + 1.5 * random.normal(size=(count, width))
    unit: NDArray[np.float16] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)
    return unit


def plane_of(rows: Halves, allowed: Mask | None = None, *, bits: bool = False) -> Plane:
    """Make a plane of rows."""
    return Plane(rows, quantize(rows), bit_codes(rows) if bits else None, allowed)


def best(found: Near, k: int) -> list[tuple[float, int]]:
    """Return the k best of what was found, with the scores turned round."""
    return sorted(zip((-found.scores).tolist(), found.slots.tolist(), strict=True))[:k]


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.sampled_from([1, 50, 3000]),
    k=st.sampled_from([1, 10, 5000]),
    share=st.sampled_from([None, 0.0, 0.05, 0.5]),
)
def test_the_nearest_rows_are_those_of_the_exact_ranking(seed: int, count: int, k: int, share: float | None) -> None:
    rows = meaningful_rows(seed, count, width=16)
    query = rows[0].astype(np.float32)
    allowed = None if share is None else (np.random.default_rng(seed).random(count) < share).astype(np.uint8)
    open_to = np.arange(count, dtype=np.uint32) if allowed is None else np.flatnonzero(allowed).astype(np.uint32)
    exact = Near(open_to, exact_scores(query, rows[open_to]))

    (found,) = nearest(query, [plane_of(rows, allowed)], k)

    assert [part.dtype.name for part in found] == ["uint32", "float64"]
    assert best(found, k) == best(exact, k)


@pytest.mark.parametrize("bits", [False, True])
def test_rows_that_cannot_be_among_the_nearest_are_not_scored_truly(
    bits: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scored = []

    def counting(query: Scores, rows: Halves, slots: Slots) -> Scores:
        scored.append(len(slots))
        return kernels.cosines(query, rows, slots)

    monkeypatch.setattr(in_numpy, "cosines", counting)
    monkeypatch.setattr(scanning, "nearest_rows", in_numpy.nearest_rows)
    rows = meaningful_rows(3, 20_000)
    (found,) = nearest(rows[0].astype(np.float32), [plane_of(rows, bits=bits)], 10)

    assert len(found.slots) == 10
    assert all(count <= 3 * rescored_count(10) for count in scored)


@given(seed=st.integers(0, 2**32 - 1))
def test_scores_of_codes_are_near_the_true_ones(seed: int) -> None:
    rows = meaningful_rows(seed, 300)
    query = rows[0].astype(np.float32)

    coded, codes = quantize(query[None, :]), quantize(rows)
    every = np.arange(300, dtype=np.uint32)
    found = codes_at(coded.values[0], codes.values, codes.scales, float(coded.scales[0]), every)

    np.testing.assert_allclose(found, exact_scores(query, rows), rtol=0, atol=0.01)


@given(seed=st.integers(0, 2**32 - 1), width=st.sampled_from([3, 384, 1500]))
def test_numkong_and_our_kernel_multiply_codes_alike(seed: int, width: int) -> None:
    values = np.random.default_rng(seed).integers(-127, 128, (50, width)).astype(np.int8)

    assert in_numpy.dots_in_numkong(values[0], values).tolist() == kernels.dots(values[0], values).tolist()


def one_direction(seed: int, count: int) -> NDArray[np.float16]:
    """Make rows that differ from one direction by a little, each its own way."""
    rows = np.eye(1, 384) + 0.02 * np.random.default_rng(seed).normal(size=(count, 384))
    unit: NDArray[np.float16] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)
    return unit


def clusters(seed: int, count: int) -> NDArray[np.float16]:
    """Make rows in a dozen tight clusters, a tenth of them the same row again."""
    random = np.random.default_rng(seed)
    centers = random.normal(size=(12, 384))
    rows = centers[random.integers(0, 12, count)] + 0.05 * random.normal(size=(count, 384))
    rows[: count // 10] = rows[0]
    unit: NDArray[np.float16] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)
    return unit


@pytest.mark.parametrize("make", [meaningful_rows, one_direction, clusters])
@pytest.mark.parametrize("k", [1, 10, 100])
def test_bits_first_finds_what_the_exact_ranking_finds(
    make: Callable[[int, int], NDArray[np.float16]], k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "BITS_ABOVE", 1000)
    made = make(12, 20_010)
    rows, queries = made[10:], made[:10].astype(np.float32)
    plane = plane_of(rows, bits=True)

    for query in queries:
        least = reference_top(query, rows, k)[1][-1]
        (found,) = nearest(query, [plane], k)

        assert np.sort(found.scores)[::-1][:k].min() == least


@given(seed=st.integers(0, 2**32 - 1), cuts=st.lists(st.integers(0, 3000), max_size=4), k=st.sampled_from([1, 10, 200]))
def test_the_nearest_do_not_depend_on_how_rows_are_spread(seed: int, cuts: list[int], k: int) -> None:
    assert_spread_makes_no_difference(seed, cuts, k, lambda _: None)


@given(seed=st.integers(0, 2**32 - 1), cuts=st.lists(st.integers(0, 3000), max_size=4), k=st.sampled_from([1, 10, 200]))
def test_nor_where_bits_are_scanned_first_in_some_segments(seed: int, cuts: list[int], k: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "BITS_ABOVE", 10)
        assert_spread_makes_no_difference(seed, cuts, k, lambda rows: bit_codes(rows) if len(rows) > 500 else None)


def assert_spread_makes_no_difference(
    seed: int, cuts: list[int], k: int, bits: Callable[[NDArray[np.float16]], BitCodes | None]
) -> None:
    rows = meaningful_rows(seed, 3000)
    query = rows[0].astype(np.float32)
    allowed = (np.random.default_rng(seed).random(3000) < 0.9).astype(np.uint8)
    bounds = [0, *sorted(cuts), 3000]
    stretches = [slice(start, end) for start, end in pairwise(bounds)]
    planes = [Plane(rows[part], quantize(rows[part]), bits(rows[part]), allowed[part].copy()) for part in stretches]

    (whole,) = nearest(query, [plane_of(rows, allowed)], k)
    parts = nearest(query, planes, k)

    found = [
        (-float(score), part.start + slot)
        for part, held in zip(stretches, parts, strict=True)
        for slot, score in zip(held.slots.tolist(), held.scores.tolist(), strict=True)
    ]
    assert sorted(found)[:k] == best(whole, k)


@pytest.mark.parametrize("make", [meaningful_rows, clusters])
@pytest.mark.parametrize("share", [None, 0.5])
def test_two_threads_find_what_one_finds(
    make: Callable[[int, int], NDArray[np.float16]], share: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "BITS_ABOVE", 100)
    monkeypatch.setattr(scanning, "has_idle_processor", lambda: True)
    rows = make(16, 20_013)
    allowed = None if share is None else (np.random.default_rng(1).random(len(rows)) < share).astype(np.uint8)
    plane = plane_of(rows, allowed, bits=True)

    for query in rows[:5].astype(np.float32):
        each = []
        for parallel_from in (10**6, 100):
            monkeypatch.setattr(scanning, "PARALLEL_FROM", parallel_from)
            (found,) = nearest(query, [plane], 10, alone=True)
            each.append(best(found, 10))
        assert each[0] == each[1]


@pytest.mark.parametrize("bits_above", [1, 10**6])
def test_a_mask_acts_before_the_cut_on_both_planes(bits_above: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "BITS_ABOVE", bits_above)
    rows = meaningful_rows(15, 100)
    allowed = np.zeros(100, dtype=np.uint8)
    allowed[[40, 41]] = 1

    (found,) = nearest(rows[0].astype(np.float32), [plane_of(rows, allowed, bits=True)], 2)

    assert sorted(found.slots.tolist()) == [40, 41]


def test_no_segment_and_an_empty_segment_have_no_nearest_rows() -> None:
    none = Codes(np.empty((0, 16), np.int8), np.empty(0, np.float32))
    query = np.full(16, 0.25, dtype=np.float32)

    assert list(nearest(query, [], 5)) == []
    assert len(nearest(query, [Plane(np.empty((0, 16), np.float16), none, None, None)], 5)[0].slots) == 0


def test_a_k_below_one_is_refused() -> None:
    rows = meaningful_rows(16, 10)
    with pytest.raises(ValueError, match="k must be at least 1"):
        nearest(rows[0].astype(np.float32), [], 0)
