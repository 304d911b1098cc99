"""Checklist 33, C5: a list with few hits or none neither breaks a fusion nor loses what it found, through searches."""

from itertools import product

import pytest

from support.exact_scores import COSINE_TOLERANCE, QUESTION, exact_index
from twofold import Index
from twofold.ranking.fusion import FUSIONS, NORMALIZERS

COSINES = {"c": 0.9, "a": 0.8, "b": 0.1}
NEGATIVE = {"near": -0.2, "far": -0.3, "worded": -0.9}


@pytest.fixture(scope="module")
def wordless() -> Index:
    """Return an index in which no passage holds the word of the question."""
    return exact_index({}, COSINES)


@pytest.fixture(scope="module")
def single() -> Index:
    """Return an index in which one passage holds the word, and it lies far from the question by meaning."""
    return exact_index({"b": 1}, COSINES)


@pytest.mark.parametrize("form", FUSIONS)
def test_an_empty_sparse_list_leaves_the_dense_order(wordless: Index, form: str) -> None:
    for bm25_norm, vector_norm in product(NORMALIZERS, NORMALIZERS):
        said = {"fusion.method": form, "fusion.parameters": {"bm25_norm": bm25_norm, "vector_norm": vector_norm}}
        found = wordless.search(QUESTION, settings=said)

        assert [hit.source for hit in found.hits] == ["c", "a", "b"], said
        assert not found.warnings


@pytest.mark.parametrize("form", FUSIONS)
def test_nothing_in_either_list_is_an_empty_result(form: str) -> None:
    with exact_index({}, {}) as index:
        assert index.search(QUESTION, settings={"fusion.method": form}).hits == ()


@pytest.mark.parametrize("norm", ["max", "minmax", "theoretical"])
@pytest.mark.parametrize("repeats", [{"b": 1}, {"a": 2, "b": 2}])
def test_a_single_hit_or_hits_all_alike_become_1_and_not_0(norm: str, repeats: dict[str, int]) -> None:
    said = {"fusion.method": "linear", "fusion.vector_weight": 0.5, "fusion.parameters": {"bm25_norm": norm}}
    with exact_index(repeats, COSINES) as index:
        traces = {hit.source: hit.trace for hit in index.search(QUESTION, settings=said).hits}

    for source in repeats:
        bm25 = traces[source].bm25
        assert bm25 is not None
        assert bm25.part == 0.5


@pytest.mark.parametrize("norm", ["clip", "max", "minmax", "theoretical", "sigmoid", "dbsf"])
def test_a_single_hit_lifts_its_passage(single: Index, norm: str) -> None:
    said = {"fusion.method": "linear", "fusion.vector_weight": 0.1, "fusion.parameters": {"bm25_norm": norm}}

    assert single.search(QUESTION, settings=said).hits[0].source == "b"


@pytest.mark.parametrize(("profile", "score"), [("aanae", 0.35), ("localgpt", 0.30)])
def test_what_one_list_lacks_adds_nothing_also_where_cosines_are_negative(profile: str, score: float) -> None:
    said = {"search.candidates": "2", "search.k": 2, "search.default_filter": "", "rerank.model": "none"}
    with exact_index({"worded": 1}, NEGATIVE) as index:
        found = index.search(QUESTION, profile=profile, settings=said)

    (first, second) = found.hits
    assert first.source == "worded"
    assert first.score == pytest.approx(score)  # not in the vector list of two: 0, not the -.3 of the last
    assert first.trace.vector is not None
    assert (first.trace.vector.rank, first.trace.vector.normalized) == (None, 0.0)
    assert second.source == "near"
    assert second.score == pytest.approx(-0.2 * (1.0 if profile == "aanae" else 0.7), abs=COSINE_TOLERANCE)


@pytest.mark.parametrize(("form", "score"), [("linear", 0.4), ("dbsf", 0.5)])
def test_nor_where_values_lie_about_a_mean(form: str, score: float) -> None:
    said = {
        "fusion.method": form,
        "fusion.vector_weight": 0.6,
        "fusion.parameters": {"vector_norm": "zscore"},
        "search.candidates": "2",
    }
    with exact_index({"worded": 1}, NEGATIVE) as index:
        found = {hit.source: hit for hit in index.search(QUESTION, k=2, settings=said).hits}

    vector = found["worded"].trace.vector
    assert vector is not None
    assert (vector.rank, vector.part) == (None, 0.0)
    assert found["worded"].score == pytest.approx(score)  # its one word alone
