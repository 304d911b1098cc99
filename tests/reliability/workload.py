"""A writer's life, drawn from a seed: what is done to a store, what it must then hold, and whether it holds it."""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from support.factories import entry, fingerprint, pending, query, vector
from twofold.domain.filters import Condition, Operator
from twofold.domain.ports import Scope, Snapshot, Store
from twofold.domain.snapshots import SnapshotStore
from twofold.domain.types import Entry, Ranking
from twofold.stores.database_address import address_of
from twofold.stores.local.maintenance import Upkeep
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemoryStore
from twofold.stores.postgres.store import PostgresStore
from twofold.stores.s3.heads import Pace
from twofold.stores.s3.store import S3Store

BUSY = Upkeep(flush_from=12, flush_at_close_from=4, segment_chunks=20, log_bytes=150_000, documents_at_once=1)
WORDS = ["cat", "dog", "mat", "log", "run", "sat", "fox", "the", "quick", "brown"]
SOURCES = [f"{number:02d}.txt" for number in range(24)]
MOST = 10_000
KINDS = {"upsert": 24, "vectors": 6, "delete": 8, "compact": 2, "reopen": 2, "rebuild": 1, "snapshot": 3, "forget": 2}
EVEN = Scope(filter=Condition("even", Operator.EQ, value=True))

Model = Mapping[str, str]
"""Documents' sources and their texts, with `LATER` in front while one waits for its vectors; and snapshots, with
`NAMED` in front of the name, and the documents that they hold as JSON."""
LATER = "\x02"
Kept = TypeVar("Kept", LocalStore, PostgresStore, S3Store)
NAMED = "\x03"


@dataclass(frozen=True)
class Step:
    """One thing that a writer does.

    `upsert` texts by source, `delete` sources, `vectors` (give all that wait theirs), `compact`, `reopen` or `rebuild`.
    """

    kind: str
    texts: tuple[tuple[str, str], ...] = ()
    sources: tuple[str, ...] = ()


def steps(seed: int) -> Iterator[Step]:
    """Draw steps without an end."""
    random_ = random.Random(seed)  # noqa: S311
    while True:
        kind = random_.choices(list(KINDS), list(KINDS.values()))[0]
        some = tuple(random_.sample(SOURCES, random_.randint(1, 3)))
        if kind == "upsert":
            later = random_.choice(["", LATER])
            yield Step(kind, texts=tuple((source, later + text(random_)) for source in some))
        else:
            named = (random_.choice(["mon", "tue"]),)
            yield Step(kind, sources=some if kind == "delete" else named if kind in {"snapshot", "forget"} else ())


def text(random_: random.Random) -> str:
    """Write a document of one to five passages, each with the word `every` in it."""
    lines = [" ".join(random_.choices(WORDS, k=random_.randint(1, 8))) for _ in range(random_.randint(1, 5))]
    return "\n".join(f"every {line} n{random_.randrange(10**9)}" for line in lines)


def after(model: Model, step: Step) -> Model:
    """Say what a collection holds after a step."""
    if step.kind in {"snapshot", "forget"}:
        name = NAMED + step.sources[0]
        if step.kind == "forget":
            return {held: text for held, text in model.items() if held != name}
        return {name: json.dumps(documents_in(model)), **model}
    kept = {source: held for source, held in model.items() if source not in step.sources}
    if step.kind in {"vectors", "rebuild"}:
        kept = {source: held.removeprefix(LATER) for source, held in kept.items()}
    return {**kept, **dict(step.texts)}


def open_shared(where: str) -> PostgresStore:
    """Open an index in a database that flushes and merges all the time."""
    return PostgresStore(address_of(where), upkeep=BUSY, wait_seconds=30.0)


def open_in_bucket(where: str) -> S3Store:
    """Open an index in a bucket that flushes and merges all the time, and sees every change at once."""
    return S3Store(address_of(where), upkeep=BUSY, wait_seconds=60.0, pace=Pace(fresh=0.0))


def documents_in(model: Model) -> Model:
    """Return the documents of a model, without its snapshots."""
    return {source: held for source, held in model.items() if not source.startswith(NAMED)}


def open_busy(folder: Path, base_vfs: str = "") -> LocalStore:
    """Open a store that flushes, merges and folds its log all the time."""
    return LocalStore(folder, base_vfs=base_vfs, upkeep=BUSY)


def do(store: Kept, step: Step) -> Kept:
    """Take a step; give the store to go on with."""
    if step.kind == "upsert":
        store.upsert([entry_of(held, source) for source, held in step.texts])
    elif step.kind == "delete":
        store.delete([entry("", source).document.id for source in step.sources])
    elif step.kind == "vectors":
        with store.view() as view:
            texts = view.pending_texts(MOST)
        store.update_vectors(fingerprint().embedder, {one: vector(one) for one in texts})
    elif step.kind == "compact":
        store.compact()
    elif step.kind == "rebuild":
        store.rebuild(fingerprint(), lambda documents: [entry_of(one.text, one.source).chunks for one in documents])
    elif step.kind == "reopen":
        return reopened_of(store)
    else:
        do_named(store, step)
    return store


def reopened_of(store: Kept) -> Kept:
    """Close a store and open it again as it was."""
    if isinstance(store, LocalStore):
        return reopened(store)
    store.close()
    if isinstance(store, S3Store):
        return open_in_bucket(store.address.shown)
    return type(store)(store.address, upkeep=BUSY, wait_seconds=30.0)


def do_named(store: LocalStore | PostgresStore | S3Store, step: Step) -> None:
    """Make or delete a snapshot, unless that is done already."""
    there = step.sources[0] in {one.name for one in store.snapshots()}
    if step.kind == "snapshot" and not there:
        store.create_snapshot(step.sources[0], 1_000_000)
    elif step.kind == "forget" and there:
        store.delete_snapshot(step.sources[0])


def entry_of(held: str, source: str) -> Entry:
    """Give a document whose passages have fields that follow from its text."""
    said = held.removeprefix(LATER)
    made = entry(said, source, own=[{"even": len(line) % 2 == 0} for line in said.split("\n")])
    return pending(made) if held.startswith(LATER) else made


def reopened(store: LocalStore) -> LocalStore:
    """Close a store and open it again as it was."""
    folder, vfs = store._folder, store._connections.vfs.base
    store.close()
    return open_busy(folder, vfs)


def reference(model: Model) -> MemoryStore:
    """Give a store that holds exactly a model."""
    made = MemoryStore()
    made.ensure_fingerprint(fingerprint())
    made.upsert([entry_of(held, source) for source, held in model.items()])
    return made


def difference(store: Store, model: Model) -> str:
    """Say how a store differs from a model in documents, passages or either retriever; empty when it does not."""
    documents = documents_in(model)
    named = {name.removeprefix(NAMED): json.loads(held) for name, held in model.items() if name not in documents}
    if isinstance(store, SnapshotStore):
        if {one.name for one in store.snapshots()} != named.keys():
            return f"the snapshots {[one.name for one in store.snapshots()]} instead of {sorted(named)}"
        wrongs = {name: difference(store.at(name), held) for name, held in named.items()}
        if any(wrongs.values()):
            return f"at a snapshot: {wrongs}"
    return difference_now(store, documents)


def difference_now(store: Store, model: Model) -> str:
    """Say how a store differs from a model without snapshots."""
    with store.view() as held, reference(model).view() as expected:
        if held.pending != expected.pending or set(held.pending_texts(MOST)) != set(expected.pending_texts(MOST)):
            return f"{held.pending} wait for vectors instead of {expected.pending}"
        if list(held.documents()) != list(expected.documents()):
            return f"{[one.source for one in held.documents()]} instead of {sorted(model)}"
        for source in model:
            identity = entry("", source).document.id
            if held.document(identity) != expected.document(identity):
                return f"the text of {source}"
            if list(held.chunks_of(identity)) != list(expected.chunks_of(identity)):
                return f"the passages of {source}"
        for name, (found, wanted) in {
            **{word: both(held, expected, word) for word in ("every", "every cat the", "n1 quick fox")},
            "vector": (held.search_vectors(vector("cat"), MOST), expected.search_vectors(vector("cat"), MOST)),
            "even": (
                held.search_vectors(vector("cat"), MOST, EVEN),
                expected.search_vectors(vector("cat"), MOST, EVEN),
            ),
        }.items():
            if found != wanted:
                return f"the ranking for {name}: {list(found)} instead of {list(wanted)}"
    return ""


def both(held: Snapshot, expected: Snapshot, words: str) -> tuple[Ranking, Ranking]:
    return held.search_bm25(query(words), MOST), expected.search_bm25(query(words), MOST)
