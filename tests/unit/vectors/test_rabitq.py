"""Codes of one bit: unbiased, as far off as they say, and the same from both kernels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from twofold import _kernels_numpy as twin
from twofold.kernels import bit_scores
from twofold.vectors import rabitq
from twofold.vectors.rabitq import BitCodes, bit_codes, estimate, rotation


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


@pytest.mark.parametrize("lean", [0.0, 1.0])
@pytest.mark.parametrize("width", [128, 384, 1000])
def test_errors_are_centered_and_as_large_as_the_spread_says(width: int, lean: float) -> None:
    rows = unit_rows(3, 4000, width, lean)
    query = unit_rows(4, 1, width, lean)[0].astype(np.float32)

    guess = estimate(query, bit_codes(rows))
    slack = guess.codes.spreads * guess.by_spread + guess.codes.scales * guess.by_scale
    errors = (guess.scores - rows.astype(np.float64) @ query) / (slack / rabitq.DEVIATIONS)

    assert abs(errors.mean()) < 0.1
    assert 0.5 < errors.std() < 1.1
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
    assert estimate(np.ones(384, dtype=np.float32), codes).scores.shape == (0,)


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.sampled_from([0, 1, 7, 8, 9, 70_001]),
    words=st.sampled_from([1, 2, 6, 12]),
)
def test_both_kernels_give_the_same_bits(seed: int, rows: int, words: int) -> None:
    random = np.random.default_rng(seed)
    planes = random.integers(0, 2**64, 4 * words, dtype=np.uint64)
    bits = random.integers(0, 2**64, (-(-rows // 8), 8 * words), dtype=np.uint64)
    scales, offsets = random.normal(size=(2, rows)).astype(np.float32)
    numbers = random.normal(size=4).tolist()

    ours = bit_scores(planes, bits, scales, offsets, *numbers)

    assert ours.dtype == np.float32
    assert ours.tolist() == twin.bit_scores(planes, bits, scales, offsets, *numbers).tolist()


def test_a_score_is_the_one_that_was_worked_out_by_hand() -> None:
    planes = np.array([0b0001, 0b0011, 0b0000, 0b0100], dtype=np.uint64)  # levels 3, 2, 8 and 0 of four coordinates
    bits = np.zeros((1, 8), dtype=np.uint64)
    bits[0, :2] = [0b0101, 0b1010]  # the first row has coordinates 0 and 2, the second 1 and 3
    scales, offsets = np.array([2.0, 1.0], np.float32), np.array([0.5, 0.25], np.float32)

    scores = bit_scores(planes, bits, scales, offsets, 0.125, 1.0, 0.5, 3.0)

    assert scores.tolist() == [0.5 + 0.125 + 2.0 * (11 + 1.0 - 3.0), 0.25 + 0.125 + 1.0 * (2 + 1.0 - 3.0)]


@pytest.mark.parametrize(
    "change",
    [
        {"planes": np.zeros(0, np.uint64)},
        {"planes": np.zeros(5, np.uint64)},
        {"planes": np.zeros(4, np.uint32)},
        {"bits": np.zeros((2, 8), np.uint64)},
        {"bits": np.zeros((1, 16), np.uint64)},
        {"bits": np.zeros(8, np.uint64)},
        {"scales": np.zeros(4, np.float64)},
        {"offsets": np.zeros(3, np.float32)},
    ],
)
def test_arrays_that_do_not_fit_are_refused_by_both(change: dict[str, NDArray[np.generic]]) -> None:
    arrays: dict[str, NDArray[np.generic]] = {
        "planes": np.zeros(4, np.uint64),
        "bits": np.zeros((1, 8), np.uint64),
        "scales": np.zeros(4, np.float32),
        "offsets": np.zeros(4, np.float32),
    }
    for score in (bit_scores, twin.bit_scores):
        with pytest.raises(ValueError, match=r"must be|differ"):
            score(*(arrays | change).values(), 0.0, 0.0, 0.0, 0.0)  # type: ignore[arg-type, call-arg]


def test_codes_are_made_in_parts_as_they_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = unit_rows(7, 300, 70)
    whole = bit_codes(rows)
    monkeypatch.setattr(rabitq, "ROW_BATCH_SIZE", 64)
    parts = bit_codes(rows)

    assert whole.bits.tolist() == parts.bits.tolist()
    for one, other in zip(numbers_of(whole), numbers_of(parts), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def numbers_of(codes: BitCodes) -> tuple[NDArray[np.float32], ...]:
    return codes.center, codes.scales, codes.offsets, codes.spreads
