"""The sync: an index says what its folders say, and nothing is lost on the way."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from twofold import Index
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.indexing.types import SyncProgress
from twofold.models.embedders.hashing import HashingEmbedder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    (root / "deep").mkdir(parents=True)
    (root / "a.md").write_text("# Alpha\n\nThe first letter.")
    (root / "b.txt").write_text("The second letter is beta.")
    (root / "deep" / "c.md").write_text("# Gamma\n\nThe third letter.")
    return root


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index(tmp_path / "kb", embedder=HashingEmbedder()) as made:
        yield made


def names(sources: tuple[str, ...]) -> set[str]:
    return {Path(source).name for source in sources}


def test_a_first_sync_adds_everything_and_a_second_nothing(index: Index, folder: Path) -> None:
    first = index.sync(folder)
    assert names(first.added) == {"a.md", "b.txt", "c.md"}
    assert first.failed == ()
    assert {Path(info.source).name for info in index.documents()} == {"a.md", "b.txt", "c.md"}
    second = index.sync(folder)
    assert (second.added, second.updated, second.deleted, second.unchanged) == ((), (), (), 3)
    assert second.passages == 0


def test_a_changed_file_is_updated_whole(index: Index, folder: Path) -> None:
    index.sync(folder)
    (folder / "b.txt").write_text("Nothing as it was.")
    report = index.sync(folder)
    assert names(report.updated) == {"b.txt"}
    assert index.search("beta", mode="bm25").hits == ()
    assert index.search("nothing", mode="bm25").hits[0].source.endswith("b.txt")


def test_a_touched_file_is_unchanged(index: Index, folder: Path) -> None:
    index.sync(folder)
    os.utime(folder / "a.md", ns=(1, 1))
    assert index.sync(folder).unchanged == 3


def test_a_deleted_file_goes(index: Index, folder: Path) -> None:
    index.sync(folder)
    (folder / "a.md").unlink()
    report = index.sync(folder)
    assert names(report.deleted) == {"a.md"}
    assert len(index.documents()) == 2


def test_a_renamed_file_is_recognized_and_not_embedded_again(index: Index, folder: Path) -> None:
    index.sync(folder)
    (folder / "b.txt").rename(folder / "deep" / "moved.txt")
    report = index.sync(folder)
    assert [(Path(old).name, Path(new).name) for old, new in report.renamed] == [("b.txt", "moved.txt")]
    assert (report.added, report.deleted, report.embedded) == ((), (), 0)
    assert index.search("beta").hits[0].source.endswith("deep/moved.txt")


def test_only_what_lies_under_the_named_root_is_deleted(index: Index, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "d.txt").write_text("Delta.")
    index.sync(folder, other)
    index.add("typed in", source="typed")
    (other / "d.txt").unlink()
    (folder / "a.md").unlink()
    report = index.sync(folder)
    assert names(report.deleted) == {"a.md"}
    assert {"d.txt", "typed"} <= {Path(info.source).name for info in index.documents()}


def test_an_empty_root_costs_no_document(index: Index, folder: Path, tmp_path: Path) -> None:
    index.sync(folder)
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(NotFoundError):
        index.sync(folder)
    folder.mkdir()  # as the mount point of a disk that is not mounted
    report = index.sync(folder)
    assert report.deleted == ()
    assert "empty" in report.skipped[0].reason
    assert len(index.documents()) == 3


def test_a_folder_that_cannot_be_listed_costs_no_document(index: Index, folder: Path) -> None:
    index.sync(folder)
    (folder / "deep").rename(folder / "kept")
    (folder / "deep").symlink_to("/")
    report = index.sync(folder)
    assert [Path(one.path).name for one in report.skipped] == ["deep"]
    assert report.deleted == ()


def test_a_bad_file_is_one_failure_and_the_run_goes_on(index: Index, folder: Path) -> None:
    (folder / "bad.pdf").write_bytes(b"%PDF-1.7\nnot really")
    report = index.sync(folder)
    assert [Path(one.source).name for one in report.failed] == ["bad.pdf"]
    assert report.failed[0].message
    assert names(report.added) == {"a.md", "b.txt", "c.md"}


def test_a_file_that_turns_bad_keeps_its_last_good_document(index: Index, folder: Path) -> None:
    index.sync(folder)
    (folder / "a.md").write_bytes(bytes(range(256)) * 4)
    report = index.sync(folder)
    assert [Path(one.source).name for one in report.failed] == ["a.md"]
    assert index.search("alpha", mode="bm25").hits[0].source.endswith("a.md")


def test_a_plan_writes_nothing_and_says_what_a_sync_does(index: Index, folder: Path) -> None:
    index.sync(folder)
    (folder / "a.md").write_text("# Alpha\n\nChanged.")
    (folder / "b.txt").unlink()
    (folder / "new.md").write_text("New.")
    generation = index.info().generation
    plan = index.sync(folder, dry_run=True)
    assert index.info().generation == generation
    report = index.sync(folder)
    assert (plan.added, plan.updated, plan.deleted) == (report.added, report.updated, report.deleted)


def test_progress_counts_up_to_all_files(index: Index, folder: Path) -> None:
    heard: list[SyncProgress] = []
    report = index.sync(folder, progress=heard.append)
    assert heard[-1].done == heard[-1].total == 3
    assert [one.done for one in heard] == sorted(one.done for one in heard)
    assert heard[-1].passages == report.embedded


def test_syncing_nothing_is_refused(index: Index) -> None:
    with pytest.raises(InvalidInputError):
        index.sync()


def test_an_index_opens_as_it_was_made(tmp_path: Path) -> None:
    from twofold import load_settings

    made = load_settings(overrides={"analyzer": "german", "embedder": "hashing:64", "chunk.size": "64"})
    with Index(tmp_path / "kb", settings=made) as index:
        index.add("Die Häuser stehen am Fluss.", source="a")
    with Index(tmp_path / "kb") as index:
        assert index.search("Haus", mode="bm25").hits
        assert index.search("Häuser am Fluss").warnings == ()
        assert index.settings.chunk.size == 64
