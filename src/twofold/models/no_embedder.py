"""No embedder: an index for BM25 only, made where no model is available."""

from collections.abc import Sequence

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import NO_LIMIT, count_words

NO_EMBEDDER = "none"


class NoEmbedder:
    """Stands where an embedder would: every passage gets the same vector of one number, and no question gets any."""

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on."""
        return EmbedderIdentity(NO_EMBEDDER, "1", 1, max_tokens=NO_LIMIT)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), 1) ones: the store keeps a vector of each passage."""
        return np.ones((len(texts), 1), dtype=np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:  # noqa: ARG002  # the port names it
        """Raise InvalidInputError: there is nothing that a question could be compared with."""
        raise InvalidInputError(
            "There is no embedder, so vector search is not possible.",
            "Search with `-m bm25`, or run `twofold index reindex --embedder bge-small-en-v1.5`.",
        )

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count each text's words."""
        return [count_words(text) for text in texts]

    def close(self) -> None:
        """Do nothing: there is nothing to free."""
