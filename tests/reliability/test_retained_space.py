"""What snapshots retain is counted right through long histories: deleting one frees what it said, and no more."""

import random
from pathlib import Path

import pytest

from support.factories import entry, fingerprint
from twofold.domain.types import Entry
from twofold.stores.local.store import LocalStore

COUNTED = (
    "SELECT (SELECT coalesce(sum(octet_length(text) + octet_length(blocks) + octet_length(metadata)"
    " + octet_length(source)), 0) FROM retained_document) + (SELECT coalesce(sum(octet_length(text)"
    " + octet_length(terms) + coalesce(octet_length(vector), 0) + octet_length(metadata)), 0) FROM retained_chunk)"
)


def kept_bytes(store: LocalStore) -> int:
    """Count all that is retained, whoever holds it."""
    with store._connections.reading() as connection:
        (found,) = connection.execute(COUNTED).fetchone() or (0,)
    return int(found)


def written(name: int, version: int) -> Entry:
    """Return a document whose texts no other version has."""
    return entry(f"the cat {name} {version}\nsat on the mat {name} {version}", f"{name}.md", {"version": version})


def texts(store: LocalStore, name: str = "") -> set[str]:
    """Return the texts of all passages, or of those at a snapshot: each stands for one row."""
    with (store.at(name) if name else store).view() as view:
        return {chunk.text for info in view.documents() for chunk in view.chunks_of(info.id)}


def freed(store: LocalStore, name: str) -> int:
    """Delete a snapshot; return the bytes that it frees, which are those that it said."""
    before, said = kept_bytes(store), {one.name: one for one in store.snapshots()}[name].retained_bytes
    store.delete_snapshot(name)
    assert before - kept_bytes(store) == said
    return said


def changed(store: LocalStore, lot: random.Random, step: int, documents: int) -> int:
    """Do something to the store; return the bytes that were freed."""
    some = {lot.randrange(documents) for _ in range(1 + documents // 50)}
    names = [one.name for one in store.snapshots()]
    what = lot.random()
    if what < 0.45:
        store.upsert([written(name, step) for name in some])
    elif what < 0.55:
        store.delete([written(name, 0).document.id for name in some])
    elif what < 0.6:
        store.compact()
    elif what < 0.85 and len(names) < 8:
        store.create_snapshot(f"at-{step}", step)
    elif names:
        return freed(store, lot.choice(names))
    return 0


@pytest.mark.parametrize(
    ("documents", "steps"), [(12, 40), pytest.param(1_000, 400, marks=pytest.mark.soak)], ids=["small", "large"]
)
def test_each_snapshot_says_what_deleting_it_frees(quick_path: Path, documents: int, steps: int) -> None:
    lot, store = random.Random(11), LocalStore(quick_path / "kb")  # noqa: S311
    store.ensure_fingerprint(fingerprint())
    store.upsert([written(name, 0) for name in range(documents)])
    total = looked = 0
    for step in range(1, steps + 1):
        total += changed(store, lot, step, documents)
        if step % max(1, steps // 20) == 0:
            looked += check(store)
    total += sum(freed(store, one.name) for one in store.snapshots())
    assert kept_bytes(store) == 0
    assert total
    assert looked
    assert store.verify() == []
    store.close()


def check(store: LocalStore) -> int:
    """Hold what each snapshot says against the rows that it alone has, and that others have too; count snapshots."""
    now, infos = texts(store), store.snapshots()
    gone = {one.name: texts(store, one.name) - now for one in infos}
    for one in infos:
        others = set().union(*(held for name, held in gone.items() if name != one.name))
        assert bool(one.retained_bytes) == bool(gone[one.name] - others)
        assert bool(one.shared_bytes) == bool(gone[one.name] & others)
        assert one.retained_bytes >= sum(len(text) for text in gone[one.name] - others)
    assert sum(one.retained_bytes for one in infos) <= kept_bytes(store)
    assert (kept_bytes(store) == 0) == (not any(gone.values()))
    return len(infos)
