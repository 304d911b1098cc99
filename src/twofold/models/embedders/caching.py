"""An embedder that remembers the vectors of questions; whatever else it is asked goes to the one behind it."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import Embedder, EmbedderIdentity
from twofold.domain.types import Vector, Vectors
from twofold.models.lazy import is_loaded

MAX_QUESTIONS = 500


class CachingEmbedder:
    """Keeps the vectors of the `size` questions asked last (500: checklist 68). Safe to use from several threads.

    Questions are known by a hash of 32 bytes, so that long ones take no room: 500 vectors of 384 dimensions and their
    keys are 0.8 MB. What is given out is a copy.
    """

    def __init__(self, embedder: Embedder, size: int = MAX_QUESTIONS) -> None:
        if size < 1:
            raise InvalidInputError(f"A cache of {size} vectors is too small.", "Choose at least 1.")
        self._embedder = embedder
        self._size = size
        self._turn = threading.Lock()
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on: the same as behind it."""
        return self._embedder.identity

    @property
    def loaded(self) -> bool:
        """Whether the model behind it was opened."""
        return is_loaded(self._embedder)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages; nothing is remembered."""
        return self._embedder.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions; those that are not remembered go to the model in one call, each once."""
        names = [_name(text) for text in texts]
        known = self._recall(names)
        new = {name: text for name, text in zip(names, texts, strict=True) if name not in known}
        if new:
            made = self._embedder.embed_queries(list(new.values()))
            known.update(zip(new, made, strict=True))
            self._keep({name: known[name].copy() for name in new})
        vectors = np.empty((len(names), self.identity.dimensions), dtype=np.float32)
        for row, name in enumerate(names):
            vectors[row] = known[name]
        return vectors

    def at_hand(self, texts: Sequence[str]) -> bool:
        """Return whether the vectors of all of these questions are remembered, so that no model is asked."""
        return len(self._recall([_name(text) for text in texts])) == len(set(texts))

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count each text's tokens as the model sees them."""
        return self._embedder.count_tokens(texts)

    def close(self) -> None:
        """Forget the vectors and free the model."""
        with self._turn:
            self._vectors.clear()
        self._embedder.close()

    def _recall(self, names: Sequence[bytes]) -> dict[bytes, Vector]:
        with self._turn:
            found = {name: self._vectors[name] for name in names if name in self._vectors}
            for name in found:
                self._vectors.move_to_end(name)
            return found

    def _keep(self, made: dict[bytes, Vector]) -> None:
        with self._turn:
            self._vectors.update(made)
            for name in made:
                self._vectors.move_to_end(name)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)


def _name(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()
