"""Postings: built from passages, merged from segments, always what a plain dictionary would hold."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.text.postings import DROPPED, Postings, TermsOfPassages, build, merge, merge_in_groups

Passage = dict[int, int]

TERM_IDS = st.one_of(st.integers(0, 12), st.sampled_from([65_535, 65_536, 2**31, 2**32 - 1]))
PASSAGES = st.lists(st.dictionaries(TERM_IDS, st.integers(1, 65_535), max_size=6), max_size=8)


def arrays_of(passages: Sequence[Passage]) -> TermsOfPassages:
    return TermsOfPassages(
        np.array([len(passage) for passage in passages], dtype=np.int64),
        np.array([term for passage in passages for term in passage], dtype=np.uint32),
        np.array([often for passage in passages for often in passage.values()], dtype=np.uint16),
    )


def listed(postings: Postings) -> dict[int, list[tuple[int, int]]]:
    held = {}
    for term, (start, end) in zip(postings.terms.tolist(), pairwise(postings.offsets.tolist()), strict=True):
        pairs = zip(postings.slots[start:end].tolist(), postings.frequencies[start:end].tolist(), strict=True)
        held[term] = list(pairs)
    return held


def expected_of(passages: Sequence[tuple[int, Passage]]) -> dict[int, list[tuple[int, int]]]:
    held: dict[int, list[tuple[int, int]]] = {}
    for slot, passage in sorted(passages, key=lambda pair: pair[0]):
        for term, often in passage.items():
            held.setdefault(term, []).append((slot, often))
    return held


def assert_sound(postings: Postings) -> None:
    held = (postings.terms, postings.offsets, postings.slots, postings.frequencies)
    assert [values.dtype.name for values in held] == ["uint32", "int64", "uint32", "uint16"]
    assert postings.terms.tolist() == sorted(set(postings.terms.tolist()))
    assert postings.offsets[0] == 0
    assert postings.offsets[-1] == len(postings.slots) == len(postings.frequencies)


@given(PASSAGES)
def test_postings_hold_what_the_passages_held(passages: list[Passage]) -> None:
    postings = build(arrays_of(passages))

    assert_sound(postings)
    assert listed(postings) == expected_of(list(enumerate(passages)))


@given(parts=st.lists(PASSAGES, max_size=4), seed=st.integers(0, 99), most=st.sampled_from([1, 3, 1000]))
def test_merging_is_building_from_the_passages_that_live(parts: list[list[Passage]], seed: int, most: int) -> None:
    random = np.random.default_rng(seed)
    count = sum(len(part) for part in parts)
    places = np.sort(random.permutation(2 * count)[:count])
    dead = random.random(len(places)) < 0.3
    moved = np.where(dead, DROPPED, places).astype(np.int64)
    remaps = np.split(moved, np.cumsum([len(part) for part in parts])[:-1]) if parts else []
    segments = [build(arrays_of(part)) for part in parts]
    passages = [passage for part in parts for passage in part]
    living = [(int(slot), passage) for slot, passage in zip(moved, passages, strict=True) if slot != DROPPED]

    merged = merge(segments, remaps)
    groups = list(merge_in_groups(segments, remaps, most_postings=most))

    assert_sound(merged)
    assert listed(merged) == expected_of(living)
    assert {term: held for group in groups for term, held in listed(group).items()} == listed(merged)
    assert [term for group in groups for term in group.terms.tolist()] == merged.terms.tolist()
    assert all(len(group.slots) <= most or len(group.terms) == 1 for group in groups)


@given(passages=PASSAGES, asked=st.lists(TERM_IDS, max_size=6))
def test_a_term_is_found_where_it_stands_and_an_absent_one_nowhere(passages: list[Passage], asked: list[int]) -> None:
    postings = build(arrays_of(passages))
    held = listed(postings)

    starts, ends = postings.stretches(postings.places_of(np.array(asked, dtype=np.uint32)))

    assert (starts.dtype.name, ends.dtype.name) == ("int64", "int64")
    for term, start, end in zip(asked, starts.tolist(), ends.tolist(), strict=True):
        assert postings.slots[start:end].tolist() == [slot for slot, _ in held.get(term, [])]


def test_remaps_must_be_as_many_as_the_parts() -> None:
    with pytest.raises(ValueError, match="shorter"):
        merge([build(arrays_of([{1: 1}]))], [])
