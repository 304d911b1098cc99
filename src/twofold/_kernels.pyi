# `_kernels_numpy` describes these functions and is their oracle.
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from twofold._kernels_numpy import AskedPart, FeedbackArrays, TermArrays
from twofold._kernels_numpy_candidates import FoundRows, Spots
from twofold._kernels_numpy_nearest import SearchedRows

def bm25_top(
    parts: tuple[AskedPart, ...], weights: NDArray[np.float64], k1: float, k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.uint32], NDArray[np.uint32]]: ...
def bm25_at(
    offsets: NDArray[np.int64],
    terms: NDArray[np.uint32],
    frequencies: NDArray[np.uint16],
    places: NDArray[np.uint32],
    weights: NDArray[np.float64],
    norms: NDArray[np.float64],
    k1: float,
    wanted: NDArray[np.uint32],
) -> NDArray[np.float64]: ...
def occurrences(
    offsets: NDArray[np.int64],
    terms: NDArray[np.uint32],
    frequencies: NDArray[np.uint16],
    places: NDArray[np.uint32],
    wanted: NDArray[np.uint32],
) -> NDArray[np.uint16]: ...
def stretches(
    offsets: NDArray[np.int64], places: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def convex_values(
    bm25: NDArray[np.float64], vector: NDArray[np.float64], vector_weight: float, slope: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[float, float, float, float]]: ...
def feedback_terms(
    parts: tuple[FeedbackArrays, ...],
    places: NDArray[np.int64],
    slots: NDArray[np.int64],
    shares: NDArray[np.float64],
    marks: NDArray[np.uint8],
    asked: NDArray[np.uint32],
    chunks: int,
    average_length: float,
    k1: float,
    b: float,
    terms: int,
) -> (
    NDArray[np.uint32] | tuple[tuple[NDArray[np.float64], NDArray[np.float64]], tuple[NDArray[np.uint32], list[str]]]
): ...
def idfs(passages: int, holding: NDArray[np.int64]) -> NDArray[np.float64]: ...
def turn_over(
    offsets: NDArray[np.int64], slots: NDArray[np.uint32], frequencies: NDArray[np.uint16], count: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint16]]: ...
def find_texts(
    texts: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    places: NDArray[np.uint32],
    asked: NDArray[np.uint8],
    asked_offsets: NDArray[np.int64],
    wanted: NDArray[np.uint64],
) -> NDArray[np.uint32]: ...
def phrase_marks(
    texts: NDArray[np.uint8], offsets: NDArray[np.int64], marks: NDArray[np.uint8], phrase: NDArray[np.uint8]
) -> NDArray[np.uint8]: ...
def letter_kinds(texts: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]: ...
def count_words(
    texts: NDArray[np.uint8], offsets: NDArray[np.int64], words_of: Callable[[bytes], list[bytes]]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]: ...
def edit_distances(
    texts: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    kinds: NDArray[np.uint64],
    word: NDArray[np.uint8],
    most: int,
) -> NDArray[np.uint8]: ...
def count_terms(
    ids: NDArray[np.uint32], parts: tuple[TermArrays, ...]
) -> tuple[NDArray[np.int64], tuple[tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]], ...]]: ...
def mark(slots: NDArray[np.uint32], start: int, end: int, marks: NDArray[np.uint8]) -> None: ...
def top_scores(scores: NDArray[np.float32], allowed: NDArray[np.uint8] | None, k: int) -> NDArray[np.uint32]: ...
def cosines(
    query: NDArray[np.float64], rows: NDArray[np.float16], slots: NDArray[np.uint32]
) -> NDArray[np.float64]: ...
def dots(query: NDArray[np.int8], rows: NDArray[np.int8]) -> NDArray[np.int32]: ...
def coded_query(
    query: NDArray[np.float32],
    rotation: NDArray[np.float32] | None,
    centers: tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...],
) -> tuple[NDArray[np.int8], float, Sequence[tuple[NDArray[np.float32], float, float]]]: ...
def nearest_rows(
    exact: NDArray[np.float64],
    code: NDArray[np.int8],
    step: float,
    k: int,
    looked: int,
    rounding: float,
    margin: float,
    by_scale: float,
    parts: tuple[SearchedRows, ...],
    threads: int,
) -> Sequence[tuple[NDArray[np.uint32], NDArray[np.float64]]]: ...
def order_found(
    parts: tuple[FoundRows, ...], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.uint32], NDArray[np.uint32]]: ...
def falling(keys: NDArray[np.int64], scores: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
def union_of(some: tuple[NDArray[np.int64], ...]) -> NDArray[np.int64]: ...
def filled(
    keys: NDArray[np.int64], listed: NDArray[np.int64], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]: ...
def scores_of(
    keys: NDArray[np.int64], scores: NDArray[np.float64], wanted: NDArray[np.int64]
) -> NDArray[np.float64]: ...
def locate(
    noted: tuple[Spots, ...], wanted: NDArray[np.int64], parts: int
) -> Sequence[tuple[int, NDArray[np.int64], NDArray[np.uint32]]] | None: ...
