"""What processes beside the tests do, and how they are started."""

import ctypes
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

from reliability.workload import MOST, difference, do, entry_of, open_busy, open_in_bucket, open_shared, reopened, steps
from support.factories import entry, fingerprint, query, vector
from support.slow_embedder import SlowEmbedder
from twofold import Index
from twofold.config.load import load_settings
from twofold.domain.errors import StorageFullError, StoreError
from twofold.domain.ports import Snapshot
from twofold.factory.copies import copy_index, import_index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.stores.local.store import LocalStore

NEW_MOUNTS, PRIVATE_MOUNTS, REMOUNT = 0x00020000, 0x44000, 0x20  # of <sched.h> and <sys/mount.h>
TEXTS = {f"{n:02d}.txt": f"every cat {n}\nevery dog {n}" for n in range(40)}

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["reliability.processes"])  # a hundred of them then take seconds


def write_until_killed(folder: Path, seed: int, acknowledged: Connection) -> None:
    """Take a seed's steps, each told to `acknowledged` when it has returned."""
    store = open_busy(folder)
    store.ensure_fingerprint(fingerprint())
    for number, step in enumerate(steps(seed)):
        store = do(store, step)
        acknowledged.send_bytes(b"%d" % number)


def write_shared_until_killed(where: str, seed: int, acknowledged: Connection) -> None:
    """Do the same to an index in a database, until this process or the server is killed."""
    with suppress(StoreError):
        store = open_shared(where)
        store.ensure_fingerprint(fingerprint())
        for number, step in enumerate(steps(seed)):
            store = do(store, step)
            acknowledged.send_bytes(b"%d" % number)


def write_to_bucket_until_killed(
    where: str, environment: Mapping[str, str], seed: int, acknowledged: Connection
) -> None:
    """Do the same to an index in a bucket."""
    os.environ.update(environment)
    store = open_in_bucket(where)
    store.ensure_fingerprint(fingerprint())
    for number, step in enumerate(steps(seed)):
        store = do(store, step)
        acknowledged.send_bytes(b"%d" % number)


def make_copies(folder: Path, what: Literal["branch", "import"], begun: Connection) -> None:
    """Make copies of an index, one after the other, until killed."""
    for number in range(10**6):
        if what == "branch":
            store = LocalStore(folder / "kb")
            copy_index(store.at("monday"), folder / "made" / str(number), load_settings())
            store.close()
        else:
            import_index(folder / "kb.twofold", folder / "made" / str(number), load_settings())
        begun.send_bytes(b"%d" % number)


def branch_in_bucket(where: str, to: str, environment: Mapping[str, str], begun: Connection) -> None:
    """Make branches of a snapshot in a bucket, one after the other, until killed."""
    os.environ.update(environment)
    store = open_in_bucket(where)
    for number in range(10**6):
        copy_index(store.at("monday"), f"{to}/{number}", load_settings())
        begun.send_bytes(b"%d" % number)


def fill_up(folder: Path, size: int, reports: Connection) -> None:
    """Write documents where no file may grow beyond `size` bytes; see `_write_all`."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    endless = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    _write_all(folder, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, endless), reports)


def fill_a_disk(folder: Path, size: int, reports: Connection) -> None:
    """Write documents on a disk of `size` bytes, mounted for this process alone; see `_write_all`."""
    system = ctypes.CDLL(None, use_errno=True)
    options = f"size={size}".encode()
    if (
        system.unshare(NEW_MOUNTS)
        or system.mount(b"none", b"/", None, PRIVATE_MOUNTS, None)
        or system.mount(b"tmpfs", bytes(folder), b"tmpfs", 0, options)
    ):
        reports.send_bytes(b"not permitted")
        return

    def grow() -> None:
        assert system.mount(b"none", bytes(folder), None, REMOUNT, b"size=64m") == 0

    _write_all(folder, grow, reports)


def _write_all(folder: Path, make_room: Callable[[], object], reports: Connection) -> None:
    """Write all texts; when there is no room report it, search, make room, and go on."""
    model: dict[str, str] = {}
    store: LocalStore | None = None
    while len(model) < len(TEXTS):
        try:
            store = store or open_busy(folder)
            store.ensure_fingerprint(fingerprint())
            for source in sorted(TEXTS.keys() - model.keys()):
                store.upsert([entry_of(TEXTS[source], source)])
                model[source] = TEXTS[source]
        except StorageFullError as error:
            reports.send_bytes(type(error).__name__.encode())
            if store is not None:
                further = model | {source: TEXTS[source] for source in sorted(TEXTS.keys() - model.keys())[:1]}
                assert "" in {difference(store, model), difference(store, further)}
                reports.send_bytes(b"searched")
            make_room()
    assert store is not None
    store.close()
    store = open_busy(folder)
    assert difference(store, model) == ""
    assert [finding for finding in store.verify() if not finding.repairable] == []
    store.close()
    reports.send_bytes(b"went on")


def write_steadily(folder: Path, seconds: float, reports: Connection) -> None:
    """Replace documents, all passages of a state with its number in them, for some seconds."""
    store = open_busy(folder)
    deadline = time.monotonic() + seconds
    number = 0
    while time.monotonic() < deadline:
        number += 1
        source = f"{number % 7}.txt"
        if number % 11 == 0:
            store.delete([entry("", source).document.id])
        else:
            store.upsert([entry("\n".join(f"every v{number} part{part}" for part in range(1 + number % 4)), source)])
        if number % 50 == 0:
            store = reopened(store)
        if number % 170 == 0:
            store.compact()
    store.close()
    reports.send_bytes(b"%d" % number)
    reports.close()


def read_steadily(folder: Path, seconds: float, reports: Connection) -> None:
    """Look at a folder that is written to, and report the first thing that is not as it should be."""
    store = open_busy(folder)
    deadline = time.monotonic() + seconds
    generation = looks = 0
    wrong = ""
    while not wrong and time.monotonic() < deadline:
        with store.view() as view:
            wrong = torn(view) or ("the generation went back" if view.generation < generation else "")
            generation = view.generation
        looks += 1
        if looks % 100 == 0:
            store = reopened(store)
    store.close()
    reports.send_bytes(wrong.encode() or b"%d" % looks)
    reports.close()


def torn(view: Snapshot) -> str:
    """Say what is torn about a view: each document is in the listing and both retrievers whole, or not at all."""
    by_words = view.search_bm25(query("every"), MOST)
    by_vector = view.search_vectors(vector("every"), MOST)
    listed = {chunk.key for info in view.documents() for chunk in view.chunks_of(info.id)}
    if not set(by_words.keys.tolist()) == set(by_vector.keys.tolist()) == listed:
        return f"{len(by_words)} by words, {len(by_vector)} by vector, {len(listed)} listed"
    for info in view.documents():
        versions = {chunk.text.split()[1] for chunk in view.chunks_of(info.id)}
        if len(versions) != 1 or info.chunks != 1 + int(versions.pop()[1:]) % 4:
            return f"half of {info.source}"
    return ""


def hold_the_lock(folder: Path, told: Connection, until: Connection) -> None:
    """Hold the writer's lock from when it is told until something comes back."""
    store = open_busy(folder)
    with store._lock.locked():
        told.send_bytes(b"held")
        until.recv_bytes()
    store.close()


def sync_until_killed(folder: Path, documents: Path, progress: Connection, *, vectors_follow: bool = False) -> None:
    """Sync a folder, and tell of every move of the progress bar; vectors follow a few at a time, or come at once."""
    embedder = SlowEmbedder() if vectors_follow else HashingEmbedder()
    batch = {"batch": {"embed": 4}} if vectors_follow else {}
    with Index(folder, embedder=embedder, overrides=batch) as index:
        index.sync(documents, progress=lambda _: progress.send_bytes(b"."))
    progress.close()
