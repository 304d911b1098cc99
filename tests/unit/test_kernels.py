"""The kernels' worked numbers, their edges, and what they refuse."""

import threading
import time
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from twofold import _kernels_numpy, kernels

SLOTS = np.array([0, 2, 1, 2], dtype=np.uint32)
OFTEN = np.array([3, 1, 1, 1], dtype=np.uint16)
STARTS = np.array([0, 2], dtype=np.int64)
ENDS = np.array([2, 4], dtype=np.int64)
WEIGHTS = np.array([2.0, 0.5])
NORMS = np.full(4, 1.2)
FORWARD: tuple[Any, ...] = (  # the same postings by slot: 0 holds the first term, 1 the second, 2 both, 3 neither
    np.array([0, 1, 2, 4, 4], dtype=np.int64),
    np.array([0, 1, 0, 1], dtype=np.uint32),
    np.array([3, 1, 1, 1], dtype=np.uint16),
    np.array([0, 1], dtype=np.uint32),
)
QUESTION: tuple[Any, ...] = (SLOTS, OFTEN, STARTS, ENDS, WEIGHTS, NORMS, 1.2)


@pytest.fixture(params=["c", "numpy"])
def twin(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "numpy":
        return _kernels_numpy
    built: ModuleType = pytest.importorskip(
        "twofold._kernels", reason="the kernels were not built", exc_type=ImportError
    )
    return built


def changed(place: int, value: object) -> tuple[Any, ...]:
    return (*QUESTION[:place], value, *QUESTION[place + 1 :])


def best_by_bm25(twin: ModuleType, question: Sequence[Any], allowed: Any, k: int) -> tuple[Any, Any]:  # noqa: ANN401
    """Return the slots and scores of the best of one segment, whose keys are its slots."""
    slots, often, starts, ends, weights, norms, k1 = question
    keys = np.arange(np.size(norms), dtype=np.int64)
    _, scores, _, found = twin.bm25_top(((slots, often, starts, ends, norms, allowed, keys),), weights, k1, k)
    return found, scores


def test_the_worked_number_of_bm25_holds(twin: ModuleType) -> None:
    slots, scores = best_by_bm25(twin, QUESTION, None, 1)

    assert slots.tolist() == [0]
    assert scores.tolist() == [3.142857142857143]


def test_occurrences_have_a_row_a_slot_and_a_column_a_term(twin: ModuleType) -> None:
    often = twin.occurrences(*FORWARD, np.array([2, 3, 0], dtype=np.uint32))

    assert often.dtype == np.uint16
    assert often.tolist() == [[1, 1], [0, 0], [3, 0]]


def test_chosen_slots_have_the_worked_number_and_a_term_that_is_nowhere_adds_nothing(twin: ModuleType) -> None:
    places = np.array([0, 2**32 - 1, 1], dtype=np.uint32)
    weights = np.array([2.0, 9.0, 0.5])

    scores = twin.bm25_at(*FORWARD[:3], places, weights, NORMS, 1.2, np.array([0, 3, 2, 0], dtype=np.uint32))

    assert scores.tolist() == [3.142857142857143, 0.0, 2.5, 3.142857142857143]


def test_postings_turned_over_are_the_terms_of_each_slot(twin: ModuleType) -> None:
    found = twin.turn_over(np.array([0, 2, 4], dtype=np.int64), SLOTS, OFTEN, 4)

    assert [one.tolist() for one in found] == [[0, 1, 2, 4, 4], [0, 1, 0, 1], [3, 1, 1, 1]]
    assert [one.dtype.name for one in found] == ["int64", "uint32", "uint16"]


@pytest.mark.parametrize(
    ("offsets", "count"), [([0, 2, 4], 2), ([0, 5, 4], 4), ([1, 2, 4], 4), ([0, 2, 3], 4), ([], 4), ([0, 4], -1)]
)
def test_postings_that_lead_out_are_not_turned_over(twin: ModuleType, offsets: list[int], count: int) -> None:
    with pytest.raises(ValueError, match=r"range|outside|length"):
        twin.turn_over(np.array(offsets, dtype=np.int64), SLOTS, OFTEN, count)


def test_no_terms_find_nothing(twin: ModuleType) -> None:
    none = np.empty(0, dtype=np.int64)
    slots, scores = best_by_bm25(twin, (SLOTS, OFTEN, none, none, np.empty(0), NORMS, 1.2), None, 5)

    assert (len(slots), len(scores)) == (0, 0)
    assert twin.occurrences(*FORWARD[:3], np.empty(0, np.uint32), np.zeros(3, np.uint32)).shape == (3, 0)


def test_an_empty_segment_finds_nothing(twin: ModuleType) -> None:
    zero = np.zeros(1, dtype=np.int64)
    empty = (np.empty(0, np.uint32), np.empty(0, np.uint16), zero, zero, np.ones(1), np.empty(0), 1.2)

    assert len(best_by_bm25(twin, empty, None, 5)[0]) == 0
    assert len(twin.top_scores(np.empty(0, np.float32), None, 5)) == 0
    assert len(twin.dots(np.zeros(4, np.int8), np.zeros((0, 4), np.int8))) == 0


def test_a_mask_acts_before_the_cut(twin: ModuleType) -> None:
    slots, _ = best_by_bm25(twin, QUESTION, np.array([0, 1, 0, 1], dtype=np.uint8), 1)

    assert slots.tolist() == [1]


def test_all_masked_finds_nothing(twin: ModuleType) -> None:
    assert len(best_by_bm25(twin, QUESTION, np.zeros(4, dtype=np.uint8), 3)[0]) == 0


def test_a_k1_of_zero_counts_presence_only(twin: ModuleType) -> None:
    slots, scores = best_by_bm25(twin, (SLOTS, OFTEN, STARTS, ENDS, WEIGHTS, np.zeros(4), 0.0), None, 10)

    assert dict(zip(slots.tolist(), scores.tolist(), strict=True)) == {0: 2.0, 1: 0.5, 2: 2.5}


def test_read_only_arrays_of_a_mapped_file_serve(twin: ModuleType) -> None:
    frozen = tuple(np.copy(value) if isinstance(value, np.ndarray) else value for value in QUESTION)
    for value in frozen:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False

    assert len(best_by_bm25(twin, frozen, None, 9)[0]) == 3


@pytest.mark.parametrize("k", [0, -1, -(2**40)])
def test_a_k_below_one_is_refused(twin: ModuleType, k: int) -> None:
    with pytest.raises(ValueError, match="k must be at least 1"):
        best_by_bm25(twin, QUESTION, None, k)
    with pytest.raises(ValueError, match="k must be at least 1"):
        twin.top_scores(np.zeros(3, np.float32), None, k)


def test_a_k_beyond_all_numbers_gives_everything(twin: ModuleType) -> None:
    assert len(best_by_bm25(twin, QUESTION, None, 2**70)[0]) == 3


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, SLOTS.astype(np.int32)),
        (0, SLOTS.astype(np.uint64)),
        (0, SLOTS.astype(">u4")),
        (0, np.zeros(8, np.uint32)[::2]),
        (0, SLOTS.reshape(2, 2)),
        (0, np.array([0, 2, 1, 4], dtype=np.uint32)),
        (0, np.array([2, 0, 1, 2], dtype=np.uint32)),
        (0, np.array([2, 2, 1, 2], dtype=np.uint32)),
        (0, np.array([0, 2**32 - 1, 1, 2], dtype=np.uint32)),
        (1, OFTEN.astype(np.float16)),
        (1, OFTEN[:3].copy()),
        (2, np.array([-1, 2], dtype=np.int64)),
        (2, np.array([3, 2], dtype=np.int64)),
        (2, STARTS.astype(np.int32)),
        (3, np.array([2, 5], dtype=np.int64)),
        (3, np.array([2, 2**62], dtype=np.int64)),
        (3, ENDS[:1].copy()),
        (4, WEIGHTS.astype(np.float32)),
        (4, np.ones(3)),
        (5, NORMS.astype(np.float32)),
        (5, NORMS[:2].copy()),
        (6, float("nan")),
        (6, float("inf")),
        (6, -0.1),
    ],
)
def test_malformed_arrays_are_refused(twin: ModuleType, place: int, value: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        best_by_bm25(twin, changed(place, value), None, 3)


@pytest.mark.parametrize(
    "allowed", [np.ones(3, np.uint8), np.ones(5, np.uint8), np.ones(4, np.int8), np.ones(4, np.bool_), np.ones((4, 1))]
)
def test_a_malformed_mask_is_refused(twin: ModuleType, allowed: Any) -> None:  # noqa: ANN401
    with pytest.raises(ValueError, match="allowed"):
        best_by_bm25(twin, QUESTION, allowed, 3)
    with pytest.raises(ValueError, match="allowed"):
        twin.top_scores(np.zeros(4, np.float32), allowed, 3)


def test_a_slot_that_is_not_there_is_refused(twin: ModuleType) -> None:
    for slot in (4, 2**32 - 1):
        wanted = np.array([slot], dtype=np.uint32)
        with pytest.raises(ValueError, match="out of range"):
            twin.occurrences(*FORWARD, wanted)
        with pytest.raises(ValueError, match="out of range"):
            twin.bm25_at(*FORWARD, np.ones(2), NORMS, 1.2, wanted)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, FORWARD[0].astype(np.int32)),
        (0, np.empty(0, dtype=np.int64)),
        (0, np.array([0, 5, 5, 5, 5], dtype=np.int64)),
        (0, np.array([-1, 2, 2, 4, 4], dtype=np.int64)),
        (0, np.array([3, 2, 2, 4, 4], dtype=np.int64)),
        (1, SLOTS.astype(np.int32)),
        (2, OFTEN[:3]),
        (3, np.zeros(2, dtype=np.int64)),
    ],
)
def test_a_malformed_forward_index_is_refused(twin: ModuleType, place: int, value: object) -> None:
    given = (*FORWARD[:place], value, *FORWARD[place + 1 :])
    with pytest.raises(ValueError, match=r"offsets|places|frequencies|outside"):
        twin.occurrences(*given, np.zeros(1, np.uint32))
    with pytest.raises(ValueError, match=r"offsets|places|frequencies|outside"):
        twin.bm25_at(*given, np.ones(2), NORMS, 1.2, np.zeros(1, np.uint32))


@pytest.mark.parametrize(
    ("weights", "norms", "k1"), [(np.ones(3), NORMS, 1.2), (np.ones(2), NORMS[:3], 1.2), (np.ones(2), NORMS, -1.0)]
)
def test_weights_and_norms_that_do_not_fit_are_refused(
    twin: ModuleType,
    weights: Any,  # noqa: ANN401
    norms: Any,  # noqa: ANN401
    k1: float,
) -> None:
    with pytest.raises(ValueError, match=r"weights|norms|k1"):
        twin.bm25_at(*FORWARD, weights, norms, k1, np.zeros(1, np.uint32))


@pytest.mark.parametrize("wanted", [np.zeros(1, np.int32), np.zeros((1, 1), np.uint32)])
def test_malformed_wanted_slots_are_refused(twin: ModuleType, wanted: Any) -> None:  # noqa: ANN401
    with pytest.raises(ValueError, match="wanted"):
        twin.occurrences(*FORWARD, wanted)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2), (0, 5)])
def test_a_stretch_outside_the_postings_is_refused(twin: ModuleType, start: int, end: int) -> None:
    marks = np.zeros(4, dtype=np.uint8)
    with pytest.raises(ValueError, match="outside"):
        twin.mark(SLOTS, start, end, marks)


ONE = np.zeros(1, dtype=np.uint32)
TWO_POSTINGS = np.array([0, 2], dtype=np.int64)
TWO_SLOTS = np.array([0, 1], dtype=np.uint32)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ((ONE, None, np.array([0, 3], np.int64), TWO_SLOTS, None), "outside"),
        ((ONE, None, np.array([-1, 2], np.int64), TWO_SLOTS, None), "outside"),
        ((ONE, None, np.array([2, 0], np.int64), TWO_SLOTS, None), "outside"),
        ((ONE, None, np.array([0], np.int64), TWO_SLOTS, None), "outside"),
        ((ONE, np.array([9], np.uint32), TWO_POSTINGS, TWO_SLOTS, None), "outside"),
        ((ONE, None, np.empty(0, np.int64), TWO_SLOTS, None), "offsets|outside"),
        ((ONE, None, TWO_POSTINGS, TWO_SLOTS, np.ones(1, np.uint8)), "out of range"),
        ((ONE, None, TWO_POSTINGS, TWO_SLOTS, np.ones(2, np.int8)), "marks"),
        ((ONE.astype(np.int64), None, TWO_POSTINGS, TWO_SLOTS, None), "places"),
    ],
)
def test_terms_whose_postings_lead_out_are_not_counted(twin: ModuleType, part: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        twin.count_terms(ONE, (part,))


def test_marks_too_few_for_the_slots_are_refused_and_stay_as_they_were(twin: ModuleType) -> None:
    marks = np.zeros(2, dtype=np.uint8)
    with pytest.raises(ValueError, match="out of range"):
        twin.mark(SLOTS, 0, 4, marks)

    assert not marks.any()


def test_marks_that_cannot_be_written_are_refused(twin: ModuleType) -> None:
    marks = np.zeros(4, dtype=np.uint8)
    marks.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        twin.mark(SLOTS, 0, 4, marks)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (np.zeros(3, np.int8), np.zeros((2, 4), np.int8)),
        (np.zeros(0, np.int8), np.zeros((2, 0), np.int8)),
        (np.zeros(4, np.uint8), np.zeros((2, 4), np.int8)),
        (np.zeros(4, np.int8), np.zeros((2, 4), np.uint8)),
        (np.zeros(4, np.int8), np.zeros(4, np.int8)),
        (np.zeros(2, np.int8), np.zeros((2, 4), np.int8)[:, ::2]),
        (np.zeros(131_072, np.int8), np.zeros((1, 131_072), np.int8)),
    ],
)
def test_codes_of_another_shape_are_refused(twin: ModuleType, query: Any, rows: Any) -> None:  # noqa: ANN401
    with pytest.raises(ValueError, match=r"query|rows"):
        twin.dots(query, rows)


@pytest.mark.parametrize(
    ("query", "rows", "slots"),
    [
        (np.zeros(3), np.zeros((2, 4), np.float16), np.zeros(1, np.uint32)),
        (np.zeros(0), np.zeros((2, 0), np.float16), np.zeros(1, np.uint32)),
        (np.zeros(4, np.float32), np.zeros((2, 4), np.float16), np.zeros(1, np.uint32)),
        (np.zeros(4), np.zeros((2, 4), np.int16), np.zeros(1, np.uint32)),
        (np.zeros(4), np.zeros((2, 8), np.float16)[:, ::2], np.zeros(1, np.uint32)),
        (np.zeros(4), np.zeros((2, 4), np.float16), np.zeros(1, np.int64)),
        (np.zeros(4), np.zeros((2, 4), np.float16), np.full(1, 2, np.uint32)),
    ],
)
def test_vectors_and_slots_that_do_not_fit_are_refused(
    twin: ModuleType,
    query: Any,  # noqa: ANN401
    rows: Any,  # noqa: ANN401
    slots: Any,  # noqa: ANN401
) -> None:
    with pytest.raises(ValueError, match=r"query|rows|wanted|slot"):
        twin.cosines(query, rows, slots)


def test_two_threads_get_the_answers_of_one(twin: ModuleType) -> None:
    random = np.random.default_rng(7)
    scores = random.normal(size=200_000).astype(np.float32)
    expected = twin.top_scores(scores, None, 50).tolist()
    answers: list[list[int]] = []

    def ask() -> None:
        answers.extend(twin.top_scores(scores, None, 50).tolist() for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [expected] * 10


def test_the_kernels_in_c_let_other_threads_run() -> None:
    compiled = pytest.importorskip("twofold._kernels", reason="the kernels were not built", exc_type=ImportError)
    rows = np.zeros((400_000, 384), dtype=np.int8)
    spans: list[tuple[float, float]] = []
    ticks: list[float] = []

    def scan() -> None:
        start = time.perf_counter()
        compiled.dots(rows[0].copy(), rows)
        spans.append((start, time.perf_counter()))

    for _ in range(20):  # the other thread may be late once, not always
        thread = threading.Thread(target=scan)
        thread.start()
        while thread.is_alive():
            ticks.append(time.perf_counter())
        thread.join()

    inside = [sum(start < tick < end for tick in ticks) for start, end in spans]
    assert max(inside) > 10


def test_the_choice_is_named_and_serves() -> None:
    try:
        from twofold import _kernels
    except ImportError:
        assert (kernels.KERNELS, kernels.bm25_top) == ("numpy", _kernels_numpy.bm25_top)
    else:
        assert (kernels.KERNELS, kernels.bm25_top) == ("c", _kernels.bm25_top)
