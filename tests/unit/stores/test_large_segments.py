"""What filling an index holds in memory is bounded: large segments are not merged, and only what is merged is open."""

import mmap
from pathlib import Path

import numpy as np
import psutil

from support.factories import entry, fingerprint, query
from twofold.stores.local.maintenance import Upkeep
from twofold.stores.local.store import LocalStore
from twofold.system.memory import let_go

BATCHES, DOCUMENTS = 32, 4
SMALL = Upkeep(flush_from=DOCUMENTS, flush_at_close_from=1)
BOUNDED = Upkeep(flush_from=DOCUMENTS, flush_at_close_from=1, large_segment=16)


def filled(folder: Path, upkeep: Upkeep) -> LocalStore:
    """Return a store of 128 passages, each batch of four flushed to a segment of its own."""
    store = LocalStore(folder, upkeep=upkeep)
    store.ensure_fingerprint(fingerprint())
    for batch in range(BATCHES):
        first = batch * DOCUMENTS
        store.upsert([entry(f"number{number} common", f"{number}.txt") for number in range(first, first + DOCUMENTS)])
    return store


def test_a_segment_that_is_large_is_merged_no_more_until_the_index_is_compacted(tmp_path: Path) -> None:
    """Four segments of 4 make one of 16; without a bound four of these make one of 64, and both of them are left."""
    bounded, unbounded = filled(tmp_path / "bounded", BOUNDED), filled(tmp_path / "unbounded", SMALL)
    with bounded.view() as some, unbounded.view() as others:
        for term in ("common", "number77"):
            asked = query(term)
            found, expected = some.search_bm25(asked, 128), others.search_bm25(asked, 128)
            assert (found.keys.tolist(), found.scores.tolist()) == (expected.keys.tolist(), expected.scores.tolist())
            assert len(found) == (BATCHES * DOCUMENTS if term == "common" else 1)
    assert (bounded.info().segments, unbounded.info().segments) == (BATCHES * DOCUMENTS // 16, 2)

    bounded.compact()

    assert bounded.info().segments == 1
    assert not bounded.verify()
    bounded.close()
    unbounded.close()


def test_filling_an_index_leaves_no_segment_open(tmp_path: Path) -> None:
    """A merge opens what it merges and lets go of it: memory does not grow with what was stored before."""
    folder = tmp_path / "index"
    store = filled(folder, BOUNDED)

    mapped = [one.path for one in psutil.Process().memory_maps() if one.path.endswith(".segment")]

    assert [path for path in mapped if Path(path).is_relative_to(folder)] == []
    with store.view() as view:
        assert len(view.search_bm25(query("common"), 128)) == BATCHES * DOCUMENTS
    store.close()


def test_memory_of_a_mapped_file_is_given_back_and_reads_the_same_again(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    np.arange(1_000_000, dtype=np.uint32).tofile(path)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    numbers = np.frombuffer(mapped, dtype=np.uint32).reshape(1000, 1000)
    assert int(numbers.sum(dtype=np.int64)) == 499_999_500_000
    assert resident(path) == 4_000_000 // 4096 * 4096 + 4096

    let_go(numbers)
    let_go(np.arange(3))

    assert resident(path) == 0
    assert int(numbers.sum(dtype=np.int64)) == 499_999_500_000


def resident(path: Path) -> int:
    """Return how many bytes of a mapped file this process holds."""
    return sum(one.rss for one in psutil.Process().memory_maps() if one.path == str(path))
