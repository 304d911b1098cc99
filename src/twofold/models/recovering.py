"""An embedder that recovers: where the model fails it is dropped, opened anew, tried, and asked once more."""

import threading
import time
from collections.abc import Callable, Sequence

from twofold.domain.errors import MissingExtraError, ModelError, ModelUnavailableError
from twofold.domain.ports import Embedder, EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.models.deferred import is_loaded

PROBE = "test"
REST_SECONDS = 30.0


class RecoveringEmbedder:
    """Opens the model anew when it fails on a question (checklist 76). Bears calls from several threads.

    `opener` opens another instance; it counts once it has embedded `["test"]`. A server that does not answer and a
    library that is not installed are not mended so, and their errors pass. After a recovery that failed, none is tried
    for `rest` seconds. Raises ModelError when the model fails and stays broken.
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
        """Embed questions, where need be with a model that was opened anew."""
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
        """Give another instance than the one that failed: whoever comes first opens it for all."""
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
        raise ModelError(f"{identity.name} was opened anew and is another model.", "Open the index anew.")
    fresh.embed_queries([PROBE])
