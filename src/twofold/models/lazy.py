"""Models whose identity is known at once and whose files are mapped when something is to be computed.

So a search with BM25 only loads no model, and a missing model is noticed where it is needed.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol, runtime_checkable

from twofold.domain.errors import MismatchError, MissingExtraError, ModelError, ModelUnavailableError
from twofold.domain.ports import Embedder, EmbedderIdentity, Reranker, RerankerIdentity
from twofold.domain.types import Scores, Vectors
from twofold.models.score_scale import relevance_of


@runtime_checkable
class Lazy(Protocol):
    """A model that can say whether it was opened."""

    @property
    def loaded(self) -> bool:
        """Whether the model was opened."""


def is_loaded(model: Embedder | Reranker) -> bool:
    """Return whether a model takes up memory: it was opened, or it is of the kind that is there from the beginning."""
    return model.loaded if isinstance(model, Lazy) else True


class LazyEmbedder:
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
        """What the vectors depend on. Raises ModelError if only the model knows and it cannot be loaded."""
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


class LazyReranker:
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
        """Score each text raw. Raises ModelError, also when the model cannot be loaded."""
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


class UnloadedEmbedder:
    """The embedder of an index that somebody else made, where the user did not name it: it is known and never asked.

    Every method raises the same ModelError. A search goes on with BM25 and a warning; nothing can be added.
    """

    def __init__(self, identity: EmbedderIdentity, why: str, hint: str) -> None:
        self._identity = identity
        self._why = why
        self._remedy = hint

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


PROBE = "test"
REST_SECONDS = 30.0


class RecoveringEmbedder:
    """Opens the model again when it fails on a question. Safe to use from several threads.

    `opener` opens another instance; it counts once it has embedded `["test"]`. A server that does not answer and a
    library that is not installed are not fixed this way, and their errors pass. After a recovery that failed, none is
    tried for `rest` seconds. Raises ModelError when the model fails and stays broken.
    """

    def __init__(
        self,
        embedder: Embedder,
        opener: Callable[[], Embedder],
        *,
        rest: float = REST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._current = embedder
        self._opener = opener
        self._rest = rest
        self._clock = clock
        self._turn = threading.Lock()
        self._resting_until = -float("inf")
        self._closed = False

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on."""
        return self._current.identity

    @property
    def loaded(self) -> bool:
        """Whether the model was opened."""
        return is_loaded(self._current)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages; a failure is raised."""
        return self._current.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, where need be with a model that was opened again."""
        used = self._current
        try:
            return used.embed_queries(texts)
        except (ModelUnavailableError, MissingExtraError):
            raise
        except ModelError as error:
            return self._renewed(used, error).embed_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count each text's tokens as the model sees them."""
        return self._current.count_tokens(texts)

    def close(self) -> None:
        """Free the model. Calling it twice does nothing more, and nothing is opened afterwards."""
        with self._turn:
            self._closed = True
            self._current.close()

    def _renewed(self, failed: Embedder, error: ModelError) -> Embedder:
        """Return another instance than the one that failed: the first caller opens it for all."""
        with self._turn:
            if self._current is not failed:
                return self._current
            if self._closed or self._clock() < self._resting_until:
                raise error
            try:
                fresh = _opened(self._opener, failed.identity)
            except ModelError:
                self._resting_until = self._clock() + self._rest
                raise
            self._current = fresh
        failed.close()
        return fresh


def _opened(opener: Callable[[], Embedder], identity: EmbedderIdentity) -> Embedder:
    """Open a model and try it; one that fails is closed again."""
    fresh = opener()
    try:
        _try_out(fresh, identity)
    except BaseException:
        fresh.close()
        raise
    return fresh


def _try_out(fresh: Embedder, identity: EmbedderIdentity) -> None:
    if fresh.identity != identity:
        raise ModelError(f"{identity.name} was opened again and is another model.", "Open the index again.")
    fresh.embed_queries([PROBE])
