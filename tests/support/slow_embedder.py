"""An embedder that passes for one with a model, so that a sync lets vectors follow."""

from collections.abc import Sequence
from dataclasses import replace

from twofold.domain.errors import ModelError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder


class SlowEmbedder(HashingEmbedder):
    """The hashing embedder under another name, which notes what it embeds and fails beyond so many texts."""

    def __init__(self, most: int | None = None) -> None:
        super().__init__()
        self.most = most
        self.embedded: list[str] = []

    @property
    def identity(self) -> EmbedderIdentity:
        return replace(super().identity, name="slow")

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.most is not None and len(self.embedded) + len(texts) > self.most:
            raise ModelError("The model broke.", "Correct it.")
        self.embedded += texts
        return super().embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return super().embed_passages(texts)
