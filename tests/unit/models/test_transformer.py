"""The embedder around a transformer: truncation, pooling, checks, and a model that fails."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from support import tiny_model
from twofold.domain.errors import ModelError
from twofold.indexing.prepare import count_truncated
from twofold.models.catalog.types import ModelEntry, Pooling
from twofold.models.embedders.batching import pool, unit_rows
from twofold.models.embedders.onnxruntime import load_session, open_onnxruntime
from twofold.models.embedders.transformer import TransformerEmbedder

CONTENTS = tiny_model.contents()
ENTRY = tiny_model.entry(dict.fromkeys(CONTENTS, ()), CONTENTS)
Hidden = NDArray[np.float32]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in CONTENTS.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def with_model(folder: Path, forward: Callable[[NDArray[np.int64], NDArray[np.int64]], Hidden]) -> TransformerEmbedder:
    return TransformerEmbedder(ENTRY, ENTRY.identity, folder, lambda *_: forward)


def seen_by(folder: Path, texts: list[str], *, query: bool = False) -> list[list[int]]:
    """Give the token numbers that the model was handed for each text."""
    seen: dict[int, list[int]] = {}

    def forward(numbers: NDArray[np.int64], mask: NDArray[np.int64]) -> Hidden:
        for row, marks in zip(numbers, mask, strict=True):
            seen[len(seen)] = row[marks == 1].tolist()
            assert not row[marks == 0].any()
        return np.ones((*numbers.shape, tiny_model.DIMENSIONS), dtype=np.float32)

    embedder = with_model(folder, forward)
    (embedder.embed_queries if query else embedder.embed_passages)(texts)
    return list(seen.values())


def test_the_end_of_a_long_text_is_cut_and_the_last_token_stays(folder: Path) -> None:
    assert seen_by(folder, ["the cat sat"]) == [[2, 8, 4, 6, 3]]
    assert seen_by(folder, ["the cat sat a mat dog"]) == [[2, 8, 4, 6, 9, 3]]


def test_queries_carry_their_prefix(folder: Path) -> None:
    assert seen_by(folder, ["cat"], query=True) == [[2, 9, 4, 3]]


def test_truncation_is_counted(folder: Path) -> None:
    embedder = with_model(folder, lambda numbers, _: np.ones((*numbers.shape, 8), dtype=np.float32))

    assert list(embedder.count_tokens(["", "the cat", "the cat sat a mat"])) == [0, 2, 5]
    assert count_truncated(embedder, ["", "the cat sat a", "the cat sat a mat"]) == 1


def test_pooling_looks_at_real_tokens_alone() -> None:
    hidden = np.array([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]], dtype=np.float32)
    mask = np.array([[1, 1, 0]])

    assert pool(hidden, mask, Pooling.MEAN).tolist() == [[2.0, 3.0]]
    assert pool(hidden, mask, Pooling.CLS).tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([[1.0, np.nan]], "not all numbers"),
        ([[np.inf, 1.0]], "not all numbers"),
        ([[0.0, 0.0]], "zero vector"),
        ([[1.0, 0.0, 0.0]], r"shape \(1, 3\) instead of \(1, 2\)"),
        ([[1.0, 0.0]] * 2, r"shape \(2, 2\) instead of \(1, 2\)"),
    ],
)
def test_what_is_no_vector_is_refused(rows: list[list[float]], complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        unit_rows(np.array(rows, dtype=np.float32), 1, 2, "a model")


def test_rows_too_long_for_float32_squares_still_become_unit() -> None:
    assert unit_rows(np.array([[3e30, 4e30]], dtype=np.float32), 1, 2, "m") == pytest.approx(np.array([[0.6, 0.8]]))


def test_numbers_that_are_none_never_leave_the_embedder(folder: Path) -> None:
    broken = with_model(folder, lambda numbers, _: np.full((*numbers.shape, 8), np.nan, dtype=np.float32))

    with pytest.raises(ModelError, match="tiny gave a vector that is not all numbers"):
        broken.embed_passages(["cat"])


def test_a_model_that_cannot_be_mapped_says_so_at_every_call(folder: Path) -> None:
    def failing(_: ModelEntry, __: Path) -> Callable[[NDArray[np.int64], NDArray[np.int64]], Hidden]:
        raise ModelError("no weights")

    embedder = TransformerEmbedder(ENTRY, ENTRY.identity, folder, failing)
    for _ in range(2):
        with pytest.raises(ModelError, match="no weights"):
            embedder.embed_passages(["cat"])


def test_weights_are_mapped_in_a_thread_that_ends_while_the_tokenizer_is_read(folder: Path) -> None:
    seen: list[threading.Thread] = []

    def load(_: ModelEntry, __: Path) -> Callable[[NDArray[np.int64], NDArray[np.int64]], Hidden]:
        seen.append(threading.current_thread())
        return lambda numbers, _mask: np.ones((*numbers.shape, 8), dtype=np.float32)

    embedder = TransformerEmbedder(ENTRY, ENTRY.identity, folder, load)
    for _ in range(2):
        assert embedder.embed_queries(["cat"]).shape == (1, 8)

    assert [one is threading.current_thread() or one.is_alive() for one in seen] == [False]


def test_without_a_tokenizer_no_thread_is_left(folder: Path) -> None:
    seen: list[threading.Thread] = []

    def load(_: ModelEntry, __: Path) -> Callable[[NDArray[np.int64], NDArray[np.int64]], Hidden]:
        seen.append(threading.current_thread())
        return lambda numbers, _mask: np.ones((*numbers.shape, 8), dtype=np.float32)

    (folder / "tokenizer.json").unlink()
    embedder = TransformerEmbedder(ENTRY, ENTRY.identity, folder, load)
    with pytest.raises(ModelError):
        embedder.embed_queries(["cat"])

    assert not any(one.is_alive() for one in seen)


def test_a_closed_embedder_is_closed(folder: Path) -> None:
    embedder = open_onnxruntime(ENTRY, folder)
    embedder.embed_passages(["cat"])
    embedder.close()
    embedder.close()

    with pytest.raises(ModelError, match="was closed"):
        embedder.embed_passages(["cat"])
    assert embedder.identity.name == "tiny"


def test_onnxruntime_runs_quantized_texts_one_by_one(folder: Path) -> None:
    embedder = open_onnxruntime(ENTRY, folder)
    texts = ["the cat", "a dog ran", "mat", "the the the dog"]

    together = embedder.embed_passages(texts)

    assert together.tolist() == np.concatenate([embedder.embed_passages([text]) for text in texts]).tolist()


def test_onnxruntime_refuses_a_damaged_file(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(CONTENTS["model.onnx"][:-1] + b"?")

    with pytest.raises(ModelError, match="Run `twofold models pull tiny`"):
        load_session(ENTRY, folder)
