"""Relevance from a server that speaks `POST {address}/rerank` as Cohere and Jina do: vLLM, llama.cpp, hosted ones.

The key goes to that host alone: redirections are refused, and neither messages nor `repr` show it.
"""

from collections.abc import Sequence
from dataclasses import field

import msgspec
import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.ports import RerankerIdentity, Scale
from twofold.domain.types import Scores
from twofold.models.http import Timeouts, host_of, post_json, sendable
from twofold.models.routes import route_of
from twofold.models.score_scale import relevance_of

SHORT_TIMEOUTS = Timeouts(silence=10.0)
"""Somebody waits for the answer, and there is an order without it."""

BYTES_PER_RESULT = 256
BYTES_PER_CHARACTER = 8  # some servers send the texts back, escaped


@dataclass(frozen=True, slots=True)
class RerankEndpoint:
    """Where to ask and for what. `scale` is what the server's scores mean; some give logits as they are.

    `address` ends before `/rerank`, as in `http://localhost:8080/v1`.
    """

    address: str
    model: str
    scale: Scale = Scale.RELEVANCE
    key: str = field(default="", repr=False)

    @property
    def identity(self) -> RerankerIdentity:
        """What the scores depend on. The host counts as the revision: another server may run other weights."""
        return RerankerIdentity(self.model, host_of(self.address), self.scale)


class _Item(msgspec.Struct, frozen=True):
    index: int
    relevance_score: float


class _Answer(msgspec.Struct, frozen=True):
    results: list[_Item]


class EndpointReranker:
    """Scores over HTTP. Safe to use from several threads, each with a connection of its own."""

    def __init__(self, endpoint: RerankEndpoint, timeouts: Timeouts = SHORT_TIMEOUTS) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts

    @property
    def identity(self) -> RerankerIdentity:
        """What the scores depend on."""
        return self._endpoint.identity

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Score each text raw: (len(texts),) in the order given.

        Raises ModelError when the server cannot be reached, refuses, leaves texts out, or answers with something else
        than scores on the scale that was declared.
        """
        if not texts:
            return np.empty(0, dtype=np.float64)
        endpoint = self._endpoint
        documents = [sendable(text) for text in texts]
        asked = {"model": endpoint.model, "query": sendable(query), "documents": documents, "top_n": len(texts)}
        route = route_of(endpoint.address, endpoint.model, "rerank", endpoint.key)
        url = route.url
        limit = 65_536 + BYTES_PER_RESULT * len(texts) + BYTES_PER_CHARACTER * sum(map(len, documents))
        content = post_json(url, msgspec.json.encode(asked), route.credentials, self._timeouts, limit)
        return _checked(_in_order(content, len(texts), host_of(url)), endpoint)

    def relevance(self, raw: Scores) -> Scores:
        """Bring raw scores onto [0, 1] by the declared scale."""
        return relevance_of(raw, self._endpoint.scale)

    def close(self) -> None:
        """Do nothing: no connection outlives a call."""


def _in_order(content: bytes, count: int, host: str) -> Scores:
    """Read an answer, and put its scores into the order of the texts, whatever order they came in."""
    try:
        items = msgspec.json.decode(content, type=_Answer).results
    except msgspec.DecodeError as error:
        raise ModelError(f"{host} did not answer with scores: {error}.", "Check the address and the model.") from error
    if sorted(item.index for item in items) != list(range(count)):
        raise ModelError(f"{host} answered {len(items)} scores for {count} texts.", "Check what runs at that address.")
    return np.asarray([item.relevance_score for item in sorted(items, key=lambda item: item.index)], dtype=np.float64)


def _checked(raw: Scores, endpoint: RerankEndpoint) -> Scores:
    if endpoint.scale is Scale.RELEVANCE and not ((raw >= 0.0) & (raw <= 1.0)).all():
        raise ModelError(
            f"{host_of(endpoint.address)} gave scores outside of 0 to 1.", "Where they are logits, add `&scale=logit`."
        )
    if not np.isfinite(raw).all():
        raise ModelError(f"{host_of(endpoint.address)} gave a score that is no number.", "Use another model.")
    return raw
