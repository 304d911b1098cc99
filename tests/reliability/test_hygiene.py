"""What an index leaves behind: no handles, no threads, no file that others may read, nothing where it only looked."""

import gc
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from reliability.workload import open_busy
from support.factories import entry, fingerprint, query, vector
from twofold import Index
from twofold.domain.errors import CorruptError, NotFoundError, StoreError
from twofold.stores.local import checksums
from twofold.stores.local.checksums import PAGE_BYTES, ChecksumVFS, seal
from twofold.stores.local.place import NOTE_NAME
from twofold.stores.local.store import LocalStore


def handles() -> set[tuple[str, str]]:
    """Return the open files of this process, each by its number and what it leads to."""
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that the listing itself had
            found.add((link.name, str(link.readlink())))
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted in /proc")
def test_opening_and_closing_leaves_nothing_open(tmp_path: Path) -> None:
    counts = []
    for number in range(200):
        store = open_busy(tmp_path / "kb")
        store.ensure_fingerprint(fingerprint())
        if number % 20 == 0:
            store.upsert([entry(f"every word {number}\nevery other\nevery third", f"{number}.txt")])
        with store.view() as view:
            view.search_bm25(query("every"), 9)
            view.search_vectors(vector("x"), 9)
        store.close()
        del view, store
        if number in {9, 199}:
            gc.collect()
            counts.append((handles(), set(threading.enumerate()), set(apsw.vfs_names())))
    assert all(after <= before for before, after in zip(*counts, strict=True))  # tests before this one may close theirs


def test_a_store_that_was_closed_says_so(tmp_path: Path) -> None:
    store = open_busy(tmp_path / "kb")
    store.ensure_fingerprint(fingerprint())
    with store.view() as view:
        store.close()
        assert list(view.documents()) == []
    with pytest.raises(StoreError, match="closed"):
        store.upsert([entry("word")])


def test_only_the_owner_may_read_an_index(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = open_busy(tmp_path / "new" / "kb")
        store.ensure_fingerprint(fingerprint())
        store.upsert([entry("every word\n" * 20)])
        store.close()
        store = open_busy(tmp_path / "new" / "kb")
        store.upsert([entry("every other word")])
    finally:
        os.umask(before)
    paths = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    assert {path.name for path in paths} >= {"kb", "segments", "catalog.sqlite3", "writer.lock", NOTE_NAME}
    for path in paths:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    store.close()


def test_looking_for_an_index_that_is_not_there_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for where in (tmp_path / "none", tmp_path / "empty"):
        with pytest.raises(NotFoundError):
            LocalStore(where, create=False)
        with pytest.raises(NotFoundError):
            Index(where, create=False)
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "empty"]


def test_an_index_that_was_refused_leaves_nothing_open(tmp_path: Path) -> None:
    store = open_busy(tmp_path / "kb")
    store.ensure_fingerprint(fingerprint())
    store._connections.close()
    (tmp_path / "kb" / "catalog.sqlite3-wal").write_bytes(b"")
    gc.collect()
    before = handles()
    for _ in range(5):
        with pytest.raises(CorruptError):
            LocalStore(tmp_path / "kb")
    gc.collect()
    assert handles() <= before


def test_the_page_that_sqlite_locks_is_not_taken_for_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (checksums.LOCK_PAGE - 1) * PAGE_BYTES == 2**30
    monkeypatch.setattr(checksums, "LOCK_PAGE", 2)
    (tmp_path / "large").write_bytes(seal(bytes(PAGE_BYTES), 1) + bytes(PAGE_BYTES) + seal(bytes(PAGE_BYTES), 4))
    assert list(ChecksumVFS("lock page", "").damaged_pages(tmp_path / "large")) == [3]
