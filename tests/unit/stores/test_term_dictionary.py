"""A segment's terms are found by their texts and read by their places, made at once or merged; damage is refused."""

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold import _kernels_numpy
from twofold.kernels import NOWHERE
from twofold.stores.local.term_dictionary import (
    EncodedTerms,
    TermDictionary,
    is_sound_dictionary,
    merge_dictionaries,
)

WORDS = st.lists(st.text(alphabet="abö漢\x1f", max_size=4), unique=True, max_size=12)


@pytest.fixture(params=["c", "numpy"])
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "numpy":
        monkeypatch.setattr("twofold.stores.local.term_dictionary.find_texts", _kernels_numpy.find_texts)
    else:
        built: ModuleType = pytest.importorskip("twofold._kernels", exc_type=ImportError)
        monkeypatch.setattr("twofold.stores.local.term_dictionary.find_texts", built.find_texts)


def found(held: TermDictionary, asked: Sequence[str]) -> list[int]:
    return list(held.find(EncodedTerms.of(asked)).tolist())


@pytest.mark.usefixtures("twin")
def test_a_term_is_found_where_it_stands_and_another_nowhere() -> None:
    held = TermDictionary.of(["cat", "", "dögs", "漢字"])

    assert found(held, ["漢字", "cat", "ca", "", "cats", "\ud800", "dögs"]) == [3, 0, NOWHERE, 1, NOWHERE, NOWHERE, 2]
    assert [held.read(place) for place in range(4)] == ["cat", "", "dögs", "漢字"]
    assert is_sound_dictionary(held, 4)


@pytest.mark.usefixtures("twin")
def test_terms_of_equal_hash_are_told_apart_by_their_texts() -> None:
    held = replace(TermDictionary.of(["a", "bb", "c"]), hashes=np.full(3, 7, np.uint64))
    asked = EncodedTerms.of(["c", "bb", "x"])._replace(hashes=np.full(3, 7, np.uint64))

    assert held.find(asked).tolist() == [2, 1, NOWHERE]


@given(parts=st.lists(WORDS, min_size=1, max_size=3), seed=st.integers(0, 99))
def test_merging_is_making_it_of_the_terms_that_are_left(parts: list[list[str]], seed: int) -> None:
    numbers = {term: number for number, term in enumerate(dict.fromkeys(term for part in parts for term in part), 1)}
    rising = [sorted(part, key=numbers.__getitem__) for part in parts]
    drawn = np.random.default_rng(seed)
    kept = [term for term in numbers if drawn.random() < 0.7]

    made = merge_dictionaries(
        [TermDictionary.of(part) for part in rising],
        [np.array([numbers[term] for term in part], dtype=np.uint32) for part in rising],
        np.array([numbers[term] for term in kept], dtype=np.uint32),
    )

    alone = TermDictionary.of(kept)
    for name in ("texts", "offsets", "hashes", "places"):
        assert getattr(made, name).tolist() == getattr(alone, name).tolist()
    assert is_sound_dictionary(made, len(kept))


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("offsets", np.array([0, 2**40, 2**41], dtype=np.int64)),
        ("offsets", np.array([-1, 2, 3], dtype=np.int64)),
        ("offsets", np.array([3, 2, 1], dtype=np.int64)),
        ("places", np.array([2**32 - 1, 2**32 - 1], dtype=np.uint32)),
        ("offsets", np.zeros(2, dtype=np.int64)),
        ("hashes", np.zeros(3, dtype=np.uint64)),
    ],
)
def test_what_leads_out_of_an_array_is_refused(name: str, value: np.ndarray) -> None:
    held = replace(TermDictionary.of(["aa", "b"]), **{name: value})

    assert not is_sound_dictionary(held, 2)
    with pytest.raises(ValueError, match=r"out of range|lie outside|wrong length"):
        found(held, ["aa", "b"])
