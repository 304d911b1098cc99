"""What feedback adds is the same to the last bit by the kernel and by the formula, whatever the passages hold."""

import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.factories import entry, fingerprint
from twofold.domain.access import Viewer, viewer_of
from twofold.domain.errors import NotFoundError
from twofold.domain.types import Ranking, TermQuery
from twofold.kernels import KERNELS
from twofold.ranking.prf import PrfParameters, prf_terms, shares, with_gains
from twofold.search.prf import expand_with_prf, impacts_in
from twofold.stores.local.store import LocalStore

WORDS = ("cat", "dog", "mat", "log", "sat", "café", "caff", "über", "猫です", "zx", "a1", "quota", "limit")
LINES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join), min_size=1, max_size=4)
DOCUMENTS = st.lists(LINES, min_size=1, max_size=6)
QUESTIONS = st.dictionaries(st.sampled_from((*WORDS, "absent")), st.sampled_from([1.0, 2.0, 0.3]), min_size=1)
PARAMETERS = st.builds(
    PrfParameters,
    top_k=st.integers(1, 5),
    terms=st.integers(1, 6),
    weight=st.sampled_from([0.1, 0.5, 0.9]),
    temperature=st.sampled_from([0.05, 1.0, 50.0]),
)

READER = viewer_of(["user:ann"])


@settings(max_examples=30)
@given(
    st.lists(DOCUMENTS, min_size=1, max_size=3),
    QUESTIONS,
    PARAMETERS,
    st.integers(0, 3),
    st.sampled_from([None, READER]),
)
def test_the_kernel_adds_what_the_formula_adds(
    written: list[list[list[str]]], weights: dict[str, float], prf: PrfParameters, deleted: int, viewer: Viewer | None
) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(LocalStore(Path(folder) / "index")) as store:
        store.ensure_fingerprint(fingerprint())
        for number, documents in enumerate(written):  # each is a segment of its own, unless they are merged
            store.upsert([entry("\n".join(lines), f"{number}-{place}.txt") for place, lines in enumerate(documents)])
        asked = TermQuery(weights)
        with store.view() as view:
            names = [info.id for info in view.documents()]
        store.delete(names[:deleted])
        with store.view(viewer) as view:
            first = view.search_bm25(TermQuery(dict.fromkeys(WORDS, 1.0)), 8)
            counting = shares(first.scores, prf)
            keys = first.keys[: len(counting)].tolist()
            by_formula = prf_terms(asked, impacts_in(view, asked, keys, prf.terms), counting, prf)
            gains = view.feedback_gains(asked, keys, counting, prf.terms)
            found = expand_with_prf(view, asked, first, prf)

        assert list(found.weights.items()) == (list(by_formula.weights.items()) if keys else list(weights.items()))
        assert KERNELS == "numpy" or gains is not None
        assert gains is None or list(with_gains(asked, gains, prf).weights.items()) == list(by_formula.weights.items())


def test_passages_that_are_gone_are_refused_as_by_the_formula(tmp_path: Path) -> None:
    with closing(LocalStore(tmp_path / "index")) as store:
        store.ensure_fingerprint(fingerprint())
        store.upsert([entry("cat dog", "a.txt")])
        with store.view() as view:
            first = view.search_bm25(TermQuery({"cat": 1.0}), 1)
            lost = Ranking(first.keys + 1, first.scores)
            with pytest.raises(NotFoundError):
                expand_with_prf(view, TermQuery({"cat": 1.0}), lost, PrfParameters())
