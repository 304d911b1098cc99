"""A question near the documents in meaning is answered though its words stand in none; one far from them is refused."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from twofold import Index
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.ingest.document import document_of_text
from twofold.models.embedders.hashing import HashingEmbedder


class Near(HashingEmbedder):
    """Passages lie in the plane of two axes; a question has this cosine to every one of them."""

    def __init__(self, cosine: float) -> None:
        super().__init__()
        self._cosine = cosine

    @property
    def identity(self) -> EmbedderIdentity:
        return replace(super().identity, name="bge-small-en-v1.5")

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(len(texts), 1.0)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(len(texts), self._cosine)

    def _vectors(self, count: int, cosine: float) -> Vectors:
        made = np.zeros((count, self.identity.dimensions), dtype=np.float32)
        made[:, 0], made[:, 1] = cosine, np.sqrt(1.0 - cosine**2)
        return made


@pytest.mark.parametrize(("cosine", "chance", "refused"), [(0.72, 0.38, False), (0.68, None, True)])
def test_what_is_near_is_not_refused(cosine: float, chance: float | None, refused: bool) -> None:  # noqa: FBT001
    texts = [f"Purchases of property and equipment number {at} in thousands." for at in range(12)]
    with Index(":memory:", embedder=Near(cosine)) as index:
        index.add_many([document_of_text(text, f"{at}.txt", "", {}, None) for at, text in enumerate(texts)])
        found = index.search("capital expenditures FY2018?")
        answer = index.ask("capital expenditures FY2018?")
    assert found.p_answerable is not None
    assert found.p_answerable < 0.39
    assert chance is None or found.p_answerable == chance
    assert answer.refused is refused
