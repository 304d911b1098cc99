"""A file that was touched: its document gets the new time, and nothing else happens to it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.factories import entry, fingerprint
from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.stores.local.store import LocalStore

Run = Callable[..., Any]
OLD = 1_577_836_800  # 2020-01-01T00:00:00Z


@pytest.mark.usefixtures("indexed")
def test_a_touched_file_gets_its_time_without_being_embedded(run: Run, notes: Path) -> None:
    assert run("search", "commit", "-i", "notes", "-f", "modified < 2021-01-01", "--json").data["hits"] == []
    os.utime(notes / "git.md", (OLD, OLD))
    report = run("sync", notes, "-i", "notes", "--json").data

    assert (report["updated"], report["unchanged"], report["embedded"], report["passages"]) == ([], 3, 0, 0)
    found = run("search", "commit", "-i", "notes", "-f", "modified < 2021-01-01", "--json").data["hits"]
    assert {Path(hit["source"]).name for hit in found} == {"git.md"}
    later = run("search", "commit", "-i", "notes", "-f", "modified >= 2021-01-01", "--json").data["hits"]
    assert "git.md" not in {Path(hit["source"]).name for hit in later}
    listed = {Path(one["source"]).name: one["metadata"] for one in run("ls", "-i", "notes", "--json").data}
    assert listed["git.md"]["modified"] == "2020-01-01T00:00:00+00:00"
    assert listed["git.md"]["author"] == "Ada"
    assert run("index", "verify", "notes").code == 0


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize("compacted", [False, True])
def test_an_index_of_touched_files_equals_a_fresh_one(run: Run, notes: Path, *, compacted: bool) -> None:
    if compacted:
        assert run("index", "compact", "notes").code == 0
    for number, path in enumerate(sorted(notes.iterdir())):
        os.utime(path, (OLD + number, OLD + number))
    run("sync", notes, "-i", "notes")
    run("sync", notes, "-i", "fresh")

    assert run("ls", "-i", "notes", "--json").data == run("ls", "-i", "fresh", "--json").data
    for question in ("undo a commit", "apple price"):
        hits = [run("search", question, "-i", name, "--json").data["hits"] for name in ("notes", "fresh")]
        assert hits[0] == hits[1] != []
    assert run("index", "verify", "notes").code == 0
    assert run("sync", notes, "-i", "notes", "--json").data["unchanged"] == 3


SYNC_AND_DIE = """
import os, signal, sys
from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.stores.local.store import LocalStore

write, left = LocalStore.set_metadata, [int(sys.argv[2])]

def dying(store, changes):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    write(store, changes)
    if not left[0] and sys.argv[3] == "after":
        os.kill(os.getpid(), signal.SIGKILL)

LocalStore.set_metadata = dying
Index("notes", embedder=HashingEmbedder()).sync(sys.argv[1])
"""


@pytest.mark.parametrize(("batches", "when"), [(0, "before"), (1, "before"), (1, "after")])
def test_a_kill_between_loses_nothing(tmp_path: Path, batches: int, when: str) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(100):
        (folder / f"{number:03d}.txt").write_text(f"Note {number} of the cat.")
    with Index("notes", embedder=HashingEmbedder()) as index:
        index.sync(folder)
    for path in folder.iterdir():
        os.utime(path, (OLD, OLD))
    command = [sys.executable, "-c", SYNC_AND_DIE, str(folder), str(batches), when]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL

    with Index("notes", embedder=HashingEmbedder()) as index:
        assert len(index) == 100
        assert index.verify() == []
        old = index.documents(filter="modified < 2021-01-01")
        assert len(old) == 64 * batches
        index.sync(folder)
        assert len(index.documents(filter="modified < 2021-01-01")) == 100
        assert len(index.search("cat", k=200, mode="bm25").hits) == 100


def test_metadata_is_replaced_in_segments_and_in_other_editions(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "kb")
    store.ensure_fingerprint(fingerprint())
    first, second = entry("every cat", "a.txt"), entry("every dog", "b.txt")
    store.upsert([first, second])
    store.compact()
    store.set_metadata({first.document.id: {"year": 2020}, "nobody": {}})
    with store.view() as view:
        document = view.document(first.document.id)
        assert document is not None
        assert document.metadata == {"year": 2020}
        assert [chunk.text for chunk in view.chunks_of(first.document.id)] == ["every cat"]
    assert store.verify() == []
    store.close()
