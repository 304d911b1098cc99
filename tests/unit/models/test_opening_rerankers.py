"""What a user writes becomes the right reranker, or a clear refusal; nothing is loaded before it is needed."""

import doctest
from pathlib import Path

import pytest

from twofold.domain.errors import InvalidInputError, ModelError, NotFoundError
from twofold.domain.ports import Reranker, Scale
from twofold.factory.search import OpenRerankers
from twofold.models import score_scale
from twofold.models.catalog.entries import MS_MARCO
from twofold.models.rerankers.factory import open_reranker, rerank_endpoint_of
from twofold.models.rerankers.word_overlap import WordOverlap


def test_none_is_none_and_words_need_nothing(tmp_path: Path) -> None:
    assert open_reranker("none", cache=tmp_path) is None
    assert isinstance(open_reranker("word-overlap", cache=tmp_path), WordOverlap)


def test_a_model_of_the_catalog_is_missed_when_it_is_needed(tmp_path: Path) -> None:
    made = open_reranker(MS_MARCO.name, cache=tmp_path, max_tokens=128, offline=True)

    assert made is not None
    assert (made.identity.name, made.identity.scale) == (MS_MARCO.name, Scale.LOGIT)
    assert made.identity.revision.endswith("/128")
    with pytest.raises(ModelError, match=r"switched off.*models pull ms-marco"):
        made.score("q", ["t"])


@pytest.mark.parametrize("tokens", [0, 15, 513])
def test_a_model_reads_no_more_than_it_can(tmp_path: Path, tokens: int) -> None:
    with pytest.raises(InvalidInputError, match="16 to 512"):
        open_reranker(MS_MARCO.name, cache=tmp_path, max_tokens=tokens)


def test_a_server_is_read_from_its_address() -> None:
    endpoint = rerank_endpoint_of("http://localhost:8080/v1#a/model%3Alatest&scale=logit", "key")

    assert (endpoint.address, endpoint.model, endpoint.scale) == (
        "http://localhost:8080/v1",
        "a/model:latest",
        Scale.LOGIT,
    )
    assert rerank_endpoint_of("http://localhost/v1#m").scale is Scale.RELEVANCE


@pytest.mark.parametrize(
    "spec",
    [
        "http://localhost/v1",
        "http://localhost/v1#m&scale=fahrenheit",
        "http://localhost/v1#m&dimensions=3",
        "http://user:password@localhost/v1#m",
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, spec: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        open_reranker(spec, cache=tmp_path)

    assert caught.value.hint
    assert "password@" not in str(caught.value)


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="Known are: ms-marco-MiniLM-L-12-v2, none, late-interaction, word-overlap"):
        open_reranker("bge-small-en-v1.5", cache=tmp_path)


def test_a_distant_server_is_refused_offline(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="may not be asked"):
        open_reranker("https://api.example.com/v1#m", cache=tmp_path, offline=True)


def test_each_reranker_is_made_once() -> None:
    made: list[str] = []

    def opener(spec: str) -> Reranker | None:
        made.append(spec)
        return None if spec == "none" else WordOverlap()

    opened = OpenRerankers(opener)

    assert opened.named("word-overlap") is opened.named("word-overlap")
    assert opened.named("none") is opened.named("none") is None
    assert made == ["word-overlap", "none"]
    opened.close()
    opened.close()


def test_the_worked_numbers_hold() -> None:
    outcome = doctest.testmod(score_scale)

    assert (outcome.failed, outcome.attempted) == (0, 2)
