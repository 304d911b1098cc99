"""A server of embeddings: order, retries, hostile answers, and a key that stays where it belongs."""

import io
import logging
import threading
from collections.abc import Callable
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from support.http_server import Answered, Asked, embeddings, embeddings_of, serving
from twofold.domain.errors import InvalidInputError, ModelError
from twofold.models.embedders.endpoint import BATCH, Endpoint, EndpointEmbedder, open_endpoint
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.models.http import Timeouts, read_at_most

KEY = "sk-very-secret"


SHORT = Timeouts(silence=5.0)


def embed(answer: Callable[[Asked], Answered], texts: list[str]) -> np.ndarray:
    with serving(answer) as address:
        return EndpointEmbedder(Endpoint(f"{address}/v1", "m", 64, key=KEY), SHORT).embed_passages(texts)


def test_answers_are_put_in_the_order_of_the_texts_across_batches() -> None:
    texts = [f"text number {n}" for n in range(2 * BATCH + 3)]

    found = embed(embeddings, texts)

    assert found == pytest.approx(HashingEmbedder(64).embed_passages(texts), abs=1e-6)


def test_dimensions_are_asked_for_once_when_they_are_not_known() -> None:
    with serving(embeddings) as address:
        opened = open_endpoint(Endpoint(f"{address}/v1/", "m"), SHORT)

        assert opened.identity.dimensions == 64
        assert opened.embed_queries(["a"]).shape == (1, 64)


def test_prefixes_and_the_model_are_sent() -> None:
    sent: list[dict[str, object]] = []

    def noting(asked: Asked) -> Answered:
        sent.append(msgspec.json.decode(asked.body))
        return embeddings(asked)

    with serving(noting) as address:
        endpoint = Endpoint(f"{address}/v1", "m", 64, query_prefix="query: ", passage_prefix="passage: ")
        embedder = EndpointEmbedder(endpoint, SHORT)
        embedder.embed_queries(["x"])
        embedder.embed_passages(["y"])

    assert [one["input"] for one in sent] == [["query: x"], ["passage: y"]]
    assert {one["model"] for one in sent} == {"m"}


@pytest.mark.parametrize("status", [400, 401, 404, 302, 429, 500, 503])
def test_a_refusal_is_told_with_its_remedy(status: int) -> None:
    asked_for: list[str] = []

    def refusing(asked: Asked) -> Answered:
        asked_for.append(asked.path)
        return Answered(b"sensitive echo of the query", status, {"Location": "/elsewhere"})

    with pytest.raises(ModelError, match=f"answered {status}") as caught:
        embed(refusing, ["a"])

    assert asked_for == ["/v1/embeddings"]
    assert "sensitive" not in str(caught.value)
    assert caught.value.hint


def item(index: int, embedding: object) -> dict[str, object]:
    return {"index": index, "embedding": embedding}


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"", "did not answer with vectors"),
        (b"<html>", "did not answer with vectors"),
        (b'{"data": [{"index": 0}]}', "did not answer with vectors"),
        (b'{"data": [{"index": 0, "embedding": [NaN]}]}', "did not answer with vectors"),
        (msgspec.json.encode({"data": []}), "0 vectors for 1 texts"),
        (msgspec.json.encode({"data": [item(1, [1.0] * 64)]}), "1 vectors for 1 texts"),
        (msgspec.json.encode({"data": [item(0, [1.0] * 64)] * 2}), "2 vectors for 1 texts"),
        (msgspec.json.encode({"data": [item(0, [1.0] * 63)]}), "63 dimensions instead of 64"),
        (msgspec.json.encode({"data": [item(0, [0.0] * 64)]}), "zero vector"),
        (b'{"data": [{"index": 0, "embedding": [' + b"1e999," * 63 + b"1]}]}", "did not answer|not all numbers"),
        (b" " * 200_000, "answered more than"),
    ],
)
def test_an_answer_that_is_no_vector_is_refused(body: bytes, complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        embed(lambda _: Answered(body), ["a"])


def test_an_answer_that_breaks_off_is_refused() -> None:
    body = embeddings_of(["a"])

    with pytest.raises(ModelError):
        embed(lambda _: Answered(body[: len(body) // 2], length=len(body)), ["a"])


def test_a_server_that_is_not_there_is_named() -> None:
    with serving(embeddings) as address:
        pass

    with pytest.raises(ModelError, match=r"127\.0\.0\.1:\d+ cannot be reached"):
        EndpointEmbedder(Endpoint(f"{address}/v1", "m", 64), SHORT).embed_passages(["a"])


def test_a_server_that_does_not_answer_in_time_is_given_up() -> None:
    given_up = threading.Event()

    def hanging(asked: Asked) -> Answered:
        given_up.wait(30)
        return embeddings(asked)

    with serving(hanging) as address:
        hurried = replace(SHORT, silence=0.05)
        with pytest.raises(ModelError, match="cannot be reached: timed out"):
            EndpointEmbedder(Endpoint(f"{address}/v1", "m", 64), hurried).embed_passages(["a"])
        given_up.set()


def test_an_answer_that_drips_is_given_up() -> None:
    drops = io.BufferedReader(io.BytesIO(b"drip" * 100_000))

    with pytest.raises(ModelError, match="took more than 0 s"):
        read_at_most(drops, 1_000_000, "host", 0.0)


def test_the_key_is_sent_and_nowhere_shown(caplog: pytest.LogCaptureFixture) -> None:
    keys: list[str] = []

    def noting(asked: Asked) -> Answered:
        keys.append(asked.headers["Authorization"])
        return Answered(status=403)

    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError) as caught:
        embed(noting, ["a"])

    assert keys == [f"Bearer {KEY}"]
    shown = [repr(Endpoint("http://localhost/v1", "m", key=KEY)), repr(caught.value), str(caught.value), caplog.text]
    assert not [text for text in shown if KEY in text]


def test_the_key_does_not_follow_a_redirection() -> None:
    elsewhere: list[Asked] = []

    def catching(asked: Asked) -> Answered:
        elsewhere.append(asked)
        return embeddings(asked)

    with serving(catching) as other, pytest.raises(ModelError, match="answered 307"):
        embed(lambda _: Answered(status=307, headers={"Location": f"{other}/v1/embeddings"}), ["a"])

    assert not elsewhere


@pytest.mark.parametrize("address", ["ftp://host/v1", "file:///etc/passwd", "http://", "http://host:port/v1", "host"])
def test_only_web_addresses_are_asked(address: str) -> None:
    with pytest.raises(InvalidInputError, match="not a web address"):
        EndpointEmbedder(Endpoint(address, "m", 64), SHORT).embed_passages(["a"])


def test_tokens_are_estimated_from_words_and_bytes() -> None:
    embedder = EndpointEmbedder(Endpoint("http://localhost/v1", "m", 64))

    assert embedder.count_tokens(["", "one two, three!", "x" * 400]) == [0, 5, 100]
