"""More snapshots than are kept loaded, read by several threads at once: each answer is the one of its time."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.stores.local.catalog import LocalConnection
from twofold.stores.local.past import Past, Pasts
from twofold.stores.local.retained import NamedState


def texts(index: Index, name: str) -> list[str]:
    return [hit.text for hit in index.at(name).search("undo", mode="bm25").hits]


@pytest.fixture
def index(tmp_path: Path) -> Index:
    made = Index(tmp_path / "kb", embedder=HashingEmbedder(16))
    for number in range(3):
        made.add(f"undo number {number}", source="undo.md")
        made.snapshot(f"day-{number}")
    return made


def test_many_threads_read_more_snapshots_than_are_kept(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pasts, "MOST", 1)
    with index, ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda at: texts(index, f"day-{at % 3}"), range(120)))
    assert found == [[f"undo number {at % 3}"] for at in range(120)]


def test_a_snapshot_that_is_let_go_as_somebody_begins_to_read_it_is_loaded_again(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between finding the first snapshot and reading it somebody reads the second, for which the first must go."""
    moments = 4  # it is found more often than it is read
    between: list[list[str]] = []
    load = Pasts._loaded  # the moment between the two is nowhere else

    def loaded(self: Pasts[LocalConnection], named: NamedState) -> Past:
        found = load(self, named)
        if named.name == "day-0" and len(between) < moments:
            between.append(texts(index, "day-1"))
        return found

    monkeypatch.setattr(Pasts, "MOST", 1)
    monkeypatch.setattr(Pasts, "_loaded", loaded)
    with index:
        assert texts(index, "day-0") == ["undo number 0"]
    assert between == [["undo number 1"]] * moments
