"""The embedder of an index that somebody else made, where the user did not name it: it is known and never asked."""

from collections.abc import Sequence
from typing import NoReturn

from twofold.domain.errors import ModelError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors


class UnaskedEmbedder:
    """Has the identity of the embedder that the passages were made with, and opens nothing.

    Every method raises the same ModelError. A search goes on by words and says so; nothing can be added.
    """

    def __init__(self, identity: EmbedderIdentity, why: str, remedy: str) -> None:
        self._identity = identity
        self._why = why
        self._remedy = remedy

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors of the index depend on."""
        return self._identity

    @property
    def loaded(self) -> bool:
        """Whether a model takes up memory: never."""
        return False

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Raise ModelError."""
        self._refuse(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Raise ModelError."""
        self._refuse(texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Raise ModelError."""
        self._refuse(texts)

    def close(self) -> None:
        """Do nothing: nothing was opened."""

    def _refuse(self, _: Sequence[str]) -> NoReturn:
        raise ModelError(self._why, self._remedy)
