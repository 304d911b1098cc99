"""Vectors from a server that speaks `POST {address}/embeddings` as OpenAI does: Ollama, vLLM, llama.cpp, hosted ones.

The key goes to that host alone: redirections are refused, and neither messages nor `repr` show it.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import field, replace

import msgspec
import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.models.embedders.batching import unit_rows
from twofold.models.http import Timeouts, host_of, post_json, sendable
from twofold.models.routes import route_of

BATCH = 32
BYTES_PER_NUMBER = 64  # generous for a float in JSON
BYTES_PER_TOKEN = 4
WORD = re.compile(r"\w+|[^\w\s]")
PROBE = "How many dimensions?"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask and for what. `dimensions` 0 means: ask once, when the embedder is opened.

    `address` ends before `/embeddings`, as in `http://localhost:11434/v1`. With an `api_version` it is an address of
    Azure OpenAI, and `model` the name of a deployment.
    """

    address: str
    model: str
    dimensions: int = 0
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 512
    api_version: str = ""
    key: str = field(default="", repr=False)

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on. The host counts as the revision: another server may run other weights."""
        return EmbedderIdentity(
            name=self.model,
            revision=host_of(self.address),
            dimensions=self.dimensions,
            pooling="endpoint",
            query_prefix=self.query_prefix,
            passage_prefix=self.passage_prefix,
            max_tokens=self.max_tokens,
        )


class _Item(msgspec.Struct, frozen=True):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct, frozen=True):
    data: list[_Item]


class EndpointEmbedder:
    """Embeds over HTTP. Safe to use from several threads, each with a connection of its own."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts = Timeouts()) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on."""
        return self._endpoint.identity

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: (len(texts), dimensions) float32, rows of length 1, in the order given.

        Raises ModelError when the server cannot be reached, refuses, or answers with something else than vectors.
        """
        return self._embed([self._endpoint.passage_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, with the query prefix."""
        return self._embed([self._endpoint.query_prefix + text for text in texts])

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Estimate each text's tokens, the server's tokenizer being there: words and marks, or bytes / 4 if more."""
        return [
            max(sum(1 for _ in WORD.finditer(text)), math.ceil(len(_bytes_of(text)) / BYTES_PER_TOKEN))
            for text in texts
        ]

    def close(self) -> None:
        """Do nothing: no connection outlives a call."""

    def _embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self._endpoint.dimensions), dtype=np.float32)
        for start in range(0, len(texts), BATCH):
            part = texts[start : start + BATCH]
            vectors[start : start + len(part)] = _ask(self._endpoint, part, self._timeouts)
        return vectors


def open_endpoint(endpoint: Endpoint, timeouts: Timeouts = Timeouts()) -> EndpointEmbedder:
    """Make an embedder, asking the server for one vector where the dimensions are not known."""
    if endpoint.dimensions == 0:
        endpoint = replace(endpoint, dimensions=_ask(endpoint, [PROBE], timeouts).shape[1])
    return EndpointEmbedder(endpoint, timeouts)


def _ask(endpoint: Endpoint, texts: Sequence[str], timeouts: Timeouts) -> Vectors:
    sent = [sendable(text) for text in texts]
    body = msgspec.json.encode({"model": endpoint.model, "input": sent, "encoding_format": "float"})
    route = route_of(endpoint.address, endpoint.model, "embeddings", endpoint.key, endpoint.api_version)
    url = route.url
    width = endpoint.dimensions or 65_536
    limit = 65_536 + len(texts) * width * BYTES_PER_NUMBER
    content = post_json(url, body, route.credentials, timeouts, limit)
    rows = _in_order(content, len(texts), host_of(url))
    dimensions = endpoint.dimensions or len(rows[0])
    if any(len(row) != dimensions for row in rows):
        raise ModelError(
            f"{host_of(url)} gave vectors of {len(rows[0])} dimensions instead of {dimensions}.",
            f"Check the model's name; or write `&dimensions={len(rows[0])}` after it and run `twofold index reindex`.",
        )
    return unit_rows(np.asarray(rows, dtype=np.float64), len(texts), dimensions, endpoint.model)


def _in_order(content: bytes, count: int, host: str) -> list[list[float]]:
    """Read an answer, and put its vectors into the order of the texts, whatever order they came in."""
    try:
        items = msgspec.json.decode(content, type=_Answer).data
    except msgspec.DecodeError as error:
        raise ModelError(f"{host} did not answer with vectors: {error}.", "Check the address and the model.") from error
    if sorted(item.index for item in items) != list(range(count)):
        raise ModelError(f"{host} answered {len(items)} vectors for {count} texts.", "Check what runs at that address.")
    return [item.embedding for item in sorted(items, key=lambda item: item.index)]


def _bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "replace")
