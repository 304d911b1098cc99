"""A sync lets words find all documents before their vectors are made, through `Index`."""

import threading
from pathlib import Path

import pytest

from support.slow_embedder import SlowEmbedder
from twofold import Index
from twofold.domain.errors import ModelError
from twofold.indexing.types import Phase, SyncProgress
from twofold.models.embedders.hashing import HashingEmbedder

TEXTS = {"cat.txt": "The cat sat on the mat.", "dog.txt": "A dog ran home.", "fox.txt": "The quick fox."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "docs" / name).write_text(text)
    return tmp_path / "docs"


def opened(tmp_path: Path, embedder: SlowEmbedder, batch: int = 1) -> Index:
    return Index(tmp_path / "kb", embedder=embedder, overrides={"batch": {"embed": batch}})


def test_all_documents_are_there_before_the_first_vector(tmp_path: Path, folder: Path) -> None:
    seen: list[tuple[int, int, int]] = []
    with opened(tmp_path, SlowEmbedder()) as index:

        def look(progress: SyncProgress) -> None:
            if progress.phase is Phase.EMBED:
                held = index.info()
                seen.append((held.documents, progress.passages, progress.pending))
                assert held.pending == progress.pending
                assert [hit.source for hit in index.search("fox", mode="bm25").hits] == [str(folder / "fox.txt")]

        report = index.sync(folder, progress=look)
        assert (report.embedded, report.passages, report.pending) == (3, 3, 0)
        assert index.info().pending == 0
        assert len(index.search("home", mode="vector").hits) == 3
    assert seen == [(3, 1, 2), (3, 2, 1), (3, 3, 0)]


def test_in_one_transaction_no_document_is_there_without_its_vectors(tmp_path: Path, folder: Path) -> None:
    with opened(tmp_path, SlowEmbedder()) as index:
        counts: list[tuple[int, int]] = []
        index.sync(
            folder,
            vectors="atomic",
            progress=lambda one: counts.append(
                (one.pending, index.info().documents if one.phase is Phase.EMBED else 0)
            ),
        )
        assert set(counts) == {(0, 0)}
        assert (index.info().pending, len(index)) == (0, 3)


def test_a_sync_that_breaks_goes_on_with_what_is_left(tmp_path: Path, folder: Path) -> None:
    broken = SlowEmbedder(most=1)
    with opened(tmp_path, broken) as index, pytest.raises(ModelError, match=r"broke. 2 passages have no vector yet"):
        index.sync(folder)
    mended = SlowEmbedder()
    with opened(tmp_path, mended) as index:
        assert (len(index), index.info().pending) == (3, 2)
        assert index.sync(folder, dry_run=True).pending == 2
        assert index.verify() == []
        report = index.sync(folder)
        assert (report.unchanged, report.passages, report.embedded, report.pending) == (3, 0, 2, 0)
        assert index.sync(folder).embedded == 0
    assert sorted(broken.embedded + mended.embedded) == sorted(TEXTS.values())


def test_what_changes_meanwhile_gets_the_vector_of_its_new_text(tmp_path: Path, folder: Path) -> None:
    embedder = SlowEmbedder()
    with opened(tmp_path, embedder) as index:
        index.sync(folder, vectors="later")
        assert (index.info().pending, embedder.embedded) == (3, [])
        (folder / "fox.txt").write_text("An old owl.")
        (folder / "dog.txt").unlink()
        report = index.sync(folder, vectors="later")
        assert (len(report.updated), len(report.deleted), report.pending) == (1, 1, 2)
        assert index.embed_pending() == 0
        assert sorted(embedder.embedded) == ["An old owl.", "The cat sat on the mat."]
        (best, _) = index.search("old owl", mode="vector").hits
        assert best.source == str(folder / "fox.txt")


def test_vectors_can_be_made_for_some_seconds_at_a_time(tmp_path: Path, folder: Path) -> None:
    with opened(tmp_path, SlowEmbedder()) as index:
        index.sync(folder, vectors="later")
        assert index.embed_pending(seconds=0.0) == 3
        steps: list[tuple[int, int]] = []
        assert index.embed_pending(progress=lambda one: steps.append((one.passages, one.pending))) == 0
        assert steps == [(1, 2), (2, 1), (3, 0)]


def test_a_document_that_is_added_has_its_vectors(tmp_path: Path, folder: Path) -> None:
    embedder = SlowEmbedder()
    with opened(tmp_path, embedder) as index:
        index.sync(folder, vectors="later")
        index.add("A bird sings.", source="bird.txt")
        assert embedder.embedded == ["A bird sings."]
        assert [hit.source for hit in index.search("bird", mode="vector").hits] == ["bird.txt"]


def test_renamed_files_keep_the_vectors_they_have(tmp_path: Path, folder: Path) -> None:
    embedder = SlowEmbedder()
    with opened(tmp_path, embedder) as index:
        index.sync(folder)
        (folder / "cat.txt").rename(folder / "tom.txt")
        report = index.sync(folder)
        assert (len(report.renamed), report.embedded, report.pending) == (1, 0, 0)
    assert len(embedder.embedded) == 3


def test_while_folders_are_watched_documents_come_first_and_vectors_when_nothing_changes(
    tmp_path: Path, folder: Path
) -> None:
    with opened(tmp_path, SlowEmbedder()) as index:
        reports = index.watch(folder)
        first = next(reports)
        assert (len(first.added), first.pending) == (3, 3)
        assert index.info().pending == 3
        second = next(reports)
        assert (second.added, second.pending, index.info().pending) == ((), 0, 0)


def test_an_embedder_without_a_model_gives_vectors_at_once(tmp_path: Path, folder: Path) -> None:
    with Index(tmp_path / "kb", embedder=HashingEmbedder()) as index:
        assert index.sync(folder, vectors="later").pending == 0


def test_two_syncs_of_one_index_share_the_work(tmp_path: Path, folder: Path) -> None:
    """Two threads give vectors at once: each passage gets one, from whichever is first."""
    with opened(tmp_path, SlowEmbedder()) as index:
        index.sync(folder, vectors="later")
        threads = [threading.Thread(target=index.embed_pending) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert index.info().pending == 0
        assert index.verify() == []
