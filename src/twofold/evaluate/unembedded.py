"""An embedder that embeds nothing, for collections that are searched by words alone; it counts tokens as the real one.

Passages are then cut as ever, and all have the same vector, which nobody asks for.
"""

from collections.abc import Sequence

import numpy as np

from twofold.domain.ports import Embedder, EmbedderIdentity
from twofold.domain.types import Vectors


class Unembedded:
    """Stands in for `inner` wherever vectors do not matter."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the embedder that it stands in for."""
        return self._inner.identity

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Give each text the first unit vector: (len(texts), dimensions) float32."""
        vectors = np.zeros((len(texts), self._inner.identity.dimensions), dtype=np.float32)
        vectors[:, 0] = 1.0
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Give the same as `embed_passages`."""
        return self.embed_passages(texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count tokens as the embedder that it stands in for does."""
        return self._inner.count_tokens(texts)

    def close(self) -> None:
        """Free the embedder that it stands in for."""
        self._inner.close()
