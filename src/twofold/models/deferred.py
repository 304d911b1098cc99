"""Models whose identity is known at once and whose files are mapped when something is to be computed.

So a search by words alone loads no model, and a missing model is noticed where it is needed.
"""

import threading
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol, runtime_checkable

from twofold.domain.errors import MismatchError, ModelError
from twofold.domain.ports import Embedder, EmbedderIdentity, Reranker, RerankerIdentity
from twofold.domain.types import Scores, Vectors
from twofold.models.scales import relevance_of


@runtime_checkable
class Lazy(Protocol):
    """A model that can say whether it was opened."""

    @property
    def loaded(self) -> bool:
        """Whether the model was opened."""


def is_loaded(model: Embedder | Reranker) -> bool:
    """Say whether a model takes up memory: it was opened, or it is of the kind that is there from the beginning."""
    return model.loaded if isinstance(model, Lazy) else True


class DeferredEmbedder:
    """Opens the embedder behind it on first use, once, whichever thread comes first.

    `identity` is the one it must have, None where only opening it tells: then asking for it opens it too.
    """

    def __init__(self, identity: EmbedderIdentity | None, opener: Callable[[], Embedder]) -> None:
        self._identity = identity
        self._opener = opener
        self._opening = threading.Lock()
        self._opened: list[Embedder] = []

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on. Raises ModelError where only the model itself can tell, and cannot be had."""
        return self._embedder().identity if self._identity is None else self._identity

    @property
    def loaded(self) -> bool:
        """Whether the model was opened."""
        return bool(self._opened)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages."""
        return self._embedder().embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions."""
        return self._embedder().embed_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count each text's tokens as the model sees them."""
        return self._embedder().count_tokens(texts)

    def close(self) -> None:
        """Free the model, if it was ever opened."""
        with self._opening:
            while self._opened:
                self._opened.pop().close()

    def _embedder(self) -> Embedder:
        with self._opening:
            if not self._opened:
                self._opened.append(self._checked(self._opener()))
            return self._opened[0]

    def _checked(self, made: Embedder) -> Embedder:
        if self._identity in (None, made.identity):
            return made
        made.close()
        raise MismatchError(
            f"The index was made with another {made.identity.name!r} than there is now.",
            "Search with the embedder it was made with, or run `twofold index reindex`.",
        )


class DeferredReranker:
    """Opens the reranker behind it on first use, once, whichever thread comes first."""

    def __init__(self, identity: RerankerIdentity, opener: Callable[[], Reranker]) -> None:
        self._identity = identity
        self._opener = opener
        self._opening = threading.Lock()
        self._opened: list[Reranker] = []

    @property
    def identity(self) -> RerankerIdentity:
        """What the scores depend on."""
        return self._identity

    @property
    def loaded(self) -> bool:
        """Whether the model was opened."""
        return bool(self._opened)

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Score each text raw. Raises ModelError, also when the model cannot be had."""
        return self._reranker().score(query, texts)

    def relevance(self, raw: Scores) -> Scores:
        """Bring raw scores onto [0, 1]."""
        return relevance_of(raw, self._identity.scale)

    def close(self) -> None:
        """Free the model, if it was ever opened."""
        with self._opening:
            while self._opened:
                self._opened.pop().close()

    def _reranker(self) -> Reranker:
        with self._opening:
            if not self._opened:
                self._opened.append(self._opener())
            return self._opened[0]


class UnaskedEmbedder:
    """The embedder of an index that somebody else made, where the user did not name it: it is known and never asked.

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
