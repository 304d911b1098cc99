"""An index that is not there: what reads says so and makes nothing, what writes makes it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from twofold import Index, MultiIndex
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.models.embedders.hashing import HashingEmbedder

READING: dict[str, Callable[[Index], object]] = {
    "search": lambda index: index.search("cat"),
    "search_many": lambda index: index.search_many(["cat"]),
    "ask": lambda index: index.ask("Where is the cat?"),
    "documents": lambda index: index.documents(),
    "document": lambda index: index.document("cat.txt"),
    "chunks": lambda index: index.chunks("cat.txt"),
    "why_not": lambda index: index.why_not("cat", "cat.txt"),
    "len": len,
    "info": lambda index: index.info(),
    "preferences": lambda index: index.get_settings(),
    "delete": lambda index: index.delete("cat.txt"),
    "verify": lambda index: index.verify(),
    "compact": lambda index: index.compact(),
    "reindex": lambda index: index.reindex(),
    "drop": lambda index: index.drop(),
    "sync of nothing": lambda index: index.sync("no/such/folder"),
    "several": lambda index: MultiIndex([index]).search("cat"),
}


@pytest.mark.parametrize("name", READING)
def test_reading_an_index_that_is_not_there_raises_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    home = Path(os.environ["TWOFOLD_HOME"])
    before = sorted(home.rglob("*"))
    for where in ("mistyped", tmp_path / "wrong" / "path"):
        with Index(where, embedder=HashingEmbedder()) as index, pytest.raises(NotFoundError):
            READING[name](index)

    assert sorted(home.rglob("*")) == before
    assert list(tmp_path.iterdir()) == []


def test_the_first_change_makes_it(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with Index(folder, embedder=HashingEmbedder()) as index:
        assert not folder.exists()
        assert bool(index)
        index.add("The cat sat on the mat.", source="cat.txt")
        assert [hit.source for hit in index.search("cat").hits] == ["cat.txt"]
        assert len(index) == 1
    with Index(folder, embedder=HashingEmbedder(), create=False) as index:
        assert len(index) == 1


def test_settings_make_it_too_and_a_bad_name_is_refused_at_once(tmp_path: Path) -> None:
    with Index(tmp_path / "index", embedder=HashingEmbedder()) as index:
        index.set_settings({"search.k": 3})
        assert index.get_settings() == {"search.k": "3"}
    with pytest.raises(InvalidInputError):
        Index("no name!")
    with pytest.raises(NotFoundError):
        Index("nowhere", create=False)


def test_an_index_that_another_process_makes_meanwhile_is_read(tmp_path: Path) -> None:
    with Index(tmp_path / "index", embedder=HashingEmbedder()) as early:
        with Index(tmp_path / "index", embedder=HashingEmbedder()) as other:
            other.add("The cat sat on the mat.", source="cat.txt")
        assert len(early) == 1
        assert early.search("cat").hits


def test_a_plan_for_an_index_that_is_not_there_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "cat.txt").write_text("The cat sat on the mat.")
    with Index(tmp_path / "index", embedder=HashingEmbedder()) as index:
        plan = index.sync(tmp_path / "notes", dry_run=True)

    assert len(plan.added) == 1
    assert not (tmp_path / "index").exists()
