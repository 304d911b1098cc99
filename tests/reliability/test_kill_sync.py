"""A sync that is killed again and again ends, when it is let, where one that was never killed ends."""

import random
from contextlib import suppress
from pathlib import Path

import pytest

from reliability.processes import PROCESSES, sync_until_killed
from support.slow_embedder import SlowEmbedder
from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder

FILES = 150
FEW = 40
WORDS = ["apple", "river", "stone", "cloud", "engine", "paper", "winter", "signal"]


def write(path: Path, random_: random.Random) -> None:
    parts = [f"# Part {part}\n\n" + " ".join(random_.choices(WORDS, k=40)) for part in range(random_.randint(1, 3))]
    path.write_text("\n\n".join(parts), encoding="utf-8")


def change(documents: Path, random_: random.Random) -> None:
    """Write some files anew, remove some and rename some."""
    chosen = random_.sample(sorted(documents.iterdir()), 12)
    for path in chosen[:5]:
        write(path, random_)
    for path in chosen[5:8]:
        path.unlink()
    for path in chosen[8:]:
        path.rename(path.with_name(f"moved {random_.randrange(10**6)} {path.name}"))


def kill_a_sync(folder: Path, documents: Path, moves: int, *, vectors_follow: bool = False) -> None:
    """Kill a sync after so many moves of its progress bar, or after it has ended."""
    pipe, end = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(
        target=sync_until_killed, args=(folder, documents, end), kwargs={"vectors_follow": vectors_follow}
    )
    process.start()
    end.close()
    with suppress(EOFError):
        for _ in range(moves):
            pipe.recv_bytes()
    process.kill()
    process.join()
    pipe.close()


def everything(index: Index) -> object:
    """Give all that a user can see of an index."""
    listed = index.documents()
    passages = {info.source: [chunk.text for chunk in index.chunks(info.id)] for info in listed}
    hits = [index.search(word, k=1000, mode=mode).hits for word in WORDS for mode in ("bm25", "vector", "hybrid")]
    return listed, passages, [[(hit.chunk_id, hit.score) for hit in found] for found in hits]


def halves(index: Index) -> list[str]:
    """Name the documents of which not all is there."""
    by_vector = {hit.chunk_id for hit in index.search("apple", k=1000, mode="vector").hits}
    return [
        info.source
        for info in index.documents()
        if info.chunks != len(index.chunks(info.id)) or not {chunk.id for chunk in index.chunks(info.id)} <= by_vector
    ]


@pytest.mark.parametrize("kills", [8, pytest.param(200, marks=pytest.mark.soak)])
def test_a_sync_that_is_killed_converges(tmp_path: Path, kills: int) -> None:
    random_ = random.Random(kills)  # noqa: S311
    documents = tmp_path / "documents"
    documents.mkdir()
    for number in range(FILES):
        write(documents / f"{number}.md", random_)
    for _ in range(kills):
        kill_a_sync(tmp_path / "killed", documents, random_.randint(1, 2 * FILES))
        with Index(tmp_path / "killed", embedder=HashingEmbedder()) as index:
            assert halves(index) == []
        change(documents, random_)
        for number in range(6):
            write(documents / f"new {number}.md", random_)
    with (
        Index(tmp_path / "killed", embedder=HashingEmbedder()) as index,
        Index(tmp_path / "whole", embedder=HashingEmbedder()) as whole,
    ):
        index.sync(documents)
        whole.sync(documents)
        assert everything(index) == everything(whole)
        assert list(index.verify()) == []


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.soak)])
def test_a_sync_that_is_killed_while_vectors_follow_goes_on_with_the_rest(tmp_path: Path, kills: int) -> None:
    random_ = random.Random(kills)  # noqa: S311
    documents, folder = tmp_path / "documents", tmp_path / "killed"
    documents.mkdir()
    for number in range(FEW):
        write(documents / f"{number}.md", random_)
    kill_a_sync(folder, documents, FEW + 5, vectors_follow=True)
    before, seen = 10**6, set()
    for _ in range(kills):
        with Index(folder, embedder=SlowEmbedder()) as index:
            pending = index.info().pending
            words = {hit.source for word in WORDS for hit in index.search(word, k=1000, mode="bm25").hits}
            assert {info.source for info in index.documents()} == words
            vectors = sum(len(index.search(word, k=1000, mode="vector").hits) for word in WORDS[:1])
            assert vectors == index.info().chunks - pending
            assert pending <= before
            assert list(index.verify()) == []
        before = pending
        seen.add(pending)
        kill_a_sync(folder, documents, random_.randint(1, 6), vectors_follow=True)
    assert len(seen) > 2, "some kills came while vectors were given"
    rest = SlowEmbedder()
    with Index(folder, embedder=rest) as index, Index(tmp_path / "whole", embedder=SlowEmbedder()) as whole:
        pending = index.info().pending
        report = index.sync(documents)
        assert (len(rest.embedded), report.pending) == (report.embedded, 0)
        assert len(rest.embedded) <= pending
        whole.sync(documents, vectors="atomic")
        assert everything(index) == everything(whole)
