"""The other runtime: ONNX Runtime on the file as it was fetched. An extra, for platforms that OpenVINO does not serve.

A file quantized to 8 bits runs as it is, activations rounded too, in steps that depend on everything that runs at once.
So its texts run one by one, or a vector would depend on its company (cosine 0.995 instead of 1); and its vectors differ
from OpenVINO's, which the identity says: a collection built with the one refuses the other. Float files agree.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import MissingExtraError, ModelError
from twofold.domain.ports import EmbedderIdentity
from twofold.models.catalog.files import difference_from_pinned
from twofold.models.catalog.types import WEIGHTS, ModelEntry
from twofold.models.devices import Device, no_gpu
from twofold.models.embedders.transformer import MAX_TEXTS, TransformerEmbedder

CPU = "CPUExecutionProvider"
GPU = "CUDAExecutionProvider"
NO_GPU_REMEDY = "Set `device` to cpu, or run `pip install onnxruntime-gpu` and install CUDA."


def identity_on_onnxruntime(entry: ModelEntry) -> EmbedderIdentity:
    """Return the identity of a model run by ONNX Runtime: another one where activations are quantized on the way."""
    own = entry.identity
    return replace(own, revision=f"{own.revision}-int8") if entry.quantized else own


class Session:
    """A loaded model that computes hidden states."""

    def __init__(self, weights: Path, entry: ModelEntry, device: Device = Device.AUTO) -> None:
        if what := difference_from_pinned(entry.weights, weights.parent):
            raise ModelError(f"{weights} cannot be used: {what}.", entry.hint)
        runtime = _imported()
        failures = runtime.capi.onnxruntime_pybind11_state
        self._failures = (failures.Fail, failures.InvalidArgument, failures.RuntimeException, failures.EPFail)
        self._name = entry.name
        options = runtime.SessionOptions()
        options.log_severity_level = 3  # errors only
        providers = _providers(runtime.get_available_providers(), device)
        try:
            self._session = runtime.InferenceSession(weights, options, providers=providers)
        except (failures.NotImplemented, failures.InvalidGraph, failures.NoSuchFile, *self._failures) as error:
            raise ModelError(f"ONNX Runtime cannot load {entry.name}.", "Update it, or use OpenVINO.") from error
        running = self._session.get_providers()
        if device is Device.GPU and GPU not in running:  # where CUDA's own libraries are missing it only logs that
            raise no_gpu("ONNX Runtime", running, NO_GPU_REMEDY)
        self._asked = frozenset(given.name for given in self._session.get_inputs())

    def __call__(self, numbers: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Compute (texts, tokens, dimensions) hidden states."""
        given = {"input_ids": numbers, "attention_mask": mask, "token_type_ids": np.zeros_like(numbers)}
        try:
            hidden: NDArray[np.float32] = self._session.run(None, {name: given[name] for name in self._asked})[0]
        except self._failures as error:
            raise ModelError(
                f"ONNX Runtime failed in {self._name}.", "Embed fewer or shorter texts at once."
            ) from error
        return hidden


def load_session(entry: ModelEntry, folder: Path, device: Device = Device.AUTO) -> Session:
    """Load the file as fetched. Raises MissingExtraError, or ModelError when it cannot be loaded on that device."""
    return Session(folder / WEIGHTS, entry, device)


def open_onnxruntime(entry: ModelEntry, folder: Path, device: Device = Device.AUTO) -> TransformerEmbedder:
    """Make an embedder for a catalog model whose files are in `folder`."""
    most_texts = 1 if entry.quantized else MAX_TEXTS
    load = partial(load_session, device=device)
    return TransformerEmbedder(entry, identity_on_onnxruntime(entry), folder, load, most_texts)


def _providers(there: Sequence[str], device: Device) -> list[str]:
    """Choose what computes, best first. Raises ModelError where a GPU is wanted and missing."""
    if device is Device.GPU and GPU not in there:
        raise no_gpu("ONNX Runtime", there, NO_GPU_REMEDY)
    wanted = (CPU,) if device is Device.CPU else (GPU, CPU)
    return [name for name in wanted if name in there]


def _imported() -> Any:  # noqa: ANN401 - the module has no types
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        if error.name != "onnxruntime":
            raise
        raise MissingExtraError(
            "ONNX Runtime is not installed.", "Run `pip install 'twofold[onnxruntime]'`."
        ) from error
    return onnxruntime
