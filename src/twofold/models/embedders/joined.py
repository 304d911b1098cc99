"""Several embedders as one: each text's vectors stand side by side, so that a cosine is the mean of the members'.

    vector = (v_1, …, v_n) / √n         cosine(q, p) = (cosine_1 + … + cosine_n) / n

Models that were trained on other pairs err on other passages, so the mean of two tells more than either. An index, its
codes and its kernels see one vector of the summed dimensions. What it costs and gained: docs/decisions/0159.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from twofold.domain.ports import Embedder, EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.models.catalog.identities import joined_identity


class JoinedEmbedder:
    """Embeds with each of its members and puts the vectors side by side; safe to use from several threads."""

    def __init__(self, members: Sequence[Embedder]) -> None:
        self._members = tuple(members)
        self._identity = joined_identity([one.identity for one in self._members])

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on: names and revisions of all, in their order."""
        return self._identity

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: (len(texts), the sum of the members' dimensions) float32, rows of length 1."""
        return self._side_by_side([one.embed_passages for one in self._members], texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, each member with its own query prefix."""
        return self._side_by_side([one.embed_queries for one in self._members], texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count each text's tokens as the member sees them that makes most of it."""
        counted = [one.count_tokens(texts) for one in self._members]
        return [max(counts) for counts in zip(*counted, strict=True)]

    def close(self) -> None:
        """Free every member. Calling it twice does nothing more."""
        for one in self._members:
            one.close()

    def _side_by_side(self, embed: Sequence[Callable[[Sequence[str]], Vectors]], texts: Sequence[str]) -> Vectors:
        vectors: Vectors = np.concatenate([one(texts) for one in embed], axis=1)
        vectors /= math.sqrt(len(embed))
        return vectors
