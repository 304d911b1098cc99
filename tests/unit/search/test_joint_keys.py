"""Keys among several collections: each has its own, in the order of its collection, and leads back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from twofold.stores.federated_ids import MAX_KEY, FederatedKeys

KEYS = st.integers(0, MAX_KEY)
CROWDED = st.integers(0, 40) | st.integers(MAX_KEY - 40, MAX_KEY)


def several(keys: st.SearchStrategy[int]) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(st.lists(keys, unique=True, max_size=20), min_size=1, max_size=5)


def joined(collections: list[list[int]]) -> tuple[FederatedKeys, list[list[int]]]:
    made = FederatedKeys(len(collections))
    return made, [made.join(at, np.array(keys, dtype=np.int64)).tolist() for at, keys in enumerate(collections)]


@given(several(KEYS | CROWDED))
def test_every_key_leads_back_to_its_collection_and_to_nobody_else(collections: list[list[int]]) -> None:
    made, given_ = joined(collections)

    every = [key for keys in given_ for key in keys]
    assert len(set(every)) == len(every)
    assert all(0 <= key <= MAX_KEY for key in every)
    back = {
        (number, every[place], local)
        for number, places, locals_ in made.split(np.array(every, dtype=np.int64))
        for place, local in zip(places.tolist(), locals_.tolist(), strict=True)
    }
    assert back == {
        (number, joint, local)
        for number, keys in enumerate(collections)
        for joint, local in zip(given_[number], keys, strict=True)
    }


@given(several(CROWDED))
def test_a_key_is_the_same_whenever_it_is_asked(collections: list[list[int]]) -> None:
    made, first = joined(collections)

    assert [made.join(at, np.array(keys, dtype=np.int64)).tolist() for at, keys in enumerate(collections)] == first


@given(st.lists(KEYS.map(lambda key: key & ~7), unique=True, max_size=30), st.integers(1, 8))
def test_keys_rise_as_they_do_in_their_collections(keys: list[int], count: int) -> None:
    made = FederatedKeys(count)

    rising = [made.join(key % count, np.array([key], dtype=np.int64)).tolist()[0] for key in sorted(keys)]

    assert rising == sorted(rising)


def test_a_key_that_was_never_joined_is_nobodys() -> None:
    assert list(FederatedKeys(3).split(np.array([4], dtype=np.int64))) == []


def test_keys_that_differ_in_the_lowest_bits_alone_are_kept_apart() -> None:
    _, made = joined([[], [8, 9, 10]])

    assert made[1] == [9, 11, 13]
