"""A server of relevance: order, what is sent, retries, hostile answers, and a key that stays where it belongs."""

from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from support.http_server import Answered, Asked, reranking, serving
from twofold.domain.errors import ModelError
from twofold.domain.ports import Scale
from twofold.models.http import Timeouts
from twofold.models.rerankers.rerank_endpoint import EndpointReranker, RerankEndpoint
from twofold.models.rerankers.word_overlap import WordOverlap

KEY = "sk-very-secret"


def score(
    answer: Callable[[Asked], Answered],
    texts: list[str],
    scale: Scale = Scale.RELEVANCE,
) -> np.ndarray:
    with serving(answer) as address:
        endpoint = RerankEndpoint(f"{address}/v1/", "m", scale, KEY)
        return EndpointReranker(endpoint, Timeouts(silence=5.0)).score("a b c", texts)


def results(*pairs: tuple[int, object]) -> bytes:
    return msgspec.json.encode({"results": [{"index": index, "relevance_score": score} for index, score in pairs]})


def test_scores_are_put_in_the_order_of_the_texts() -> None:
    texts = ["nothing", "a b c", "a", "b and a"]

    assert score(reranking, texts).tolist() == WordOverlap().score("a b c", texts).tolist()


def test_what_is_sent_is_the_protocol() -> None:
    sent: list[Asked] = []

    def noting(asked: Asked) -> Answered:
        sent.append(asked)
        return reranking(asked)

    score(noting, ["x", ""])

    assert msgspec.json.decode(sent[0].body) == {"model": "m", "query": "a b c", "documents": ["x", " ."], "top_n": 2}
    assert sent[0].headers["Authorization"] == f"Bearer {KEY}"


def test_nothing_is_sent_for_no_texts() -> None:
    assert score(lambda _: Answered(status=500), []).tolist() == []


@pytest.mark.parametrize("status", [400, 401, 302, 429, 500])
def test_a_refusal_is_told_without_its_body_and_without_the_key(status: int) -> None:
    asked_for: list[str] = []

    def refusing(asked: Asked) -> Answered:
        asked_for.append(asked.path)
        return Answered(b"sensitive echo of the query", status, {"Location": "/elsewhere"})

    with pytest.raises(ModelError, match=f"answered {status}") as caught:
        score(refusing, ["a"])

    assert asked_for == ["/v1/rerank"]
    assert "sensitive" not in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"", "did not answer with scores"),
        (b"<html>", "did not answer with scores"),
        (b'{"results": [{"index": 0}]}', "did not answer with scores"),
        (b'{"results": [{"index": 0, "relevance_score": NaN}]}', "did not answer with scores"),
        (results(), "0 scores for 2 texts"),
        (results((0, 0.5)), "1 scores for 2 texts"),
        (results((0, 0.5), (0, 0.5)), "2 scores for 2 texts"),
        (results((0, 0.5), (7, 0.5)), "2 scores for 2 texts"),
        (results((0, 0.5), (1, 3.7)), "outside of 0 to 1"),
        (b" " * 200_000, "answered more than"),
    ],
)
def test_an_answer_that_is_no_relevance_is_refused(body: bytes, complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        score(lambda _: Answered(body), ["a", "b"])


def test_logits_are_taken_where_they_are_declared() -> None:
    raw = score(lambda _: Answered(results((1, 3.7), (0, -2.0))), ["a", "b"], Scale.LOGIT)

    assert raw.tolist() == [-2.0, 3.7]


def test_a_key_is_not_shown() -> None:
    assert KEY not in repr(RerankEndpoint("http://localhost/v1", "m", key=KEY))
