"""Codes of one bit: unbiased, as far off as they say, and the same from both kernels."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from twofold import _kernels_numpy_nearest as twin
from twofold._kernels_numpy_vectors import bit_bounds, fine_reaching
from twofold.kernels import SearchedRows, coded_query, nearest_rows
from twofold.vectors import rabitq
from twofold.vectors.quantize import quantize
from twofold.vectors.rabitq import DEVIATIONS, BitCodes, bit_codes, fine_width, rotation, rounding_of


def unit_rows(seed: int, count: int, width: int, lean: float = 0.0) -> NDArray[np.float16]:
    """Make unit rows; with `lean` all of them lie to one side, as embeddings of text do."""
    rows = np.random.default_rng(seed).normal(size=(count, width)) + lean
    unit: NDArray[np.float16] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)
    return unit


@pytest.mark.parametrize("width", [1, 63, 64, 65, 384])
def test_a_rotation_keeps_lengths_and_angles(width: int) -> None:
    turn = rotation(width).astype(np.float64)

    assert turn.shape == (width, -(-width // 64) * 64)
    np.testing.assert_allclose(turn @ turn.T, np.eye(width), atol=1e-5)


def compared(query: NDArray[np.float32], codes: BitCodes) -> tuple[NDArray[np.float32], float, float]:
    """Return what a query is compared with bits by: apart, base, and how far an estimate may be off by its spread."""
    _, _, ((apart, base, length),) = coded_query(query, rotation(len(query)), ((codes.center, codes.turned_center),))
    return apart, base, DEVIATIONS * length


@given(seed=st.integers(0, 2**32 - 1), width=st.sampled_from([1, 63, 64, 384]), scale=st.sampled_from([0.0, 1.0, 1e-3]))
def test_both_kernels_code_a_query_alike_and_as_rows_are_coded(seed: int, width: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    query, center = (random.normal(size=(2, width)) * scale).astype(np.float32)
    turn = rotation(width)
    centers = ((center, center @ turn), (query, query @ turn))
    rows = quantize(query[None, :])

    for search in (coded_query, twin.coded_query):
        code, step, made = search(query, turn, centers)
        assert (code.tolist(), step) == (rows.values[0].tolist(), float(rows.scales[0]))
        assert [apart.shape for apart, _, _ in made] == [turn.shape[1:], turn.shape[1:]]
        np.testing.assert_allclose(made[0][0], (query - center) @ turn, atol=1e-5 * scale)
        assert made[0][1] == pytest.approx(float(center.astype(np.float64) @ query), abs=1e-9)
        assert made[0][2] == pytest.approx(float(np.linalg.norm((query - center).astype(np.float64) @ turn)), rel=1e-4)
        assert made[1][2] == pytest.approx(0.0, abs=1e-5 * scale)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_query_that_is_no_numbers_is_refused(bad: float) -> None:
    for search in (coded_query, twin.coded_query):
        with pytest.raises(ValueError, match="not finite"):
            search(np.array([0.5, bad], dtype=np.float32), None, ())


class Estimates(NamedTuple):
    """The estimates of all rows, and what each row's is at most."""

    scores: NDArray[np.float32]
    bounds: NDArray[np.float32]


def estimate(query: NDArray[np.float32], codes: BitCodes) -> Estimates:
    """Estimate the cosine of every row."""
    apart, base, length = compared(query, codes)
    arrays = (codes.bits, codes.scales, codes.offsets, codes.spreads)
    bounds, (_, scores), _ = bit_bounds(apart, *arrays, base, length, rounding_of(len(query)), None, max(len(codes), 1))
    return Estimates(scores, bounds)


@pytest.mark.parametrize("lean", [0.0, 1.0])
@pytest.mark.parametrize("width", [128, 384, 1000])
def test_two_bits_rule_out_what_one_leaves_and_nothing_that_counts(width: int, lean: float) -> None:
    rows = unit_rows(3, 4000, width, lean)
    query = unit_rows(4, 1, width, lean)[0].astype(np.float32)
    codes = bit_codes(rows)
    apart, base, length = compared(query, codes)
    arrays = (codes.bits, codes.scales, codes.offsets, codes.spreads)
    by_scale = rounding_of(width)
    bounds, _, inners = bit_bounds(apart, *arrays, base, length, by_scale, None, 1)
    exact = rows.astype(np.float64) @ query
    least = float(np.sort(exact)[-10])
    left = np.flatnonzero(bounds >= np.float32(least)).astype(np.uint32)

    found, _ = fine_reaching((apart, base, length, by_scale), codes.fine, inners, left, least)

    assert set(np.flatnonzero(exact >= least).tolist()) <= set(found.tolist()) <= set(left.tolist())
    assert len(found) < 0.5 * len(left)


def test_a_bound_by_two_bits_is_the_one_that_was_worked_out_by_hand() -> None:
    turned_query = np.zeros(64, dtype=np.float32)
    turned_query[:4] = [3.0, -8.0, 7.0, 0.0]  # a step is 1: these are the levels
    fine = np.zeros((1, 8), dtype=np.uint64)
    fine[0, 0] = 0b0110  # second bits at 1 and 2
    fine[0, 1:3] = np.array([2.0, 4.0, 6.0, 0.5], np.float32).view(np.uint64)
    inners = np.array([16.0], np.float32)
    # second = 2 · (7 - 8) - 2 = -4, the estimate .5 + .125 + 2 · (16 - 2) = 28.625, and the root of 3² + 4² is 5
    query = (turned_query, 0.125, 0.5, 1.0)

    reached = [fine_reaching(query, fine, inners, np.zeros(1, np.uint32), least) for least in (33.625, 33.626)]

    assert [slots.tolist() for slots, _ in reached] == [[0], []]
    assert [bounds.tolist() for _, bounds in reached] == [[33.625], []]


@pytest.mark.parametrize("lean", [0.0, 1.0])
@pytest.mark.parametrize("width", [128, 384, 1000])
def test_errors_are_centered_and_as_large_as_the_spread_says(width: int, lean: float) -> None:
    rows = unit_rows(3, 4000, width, lean)
    query = unit_rows(4, 1, width, lean)[0].astype(np.float32)

    guess = estimate(query, bit_codes(rows))
    slack = guess.bounds - guess.scores
    errors = (guess.scores - rows.astype(np.float64) @ query) / (slack / rabitq.DEVIATIONS)

    assert abs(errors.mean()) < 0.1
    assert 0.9 < errors.std() < 1.1
    assert np.mean(np.abs(errors) > rabitq.DEVIATIONS) < 0.001


def test_a_row_at_the_center_is_estimated_exactly() -> None:
    rows = np.repeat(unit_rows(5, 1, 64), 9, axis=0)
    query = unit_rows(6, 1, 64)[0].astype(np.float32)

    guess = estimate(query, bit_codes(rows))

    np.testing.assert_allclose(guess.scores, rows.astype(np.float64) @ query, atol=1e-3)


def test_no_rows_have_no_estimates() -> None:
    codes = bit_codes(np.empty((0, 384), dtype=np.float16))

    assert len(codes) == 0
    assert codes.bits.shape == rabitq.words_of(0, 384) == (0, 48)
    query = np.ones(384, dtype=np.float32)
    assert estimate(query, codes).bounds.shape == (0,)


def random_part(random: np.random.Generator, rows: int, width: int, share: float | None, *, bits: bool) -> SearchedRows:
    """Make rows whose bits and codes say what they like: only what is compared with what decides."""
    vectors = random.normal(size=(rows, width)).astype(np.float16)
    codes = random.integers(-127, 128, (rows, width)).astype(np.int8)
    allowed = None if share is None else (random.random(rows) < share).astype(np.uint8)
    plain = (vectors, codes, random.random(rows).astype(np.float32), allowed)
    if not bits:
        return SearchedRows(*plain)
    words = -(-width // 64)
    held = random.integers(0, 2**64, (-(-rows // 8), 8 * words), dtype=np.uint64)
    scales, offsets, spreads = random.normal(size=(3, rows)).astype(np.float32)
    apart = random.normal(size=64 * words).astype(np.float32)
    fine = random.integers(0, 2**64, (rows, fine_width(width)), dtype=np.uint64)
    fine[:, words : words + 2] = random.normal(size=(rows, 4)).astype(np.float32).view(np.uint64)
    return SearchedRows(*plain, held, scales, offsets, spreads, fine, apart, *random.normal(size=2).tolist())


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.sampled_from([0, 1, 7, 8, 9, 1025, 2050]), max_size=3),
    width=st.sampled_from([3, 64, 384, 513]),
    k=st.sampled_from([1, 20, 100_000]),
    share=st.sampled_from([None, 0.02, 0.5]),
    threads=st.sampled_from([1, 2]),
)
def test_both_kernels_find_the_same_rows(
    seed: int, sizes: list[int], width: int, k: int, share: float | None, threads: int
) -> None:
    random = np.random.default_rng(seed)
    parts = tuple(random_part(random, rows, width, share, bits=random.random() < 0.7) for rows in sizes)
    query = random.normal(size=width)
    code = random.integers(-127, 128, width).astype(np.int8)
    numbers = (0.001, k, 2 * k + 20, 1.25, 1e-4, float(random.normal()))

    found = nearest_rows(query, code, *numbers, parts, threads)
    expected = twin.nearest_rows(query, code, *numbers, parts, threads)

    assert [(one.dtype.name, other.dtype.name) for one, other in found] == [("uint32", "float64")] * len(parts)
    for (slots, scores), (their_slots, theirs) in zip(found, expected, strict=True):
        assert sorted(zip(slots.tolist(), scores.tolist(), strict=True)) == sorted(
            zip(their_slots.tolist(), theirs.tolist(), strict=True)
        )


def told(
    rows: int, scores: NDArray[np.float32], cosines: NDArray[np.float64]
) -> tuple[SearchedRows, NDArray[np.float64]]:
    """Make rows that bits estimate at `scores`, within .05, and a query whose cosines with them are `cosines`."""
    vectors = np.zeros((rows, 64), np.float16)
    vectors[:, 0] = cosines
    fine = np.zeros((rows, 8), np.uint64)
    numbers = np.zeros((rows, 4), np.float32)
    numbers[:, 3] = 2.0  # two bits rule nothing out
    fine[:, 1:3] = numbers.view(np.uint64)
    part = SearchedRows(
        vectors,
        np.zeros((rows, 64), np.int8),
        np.full(rows, 1000.0, np.float32),  # nor do eight
        None,
        np.zeros((-(-rows // 8), 8), np.uint64),
        np.zeros(rows, np.float32),
        scores.astype(np.float32),
        np.full(rows, 0.05, np.float32),
        fine,
        np.zeros(64, np.float32),
        0.0,
        1.0,
    )
    query = np.zeros(64)
    query[0] = 1.0
    return part, query


@pytest.mark.parametrize("threads", [1, 2])
def test_a_guess_of_the_floor_that_was_too_high_loses_no_row(threads: int) -> None:
    # the first 5,000 rows are estimated .04 too high, and the last twenty, the best, too low: their bound is .80
    scores = np.full(5020, 0.82, np.float32)
    scores[5000:] = 0.75
    part, query = told(5020, scores, np.where(np.arange(5020) < 5000, 0.78, 0.796875))
    code = np.zeros(64, np.int8)

    for search in (nearest_rows, twin.nearest_rows):
        ((slots, found),) = search(query, code, 1.0, 10, 40, 1.0, 1e-4, 1.0, (part,), threads)

        assert sorted(slots.tolist()) == list(range(5000, 5020))
        assert set(found.tolist()) == {0.796875}


def test_a_row_whose_bound_is_below_its_cosine_counts_for_its_bound() -> None:
    scores = np.array([0.25, 0.5, 0.75], np.float32)
    part, query = told(3, scores, np.array([0.9375, 0.53125, 0.5]))  # the bounds are .3, .55 and .8
    code = np.zeros(64, np.int8)

    for search in (nearest_rows, twin.nearest_rows):
        found = [search(query, code, 1.0, k, 2, 1.0, 1e-4, 1.0, (part,), 1)[0] for k in (1, 2, 3)]

        assert [sorted(slots.tolist()) for slots, _ in found] == [[1], [1, 2], [0, 1, 2]]
        assert sorted(found[2][1].tolist()) == [0.5, 0.53125, 0.9375]


def test_a_bound_is_the_one_that_was_worked_out_by_hand() -> None:
    rotated = np.zeros(64, dtype=np.float32)
    rotated[:4] = [3.0, -8.0, 7.0, 0.0]  # a step is 1: these are the levels
    bits = np.zeros((1, 8), dtype=np.uint64)
    bits[0, :2] = [0b0101, 0b1010]  # the first row has coordinates 0 and 2, the second 1 and 3
    scales, offsets = np.array([2.0, 1.0], np.float32), np.array([0.5, 0.25], np.float32)
    spreads = np.array([3.0, 6.0], np.float32)

    bounds, (slots, scores), inners = bit_bounds(rotated, bits, scales, offsets, spreads, 0.125, 0.5, 1.0, None, 2)

    assert slots.tolist() == [0, 1]
    assert inners.tolist() == [2 * 10 - 2, 2 * -8 - 2]
    assert scores.tolist() == [0.5 + 0.125 + 2.0 * (2 * 10 - 2), 0.25 + 0.125 + 1.0 * (2 * -8 - 2)]
    assert (bounds - scores).tolist() == [2.5, np.float32(bounds[1] - scores[1])]  # the root of 1.5² + 2²
    assert bounds[1] == pytest.approx(-17.625 + (3.0**2 + 1.0**2) ** 0.5)


@pytest.mark.parametrize(
    "change",
    [
        {"vectors": np.zeros((4, 63), np.float16)},
        {"vectors": np.zeros((4, 64), np.float32)},
        {"codes": np.zeros((3, 64), np.int8)},
        {"scales": np.zeros(5, np.float32)},
        {"allowed": np.zeros(3, np.uint8)},
        {"apart": np.zeros(0, np.float32)},
        {"apart": np.zeros(65, np.float32)},
        {"apart": np.zeros(64, np.float64)},
        {"bits": np.zeros((2, 8), np.uint64)},
        {"bits": np.zeros((1, 16), np.uint64)},
        {"bits": np.zeros(8, np.uint64)},
        {"bit_scales": np.zeros(4, np.float64)},
        {"bit_offsets": np.zeros(3, np.float32)},
        {"bit_spreads": np.zeros(5, np.float32)},
        {"fine": np.zeros((3, 8), np.uint64)},
        {"fine": np.zeros((4, 2), np.uint64)},
        {"fine": np.zeros((4, 8), np.int64)},
        {"fine": np.zeros(8, np.uint64)},
    ],
)
def test_arrays_that_do_not_fit_are_refused_by_both(change: dict[str, NDArray[np.generic]]) -> None:
    part = SearchedRows(
        vectors=np.zeros((4, 64), np.float16),
        codes=np.zeros((4, 64), np.int8),
        scales=np.zeros(4, np.float32),
        allowed=None,
        bits=np.zeros((1, 8), np.uint64),
        bit_scales=np.zeros(4, np.float32),
        bit_offsets=np.zeros(4, np.float32),
        bit_spreads=np.zeros(4, np.float32),
        fine=np.zeros((4, 8), np.uint64),
        apart=np.zeros(64, np.float32),
    )
    query, code = np.zeros(64), np.zeros(64, np.int8)
    for search in (nearest_rows, twin.nearest_rows):
        assert len(search(query, code, 1.0, 1, 2, 1.0, 0.0, 1.0, (part,), 1)) == 1
        with pytest.raises(ValueError, match=r"must be|differ|wrong length"):
            search(query, code, 1.0, 1, 2, 1.0, 0.0, 1.0, (part._replace(**change),), 1)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="k must be"):
            search(query, code, 1.0, 0, 2, 1.0, 0.0, 1.0, (part,), 1)


def test_codes_are_made_in_parts_as_they_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = unit_rows(7, 300, 70)
    whole = bit_codes(rows)
    monkeypatch.setattr(rabitq, "ROW_BATCH_SIZE", 64)
    parts = bit_codes(rows)

    assert whole.bits.tolist() == parts.bits.tolist()
    assert whole.fine[:, :2].tolist() == parts.fine[:, :2].tolist()
    for one, other in zip(numbers_of(whole), numbers_of(parts), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def numbers_of(codes: BitCodes) -> tuple[NDArray[np.float32], ...]:
    return codes.center, codes.scales, codes.offsets, codes.spreads, rabitq.fine_numbers(codes.fine, len(codes.center))
