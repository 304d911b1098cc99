"""The rewritten model computes what the weights mean."""

from pathlib import Path

import numpy as np
import pytest

from support import tiny_model
from twofold.domain.errors import ModelError
from twofold.models.embedders.dequantize import convert, dequantize
from twofold.models.embedders.openvino_library import openvino_library

NUMBERS = np.array([[2, 4, 6, 3], [2, 5, 3, 0]])


def run(path: Path) -> np.ndarray:
    model = openvino_library().Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    (hidden,) = model({"input_ids": NUMBERS, "attention_mask": np.ones_like(NUMBERS)}).values()
    return np.asarray(hidden)


@pytest.mark.parametrize("columns", [1, tiny_model.DIMENSIONS])
def test_weights_are_unquantized_and_activations_stay_whole(tmp_path: Path, columns: int) -> None:
    (tmp_path / "model.onnx").write_bytes(tiny_model.quantized_onnx(columns))

    assert convert(tmp_path / "model.onnx", tmp_path / "model.xml") == 1

    drawn = tiny_model.weights(columns)
    meant = (drawn["quantized"].astype(np.float32) - drawn["zero_point"]) * drawn["scale"]
    expected = drawn["embedding"][NUMBERS] @ meant
    assert run(tmp_path / "model.xml") == pytest.approx(expected, rel=2e-3, abs=5e-3)
    quantized = run(tmp_path / "model.onnx")
    assert np.abs(run(tmp_path / "model.xml") - expected).max() < np.abs(quantized - expected).max()


def test_a_model_in_floats_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(tiny_model.quantized_onnx())
    model = openvino_library().Core().read_model(tmp_path / "model.onnx")
    assert dequantize(model) == 1

    assert dequantize(model) == 0


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a model")

    with pytest.raises(ModelError, match=r"cannot read model\.onnx"):
        convert(tmp_path / "model.onnx", tmp_path / "model.xml")
