"""A model of a few kilobytes whose weights are packed into 4 bits, and what it must compute, in numpy."""

import hashlib
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.ports import Scale
from twofold.models.catalog.types import ModelEntry, ModelFile, Pooling, Source, Task
from twofold.models.embedders.four_bit import read_packed, unpacked

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁the", "▁cat", "▁sat", "▁kätz", "chen", "c", "a", "t", "▁1", "2"]
SCORES = [0.0, 0.0, 0.0, 0.0, -3.0, -2.0, -2.5, -2.5, -4.0, -4.0, -6.0, -6.0, -6.0, -5.0, -5.0]
HIDDEN, LAYERS, HEADS, INNER, PLACES = 64, 2, 2, 96, 24
EPSILON = 1e-12


def packed(weights: NDArray[np.float32]) -> bytes:
    """Pack weights into blocks of 32: a float16 scale, then 16 bytes of two halves."""
    blocks = weights.reshape(-1, 32)
    scales = np.maximum(np.abs(blocks).max(axis=1, keepdims=True) / 7, 1e-4).astype("<f2")
    halves = np.clip(np.round(blocks / scales.astype(np.float32)) + 8, 0, 15).astype(np.uint8)
    return np.concatenate([scales.view(np.uint8), halves[:, :16] | (halves[:, 16:] << 4)], axis=1).tobytes()


def content() -> bytes:
    """Write the whole file."""
    drawn = np.random.default_rng(11)
    texts = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, texts)]).astype("<u4")
    parts = [
        struct.pack("<4sI7ifi", b"E5S1", 1, HIDDEN, LAYERS, HEADS, INNER, len(PIECES), PLACES, 1, EPSILON, 32),
        struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(ends[-1])),
        ends.tobytes(),
        np.array(SCORES, dtype="<f4").tobytes(),
        *texts,
        struct.pack("<iI", 1, 9),
        struct.pack("<IBI", 0xA0, 1, 0x20),
    ]
    tensors = [(name, *_tensor(drawn, name, shape)) for name, shape in _shapes().items()]
    directory = struct.pack("<i", len(tensors))
    place = sum(map(len, parts)) + 4 + sum(2 + len(name) + 21 for name, *_ in tensors)
    for name, kind, count, data in tensors:
        directory += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, count, place, len(data))
        place += len(data)
    return b"".join([*parts, directory, *(data for *_, data in tensors)])


def _shapes() -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"emb.word": (len(PIECES), HIDDEN), "emb.pos": (PLACES * HIDDEN,)}
    shapes |= {"emb.type": (HIDDEN,), "emb.ln.w": (HIDDEN,), "emb.ln.b": (HIDDEN,)}
    for layer in range(LAYERS):
        sizes = {"q": (HIDDEN, HIDDEN), "k": (HIDDEN, HIDDEN), "v": (HIDDEN, HIDDEN), "ao": (HIDDEN, HIDDEN)}
        sizes |= {"fi": (INNER, HIDDEN), "fo": (HIDDEN, INNER)}
        for name, shape in sizes.items():
            shapes |= {f"l{layer}.{name}.w": shape, f"l{layer}.{name}.b": shape[:1]}
        for name in ("aln", "oln"):
            shapes |= {f"l{layer}.{name}.w": (HIDDEN,), f"l{layer}.{name}.b": (HIDDEN,)}
    return shapes


def _tensor(drawn: np.random.Generator, name: str, shape: tuple[int, ...]) -> tuple[int, int, bytes]:
    values = drawn.normal(size=shape, scale=0.2).astype("<f4") + (1 if name.endswith("ln.w") else 0)
    return (1, values.size, packed(values)) if len(shape) > 1 else (0, values.size, values.astype("<f4").tobytes())


def entry(sources: Sequence[Source], tokenizer_sha256: str) -> ModelEntry:
    """Pin the file in a catalog entry."""
    made = content()
    return ModelEntry(
        name="packed",
        task=Task.EMBED,
        licence="MIT",
        dimensions=HIDDEN,
        pooling=Pooling.MEAN,
        max_tokens=PLACES,
        scale=Scale.COSINE,
        files=(ModelFile("model.q4", hashlib.sha256(made).hexdigest(), len(made), tuple(sources)),),
        made_tokenizer=tokenizer_sha256,
    )


def vector(ids: Sequence[int]) -> NDArray[np.float32]:
    """Compute what a text of these tokens must become: BERT, the mean of its tokens, length 1."""
    tensors = read_packed(content()).tensors
    state = unpacked(tensors["emb.word"], HIDDEN)[list(ids)]
    state = state + tensors["emb.pos"].reshape(PLACES, HIDDEN)[: len(ids)] + tensors["emb.type"]
    state = _normalized(state, tensors, "emb.ln.")
    for layer in range(LAYERS):
        state = _layer(state, tensors, f"l{layer}.")
    mean = state.mean(axis=0)
    unit: NDArray[np.float32] = mean / np.linalg.norm(mean)
    return unit


def _layer(state: NDArray[np.float32], tensors: Mapping[str, Any], name: str) -> NDArray[np.float32]:
    width = HIDDEN // HEADS
    query, key, value = (_linear(state, tensors, f"{name}{part}.") for part in "qkv")
    seen = np.empty_like(state)
    for head in range(HEADS):
        part = slice(head * width, (head + 1) * width)
        scores = np.exp(query[:, part] @ key[:, part].T / np.sqrt(width))
        seen[:, part] = scores / scores.sum(axis=1, keepdims=True) @ value[:, part]
    state = _normalized(state + _linear(seen, tensors, f"{name}ao."), tensors, f"{name}aln.")
    inner = _linear(state, tensors, f"{name}fi.")
    inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / np.sqrt(2)))
    return _normalized(state + _linear(inner, tensors, f"{name}fo."), tensors, f"{name}oln.")


def _linear(state: NDArray[np.float32], tensors: Mapping[str, Any], name: str) -> NDArray[np.float32]:
    made: NDArray[np.float32] = state @ unpacked(tensors[f"{name}w"], state.shape[1]).T + tensors[f"{name}b"]
    return made


def _normalized(state: NDArray[np.float32], tensors: Mapping[str, Any], name: str) -> NDArray[np.float32]:
    even = (state - state.mean(axis=1, keepdims=True)) / np.sqrt(state.var(axis=1, keepdims=True) + EPSILON)
    made: NDArray[np.float32] = even * tensors[f"{name}w"] + tensors[f"{name}b"]
    return made
