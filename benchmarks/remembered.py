"""An embedder that remembers: each text is embedded once and its vector kept in a file, as the engine keeps it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from tempfile import gettempdir

import numpy as np

from twofold.config.load import models_folder
from twofold.domain.ports import Embedder, EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.models.catalog.identities import identity_of
from twofold.models.embedders.factory import open_embedder

MEMORY = Path(gettempdir()) / "twofold-vectors"
KEY_BYTES = 16
TEXT_BATCH_SIZE = 256


class CachingEmbedder:
    """Answers from the folder's file where it can, and adds to it what it cannot. Vectors are kept as float16."""

    def __init__(self, inner: Embedder, folder: Path) -> None:
        self._inner = inner
        self.identity: EmbedderIdentity = inner.identity
        name = blake2b(repr(self.identity).encode(), digest_size=6).hexdigest()
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f"vectors-{name}.bin"
        self._record = np.dtype([("key", f"V{KEY_BYTES}"), ("vector", "<f2", (self.identity.dimensions,))])
        self._known: dict[bytes, np.ndarray] = {}
        self.embedded = 0
        if self._file.exists():
            held = np.fromfile(self._file, dtype=self._record)
            self._known = dict(zip((key.tobytes() for key in held["key"]), held["vector"], strict=True))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages, each text once and for all."""
        return self._all("passage", texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, each once and for all."""
        return self._all("query", texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count tokens as the model sees them."""
        return self._inner.count_tokens(texts)

    def close(self) -> None:
        """Free the model."""
        self._inner.close()

    def _all(self, kind: str, texts: Sequence[str]) -> Vectors:
        keys = [blake2b(f"{kind}\0{text}".encode(), digest_size=KEY_BYTES).digest() for text in texts]
        fresh = list({key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}.items())
        for first in range(0, len(fresh), TEXT_BATCH_SIZE):
            some = fresh[first : first + TEXT_BATCH_SIZE]
            asked = [text for _, text in some]
            made = self._inner.embed_queries(asked) if kind == "query" else self._inner.embed_passages(asked)
            self._keep([key for key, _ in some], made)
        return np.stack([self._known[key] for key in keys]).astype(np.float32)

    def _keep(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        records = np.empty(len(keys), dtype=self._record)
        records["key"] = [np.void(key) for key in keys]
        records["vector"] = vectors
        with self._file.open("ab") as file:
            file.write(records.tobytes())
        self._known.update(zip(keys, records["vector"], strict=True))
        self.embedded += len(keys)


@contextmanager
def remembering(spec: str, folder: Path) -> Iterator[CachingEmbedder]:
    """Open the embedder that `spec` names, with what `folder` remembers."""
    inner = open_embedder(spec, cache=models_folder())
    if identity_of(spec) not in (None, inner.identity):
        raise SystemExit(f"{spec} is not what it says it is")
    embedder = CachingEmbedder(inner, folder)
    try:
        yield embedder
    finally:
        embedder.close()
