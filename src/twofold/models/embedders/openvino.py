"""The default runtime: OpenVINO on CPUs of every make.

Where the processor multiplies bfloat16 natively (AVX-512-BF16, AMX) OpenVINO chooses it, else float32; either way
vectors agree to a cosine above 0.999.
"""

from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import ModelError
from twofold.models.catalog.types import ModelEntry
from twofold.models.devices import Device
from twofold.models.embedders.compiled import Compiled, compiled_model
from twofold.models.embedders.transformer import TransformerEmbedder


class Session:
    """A mapped model that computes. For one thread at a time."""

    def __init__(self, compiled: Compiled, name: str) -> None:
        self._request = compiled.model.create_infer_request()
        self._compiled = compiled  # its memory must outlive the request
        self._name = name
        self._asked = frozenset(given.get_any_name() for given in compiled.model.inputs)

    def __call__(
        self, numbers: NDArray[np.int64], mask: NDArray[np.int64], kinds: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """Compute the model's first output in OpenVINO's own memory, valid until the next call.

        It is hidden states (texts, tokens, dimensions), or a reranker's logits (pairs, 1). `kinds` are the token types,
        0 throughout when left out.
        """
        types = np.zeros_like(numbers) if kinds is None else kinds
        given = {"input_ids": numbers, "attention_mask": mask, "token_type_ids": types}
        try:
            self._request.infer({name: given[name] for name in self._asked}, share_inputs=True)
        except RuntimeError as error:
            raise ModelError(f"OpenVINO failed in {self._name}.", "Send fewer or shorter texts at once.") from error
        hidden: NDArray[np.float32] = self._request.get_output_tensor(0).data
        return hidden


def load_session(entry: ModelEntry, folder: Path, device: Device = Device.AUTO) -> Session:
    """Map a converted model. Raises ModelError when it is missing or damaged, or the device is not there."""
    return Session(compiled_model(folder, entry.hint, device), entry.name)


def open_openvino(entry: ModelEntry, folder: Path, device: Device = Device.AUTO) -> TransformerEmbedder:
    """Make an embedder for a catalog model whose files are in `folder`."""
    return TransformerEmbedder(entry, entry.identity, folder, partial(load_session, device=device))
