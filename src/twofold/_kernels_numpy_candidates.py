"""Lists of candidates in numpy: the oracle of the same in `_kernels.c`, and what serves where there was no compiler.

They are some hundreds of keys: what costs there is not the work but that numpy lets go of the interpreter's lock for
most of it, and each time another thread is woken in vain. The functions in C keep it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twofold._kernels_numpy_vectors import check, check_k

__all__ = ["falling", "filled", "locate", "order_found", "scores_of", "union_of"]

Keys = NDArray[np.int64]
Places = NDArray[np.uint32]
Slots = NDArray[np.uint32]
Floats = NDArray[np.float64]
FoundRows = tuple[Keys, Slots, Floats]
"""What was found in one segment: the keys of all of its slots, the slots found, and their scores."""
Spots = tuple[Keys, Places, Slots]
"""Keys, and for each of them in which segment and slot it is."""


def order_found(parts: tuple[FoundRows, ...], k: int) -> tuple[Keys, Floats, Places, Slots]:
    """Return the k best of all segments, by falling score, ties by rising key: keys, scores, segments and slots.

    Raises ValueError for a key that is there twice, a slot out of range, a score that is no number, and k < 1.
    """
    check_k(k)
    for held, slots, scores in parts:
        check(held, np.int64, "keys")
        check(slots, np.uint32, "slots")
        check(scores, np.float64, "scores", len(slots))
        if len(slots) and int(slots.max()) >= len(held):
            raise ValueError("a slot is out of range")
    if not parts:
        return np.empty(0, np.int64), np.empty(0), np.empty(0, np.uint32), np.empty(0, np.uint32)
    keys = np.concatenate([held[slots] for held, slots, _ in parts])
    slots, scores = np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])
    if not np.isfinite(scores).all():
        raise ValueError("a score is not a number")
    places = np.repeat(np.arange(len(parts), dtype=np.uint32), [len(part[1]) for part in parts])
    _check_distinct(keys)
    order = np.lexsort((keys, -scores))[:k]
    return keys[order], scores[order], places[order], slots[order]


def falling(keys: Keys, scores: Floats) -> tuple[Keys, Floats]:
    """Return keys and scores by falling score, ties by rising key.

    Raises ValueError for a key that is there twice, and for arrays of a wrong kind or length.
    """
    check(keys, np.int64, "keys")
    check(scores, np.float64, "scores", len(keys))
    _check_distinct(keys)
    order = np.lexsort((keys, -scores))
    return keys[order], scores[order]


def _check_distinct(keys: Keys) -> None:
    rising = np.sort(keys)
    if (rising[1:] == rising[:-1]).any():
        raise ValueError("a ranking may not hold a key twice")


def union_of(some: tuple[Keys, ...]) -> Keys:
    """Return the keys of all, rising, each once."""
    for keys in some:
        check(keys, np.int64, "keys")
    rising = np.sort(np.concatenate(some)) if some else np.empty(0, np.int64)
    new = np.ones(len(rising), dtype=np.bool_)
    new[1:] = rising[1:] != rising[:-1]
    return rising[new]


def filled(keys: Keys, listed: Keys, scores: Floats) -> tuple[Floats, Keys, Keys]:
    """Return the score of each key that is listed, 0 for the others, and of these their places and themselves.

    `keys` rise. What is listed and not among them is left out. Keys 1, 2, 3 of which 3 and 1 are listed with .5 and .2
    give .2, 0, .5, place 1 and key 2.
    """
    check(keys, np.int64, "keys")
    check(listed, np.int64, "keys")
    check(scores, np.float64, "scores", len(listed))
    values, missing = np.zeros(len(keys)), np.ones(len(keys), dtype=np.bool_)
    places = keys.searchsorted(listed)
    there = places < len(keys)
    there[there] = keys[places[there]] == listed[there]
    values[places[there]] = scores[there]
    missing[places[there]] = False
    return values, np.flatnonzero(missing).astype(np.int64), keys[missing]


def scores_of(keys: Keys, scores: Floats, wanted: Keys) -> Floats:
    """Return the scores of the wanted among keys that rise. Raises ValueError for one that is not there."""
    check(keys, np.int64, "keys")
    check(scores, np.float64, "scores", len(keys))
    check(wanted, np.int64, "keys")
    places = keys.searchsorted(wanted)
    if (places == len(keys)).any() or (keys[places] != wanted).any():
        raise ValueError("a key has no score")
    return scores[places]


def locate(noted: tuple[Spots, ...], wanted: Keys, parts: int) -> Sequence[tuple[int, NDArray[np.int64], Slots]] | None:
    """Return for each segment that holds some of the wanted keys their places among them, and their slots.

    None where one of them was not noted; of a key that was noted twice, the last counts.
    """
    spots = {
        key: (place, slot)
        for keys, places, slots in noted
        for key, place, slot in zip(keys.tolist(), places.tolist(), slots.tolist(), strict=True)
    }
    found = [spots.get(key) for key in wanted.tolist()]
    if None in found:
        return None
    held = np.array(found, dtype=np.int64).reshape(-1, 2)
    result = []
    for part in range(parts):
        at = np.flatnonzero(held[:, 0] == part).astype(np.int64)
        if len(at):
            result.append((part, at, held[at, 1].astype(np.uint32)))
    return result
