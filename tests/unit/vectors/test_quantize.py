"""Codes of vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from twofold.vectors.quantize import ROW_BATCH_SIZE, quantize


def unit_rows(seed: int, count: int, width: int) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def test_the_worked_numbers_hold() -> None:
    codes = quantize(np.array([[0.6, -0.8]], dtype=np.float32))

    assert codes.values.tolist() == [[95, -127]]
    assert codes.scales[0] == pytest.approx(0.8 / 127)


@given(
    seed=st.integers(0, 2**32 - 1), width=st.sampled_from([1, 7, 384]), kind=st.sampled_from([np.float16, np.float32])
)
def test_a_row_is_its_codes_times_its_scale_to_half_a_step(seed: int, width: int, kind: type[np.floating]) -> None:
    rows = unit_rows(seed, 20, width).astype(kind)

    codes = quantize(rows)

    assert (codes.values.dtype.name, codes.scales.dtype.name) == ("int8", "float32")
    assert np.abs(codes.values.astype(int)).max(axis=1).tolist() == [127] * 20
    error = np.abs(codes.values * codes.scales[:, None].astype(np.float64) - rows.astype(np.float64))
    assert np.all(error <= codes.scales[:, None] * 0.50001)


def test_rows_of_zeros_have_codes_of_zeros() -> None:
    codes = quantize(np.zeros((2, 5), dtype=np.float16))

    assert not codes.values.any()
    assert not codes.scales.any()


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_values_that_are_not_finite_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        quantize(np.array([[0.5, bad]], dtype=np.float32))


def test_codes_of_a_row_depend_on_that_row_alone() -> None:
    rows = unit_rows(3, ROW_BATCH_SIZE + 5, 9).astype(np.float16)
    whole = quantize(rows)

    for place in (0, 1, ROW_BATCH_SIZE - 1, ROW_BATCH_SIZE, len(rows) - 1):
        alone = quantize(rows[place : place + 1])
        assert alone.values.tolist() == whole.values[place : place + 1].tolist()
        assert alone.scales.tolist() == whole.scales[place : place + 1].tolist()


def test_no_rows_have_no_codes() -> None:
    none = np.empty((0, 16), dtype=np.float16)

    assert quantize(none).values.shape == (0, 16)
