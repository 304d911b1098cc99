"""The same documents rank the same, bit for bit, whatever happened to the index before."""

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from reliability.workload import BUSY
from support.factories import entry, fingerprint, pending, query, vector
from twofold.domain.types import Entry, Ranking
from twofold.stores.local import segment
from twofold.stores.local.store import LocalStore
from twofold.vectors import scan

DIMENSIONS = 48
DOCUMENTS = 150
WORDS = [f"w{number}" for number in range(60)]


def documents() -> list[Entry]:
    drawn = np.random.default_rng(3).zipf(1.3, size=(DOCUMENTS, 4, 12)) % len(WORDS)
    return [
        entry("\n".join(" ".join(WORDS[word] for word in line) for line in lines), f"{number}.txt", None, DIMENSIONS)
        for number, lines in enumerate(drawn)
    ]


def eventful(folder: Path, made: list[Entry], seed: int) -> LocalStore:
    """Put the documents in a random order, some of them twice, among others that come and go."""
    random_ = random.Random(seed)  # noqa: S311
    store = LocalStore(folder, upkeep=BUSY)
    store.ensure_fingerprint(fingerprint(dimensions=DIMENSIONS))
    waiting = made + random_.sample(made, 30)
    random_.shuffle(waiting)
    for at in range(0, len(waiting), 5):
        batch = {one.document.id: one for one in waiting[at : at + 5]}
        passing = entry(f"w1 w2 passing {at}\nw3 w4 away", f"passing {at % 4}.txt", None, DIMENSIONS)
        later = random_.random() < 0.3
        store.upsert([pending(one) if later else one for one in (*batch.values(), passing)])
        if random_.random() < 0.3:
            give_vectors(store)
        if random_.random() < 0.1:
            store.compact()
        if random_.random() < 0.2:
            store.delete([passing.document.id, random_.choice(made).document.id])
    store.delete([entry("", f"passing {number}.txt").document.id for number in range(20)])
    with store.view() as view:
        missing = [one for one in made if view.document(one.document.id) is None]
    store.upsert(missing)
    give_vectors(store)
    if random_.random() < 0.5:
        store.close()
        store = LocalStore(folder)
    return store


def give_vectors(store: LocalStore) -> None:
    with store.view() as view:
        texts = view.pending_texts(10_000)
    store.update_vectors(fingerprint(dimensions=DIMENSIONS).embedder, {one: vector(one, DIMENSIONS) for one in texts})


def rankings(store: LocalStore) -> list[Ranking]:
    found = []
    with store.view() as view:
        for number in range(12):
            words = " ".join(WORDS[number : number + 3])
            found += [view.search_bm25(query(words), 10), view.search_vectors(vector(words, DIMENSIONS), 10)]
        assert view.statistics([]).chunks == sum(len(one.chunks) for one in documents())
    return found


@pytest.mark.parametrize("bits_above", [scan.BITS_ABOVE, 50])
@pytest.mark.parametrize("histories", [5, pytest.param(60, marks=pytest.mark.soak)])
def test_rankings_do_not_depend_on_history(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch, histories: int, bits_above: int
) -> None:
    monkeypatch.setattr(scan, "BITS_ABOVE", bits_above)
    monkeypatch.setattr(segment, "BITS_FROM", 8)
    made = documents()
    fresh = LocalStore(quick_path / "fresh")
    fresh.ensure_fingerprint(fingerprint(dimensions=DIMENSIONS))
    fresh.upsert(made)
    expected = rankings(fresh)
    fresh.close()
    assert any(len(one) == 10 for one in expected)
    assert any(one != other for one, other in pairwise(expected))
    for seed in range(histories):
        store = eventful(quick_path / str(seed), made, seed)
        assert rankings(store) == expected, seed
        assert store.verify() == []
        store.close()
