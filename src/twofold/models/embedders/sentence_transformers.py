"""Any model that the sentence-transformers library loads, on PyTorch: an extra, large and slow to start.

Nothing that a model's repository brings along is run: `trust_remote_code` stays off.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from twofold.domain.errors import MissingExtraError, ModelError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.models.devices import Device, no_gpu
from twofold.models.embedders.batching import DynamicBatcher, unit_rows
from twofold.models.tokens import encodable

QUERY = "query"
PASSAGE = "document"
PROBE = "How many dimensions?"


class SentenceTransformersEmbedder:
    """Embeds with a loaded sentence-transformers model and the prompts it was trained with. Thread-safe."""

    def __init__(self, model: Any, name: str) -> None:  # noqa: ANN401 - SentenceTransformer; an extra
        self._model = model
        self._using = threading.Lock()
        self._identity = EmbedderIdentity(
            name=name,
            revision=_revision(model),
            dimensions=int(
                model.encode([PROBE], show_progress_bar=False).shape[1]
            ),  # its own name for this has changed
            pooling="sentence-transformers",
            query_prefix=model.prompts.get(QUERY) or "",
            passage_prefix=model.prompts.get(PASSAGE) or "",
            max_tokens=int(model.max_seq_length or 512),
        )
        self._embed = DynamicBatcher(self._run)

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on."""
        return self._identity

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: (len(texts), dimensions) float32, rows of length 1, in the order given."""
        return self._embed([self._identity.passage_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, with the model's query prompt."""
        return self._embed([self._identity.query_prefix + text for text in texts])

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count each text's tokens, without prompt, special tokens or truncation."""
        with self._using:
            tokenizer = self._opened().tokenizer
            return [len(tokenizer.encode(encodable(text), add_special_tokens=False, verbose=False)) for text in texts]

    def close(self) -> None:
        """Free the model. Calling it twice does nothing more; embedding after it raises ModelError."""
        with self._using:
            self._model = None

    def _run(self, texts: Sequence[str]) -> Vectors:
        with self._using:
            model = self._opened()
            clean = [encodable(text) for text in texts]
            try:
                raw = model.encode(clean, prompt="", convert_to_numpy=True, show_progress_bar=False)
            except RuntimeError as error:
                raise ModelError(f"{self._identity.name} failed: {error}.", "Embed fewer texts at once.") from error
        rows = np.asarray(raw, dtype=np.float32).reshape(len(texts), -1) if len(texts) else self._nothing()
        return unit_rows(rows, len(texts), self._identity.dimensions, self._identity.name)

    def _nothing(self) -> Vectors:
        return np.empty((0, self._identity.dimensions), dtype=np.float32)

    def _opened(self) -> Any:  # noqa: ANN401 - SentenceTransformer; an extra
        if self._model is None:
            raise ModelError(f"The embedder {self._identity.name} was closed.", "Open it again.")
        return self._model


def open_sentence_transformers(
    name: str, cache: Path, *, offline: bool, device: Device = Device.AUTO
) -> SentenceTransformersEmbedder:
    """Load a model by its name on the hub, or from a folder. Raises MissingExtraError, ModelError."""
    try:
        import sentence_transformers
    except ModuleNotFoundError as error:
        if error.name != "sentence_transformers":
            raise
        raise MissingExtraError(
            "sentence-transformers is not installed.", "Run `pip install 'twofold[sentence-transformers]'`."
        ) from error
    folder = str(cache / "sentence-transformers")
    try:
        model = sentence_transformers.SentenceTransformer(
            name, device=_torch_device(device), cache_folder=folder, local_files_only=offline, trust_remote_code=False
        )
    except (OSError, ValueError, RuntimeError) as error:
        hint = "Check its name and the network; offline, give the path of its folder."
        raise ModelError(f"sentence-transformers cannot load {name!r}.", hint) from error
    return SentenceTransformersEmbedder(model, name)


def _torch_device(device: Device) -> str | None:
    """Return PyTorch's name of a device, None to leave it to the library. Raises ModelError where there is no GPU."""
    if device is not Device.GPU:
        return "cpu" if device is Device.CPU else None
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if torch.backends.mps.is_available():
        return "mps"
    raise no_gpu("PyTorch", ["cpu"], "Set `device` to cpu, or install a PyTorch that is built for the GPU.")


def _revision(model: Any) -> str:  # noqa: ANN401 - SentenceTransformer; an extra
    """Return the commit that the weights were fetched at, "" for a local folder."""
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return str(getattr(config, "_commit_hash", None) or "")
