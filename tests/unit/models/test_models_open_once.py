"""Models are opened when they are needed, once for all threads, and no two callers are inside one."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from support import tiny_model
from twofold.domain.ports import Embedder, Reranker, Scale
from twofold.factory.search import OpenRerankers
from twofold.models.embedders.caching import CachingEmbedder
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.models.embedders.transformer import TransformerEmbedder
from twofold.models.lazy import LazyEmbedder, LazyReranker, RecoveringEmbedder, is_loaded
from twofold.models.rerankers.cross_encoder import CrossEncoder
from twofold.models.rerankers.word_overlap import WordOverlap

THREADS = 16
ENTRY = tiny_model.entry(dict.fromkeys(tiny_model.contents(), ()), tiny_model.contents(), max_tokens=64)


class Inside:
    """A runtime that says how many callers were inside it at once, and how often it was loaded."""

    def __init__(self) -> None:
        self.loads = 0
        self.callers = 0
        self.most = 0
        self.runs = 0

    def load(self, *_: object) -> Callable[..., NDArray[np.float32]]:
        self.loads += 1
        return self.run

    def run(self, numbers: NDArray[np.int64], *others: NDArray[np.int64]) -> NDArray[np.float32]:
        self.callers += 1
        self.most = max(self.most, self.callers)
        self.runs += 1
        threading.Event().wait(0.001)  # lets any other thread in that could come in
        self.callers -= 1
        width = 1 if len(others) > 1 else tiny_model.DIMENSIONS
        shape = (len(numbers), 1) if width == 1 else (*numbers.shape, width)
        return np.ones(shape, dtype=np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in tiny_model.contents().items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def at_once(call: Callable[[], object]) -> None:
    """Call from many threads that all set out together; raise what any of them raised."""
    ready, failures = threading.Barrier(THREADS), list[BaseException]()

    def work() -> None:
        ready.wait()
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - it is raised again below
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_many_threads_construct_one_reranker_and_never_meet_in_it(folder: Path) -> None:
    inside, constructed = Inside(), list[int]()

    def construct() -> Reranker:
        constructed.append(1)
        return CrossEncoder(replace(ENTRY, scale=Scale.LOGIT), folder, 32, inside.load)

    reranker = LazyReranker(replace(ENTRY, scale=Scale.LOGIT).reranker_identity(32), construct)
    assert constructed == []
    at_once(lambda: reranker.score("cat", ["the cat sat"] * 7))

    assert len(constructed) == inside.loads == inside.most == 1
    assert inside.runs >= THREADS


def test_many_threads_construct_one_embedder_and_never_meet_in_it(folder: Path) -> None:
    inside, constructed = Inside(), list[int]()

    def construct() -> Embedder:
        constructed.append(1)
        return TransformerEmbedder(ENTRY, ENTRY.identity, folder, inside.load)

    embedder = CachingEmbedder(RecoveringEmbedder(LazyEmbedder(ENTRY.identity, construct), construct))
    texts = iter(tiny_model.WORDS[4:] * THREADS)
    at_once(lambda: embedder.embed_queries([next(texts)]))

    assert len(constructed) == inside.loads == inside.most == 1


def test_many_threads_that_name_a_reranker_get_the_same_one() -> None:
    made: list[str] = []

    def opener(spec: str) -> Reranker:
        made.append(spec)
        return WordOverlap()

    rerankers, got = OpenRerankers(opener), list[Reranker | None]()
    at_once(lambda: got.append(rerankers.named("one")))

    assert made == ["one"]
    assert len(set(map(id, got))) == 1


def test_what_was_not_needed_is_not_loaded_and_says_so() -> None:
    hashing = HashingEmbedder()
    embedder = CachingEmbedder(RecoveringEmbedder(LazyEmbedder(hashing.identity, HashingEmbedder), HashingEmbedder))
    words = WordOverlap()
    rerankers = OpenRerankers(lambda _: LazyReranker(words.identity, WordOverlap))
    reranker = rerankers.named("word-overlap")
    assert reranker is not None

    assert not is_loaded(embedder)
    assert rerankers.loaded() == ()
    embedder.embed_queries(["a"])
    reranker.score("a", ["b"])
    assert is_loaded(embedder)
    assert rerankers.loaded() == ("word-overlap",)
    embedder.close()
    rerankers.close()
    assert not is_loaded(embedder)
    assert is_loaded(hashing)
