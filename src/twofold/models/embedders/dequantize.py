"""Rewrite a model whose weights were quantized to 8 bits so that it runs on float weights, once, when it is fetched.

Files quantized "dynamically" quantize every activation on the way, at run time: `DynamicQuantizeLinear` →
`MatMulInteger` → `Cast` → `Mul`. On processors that are good at bfloat16 or float32 that costs most of the speed.
Here each such group becomes one `MatMul` of the unquantized activation with (weights - zero point) · scale. The weights
mean exactly what they meant before; the activations are no longer rounded to 256 steps, so vectors get *closer* to the
original model's. OpenVINO's importer takes the operators apart; this module knows the pieces it makes of them.

Worked number: an 8-bit weight of 140 with zero point 128 and scale 0.02 becomes (140 - 128) · 0.02 = 0.24.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import ModelError
from twofold.models.embedders.openvino_library import openvino_library

Node = Any  # openvino.Node; the library ships no types


def convert(weights: Path, target: Path) -> int:
    """Read an ONNX file and write OpenVINO's own form with float16 weights: `target` (.xml) and its .bin.

    Returns how many multiplications were rewritten: 0 for a model that was not quantized.
    """
    openvino = openvino_library()
    try:
        model = openvino.Core().read_model(weights)
    except RuntimeError as error:
        raise ModelError(f"OpenVINO cannot read {weights.name}.", "Fetch it again, or report the model.") from error
    rewritten = dequantize(model)
    openvino.save_model(model, target, compress_to_fp16=True)
    return rewritten


def dequantize(model: Any) -> int:  # noqa: ANN401 - openvino.Model; the library ships no types
    """Replace every quantized multiplication in place, and give their number.

    Raises ModelError when a multiplication of integers remains that has another shape than the known one.
    """
    opset13 = openvino_library().opset13
    rewritten = 0
    for scaling in model.get_ordered_ops():
        product = _integer_product_under(scaling)
        if product is None:
            continue
        weights = opset13.constant(_float_weights(product, _weight_scale(scaling, product)))
        replacement = opset13.matmul(_activation(product), weights, transpose_a=False, transpose_b=False)
        replacement.set_friendly_name(scaling.get_friendly_name())
        scaling.output(0).replace(replacement.output(0))
        rewritten += 1
    model.validate_nodes_and_infer_types()
    if any(_is_integer_product(node) for node in model.get_ops()):
        raise ModelError("The model is quantized in a way that twofold does not know.", "Use its float32 file.")
    return rewritten


def _integer_product_under(scaling: Node) -> Node | None:
    """Find the product under `Multiply(Convert(product), scale)`."""
    if scaling.get_type_name() != "Multiply":
        return None
    for operand in _operands(scaling):
        if operand.get_type_name() == "Convert" and _is_integer_product(_operand(operand, 0)):
            return _operand(operand, 0)
    return None


def _is_integer_product(node: Node) -> bool:
    return bool(node.get_type_name() == "MatMul" and node.get_output_element_type(0).is_integral())


def _weight_scale(scaling: Node, product: Node) -> NDArray[np.float32]:
    """Return the weights' scale, one number or one a column, from `Multiply(activation's scale, weights' scale)`."""
    scales = [node for node in _operands(scaling) if _operand(node, 0).get_name() != product.get_name()]
    constants = [node for node in _operands(scales[0]) if node.get_type_name() == "Constant"] if scales else []
    if len(constants) != 1:
        raise ModelError("The model's weights carry no constant scale.", "Use its float32 file.")
    return np.asarray(constants[0].get_data(), dtype=np.float32)


def _float_weights(product: Node, scale: NDArray[np.float32]) -> NDArray[np.float32]:
    """Undo `Subtract(Convert(weights), Convert(zero point))` and apply the scale."""
    quantized, zero_point = (_operand(side, 0).get_data() for side in _operands(_operand(product, 1)))
    whole = quantized.astype(np.int32) - zero_point.astype(np.int32)
    weights: NDArray[np.float32] = whole.astype(np.float32) * scale
    return weights


def _activation(product: Node) -> Any:  # noqa: ANN401 - openvino.Output
    """Find what was quantized, under `Divide(Multiply(x, 255), max - min)`, rounded, shifted, clamped and converted."""
    node = _operand(product, 0)
    while node.get_type_name() in {"Subtract", "Convert", "Clamp", "Add", "Round"}:
        node = _operand(node, 0)
    stretched = _operand(node, 0) if node.get_type_name() == "Divide" else node
    if stretched.get_type_name() != "Multiply":
        raise ModelError("The model quantizes its activations in a way twofold does not know.", "Use its float32 file.")
    return stretched.input(0).get_source_output()


def _operand(node: Node, place: int) -> Node:
    return node.input(place).get_source_output().get_node()


def _operands(node: Node) -> list[Node]:
    return [_operand(node, place) for place in range(node.get_input_size())]
