"""The true score: exact to rounding, and of a row alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from support.exact_ranking import reference_top
from twofold.vectors.scan import exact_scores

WIDTHS = st.sampled_from([1, 2, 3, 7, 64, 100, 384, 768])


def rows_and_query(seed: int, count: int, width: int) -> tuple[NDArray[np.float16], NDArray[np.float32]]:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(count, width))
    query = random.normal(size=width)
    return (
        (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16),
        (query / np.linalg.norm(query)).astype(np.float32),
    )


def test_the_worked_number_holds() -> None:
    scores = exact_scores(np.array([0.6, 0.8], dtype=np.float32), np.array([[1, 0]], dtype=np.float16))

    assert scores.tolist() == [0.6000000238418579]


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(0, 30), width=WIDTHS)
def test_scores_are_the_exact_sums_to_rounding(seed: int, count: int, width: int) -> None:
    rows, query = rows_and_query(seed, count, width)

    scores = exact_scores(query, rows)

    assert scores.dtype == np.float64
    expected = [math.fsum(float(a) * float(b) for a, b in zip(query, row, strict=True)) for row in rows]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-15 * width)


@given(seed=st.integers(0, 2**32 - 1), width=WIDTHS, step=st.integers(1, 13), stride=st.integers(1, 3))
def test_a_rows_score_does_not_depend_on_its_neighbors(seed: int, width: int, step: int, stride: int) -> None:
    rows, query = rows_and_query(seed, 40, width)
    whole = exact_scores(query, rows).tolist()

    parts = [exact_scores(query, rows[at : at + step]) for at in range(0, 40, step)]

    assert np.concatenate(parts).tolist() == whole
    assert exact_scores(query, rows[::stride]).tolist() == whole[::stride]
    assert exact_scores(query, np.asfortranarray(rows)).tolist() == whole


def test_a_query_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        exact_scores(np.ones(3, dtype=np.float32), np.ones((2, 4), dtype=np.float16))


def test_the_reference_breaks_ties_by_the_smaller_row() -> None:
    rows = np.array([[0, 1], [1, 0], [1, 0], [0.5, 0.5]], dtype=np.float16)

    found, scores = reference_top(np.array([1, 0], dtype=np.float32), rows, 3)

    assert found.tolist() == [1, 2, 3]
    assert scores.tolist() == [1.0, 1.0, 0.5]
