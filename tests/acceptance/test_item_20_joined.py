"""Checklist 20 and 85: two embedders serve one index, their vectors side by side, and `recall` is made with two."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from support.indexes import GIT
from twofold import Index
from twofold.config.trust import is_known_embedder
from twofold.domain.errors import InvalidInputError, MismatchError, NotFoundError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.models.catalog.identities import identity_of
from twofold.models.embedders.factory import open_embedder
from twofold.models.embedders.joined import JoinedEmbedder

BOTH = "hashing:64+hashing:128"
QUESTION = "undo the last commit"


class Given:
    """Gives a question the vector (1, 0), and passages one each that has the cosine which their text says."""

    def __init__(self, name: str, cosines: dict[str, float], tokens: int) -> None:
        self.identity = EmbedderIdentity(name, "1", 2, "mean", f"{name}: ", max_tokens=tokens)
        self.cosines, self.tokens, self.closed = cosines, tokens, False

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        found = [next(cosine for word, cosine in self.cosines.items() if word in text) for text in texts]
        return np.array([(cosine, math.sqrt(1.0 - cosine * cosine)) for cosine in found], dtype=np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return np.array([(1.0, 0.0)] * len(texts), dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        return [self.tokens] * len(texts)

    def close(self) -> None:
        self.closed = True


def test_a_cosine_is_the_mean_of_the_members() -> None:
    """For the first model branches are nearer (.8 to .6), for both together commits: (.6 + .9) / 2 = .75 to .6."""
    first = Given("first", {"branches": 0.8, "commits": 0.6}, 3)
    second = Given("second", {"branches": 0.4, "commits": 0.9}, 5)
    joined = JoinedEmbedder([first, second])
    with Index(":memory:", embedder=joined) as index:
        index.add("All about branches.", source="branches.md")
        index.add("All about commits.", source="commits.md")
        found = [(hit.source, round(hit.score, 3)) for hit in index.search("history", mode="vector").hits]

    assert found == [("commits.md", 0.75), ("branches.md", 0.6)]
    assert joined.identity == EmbedderIdentity("first+second", "1+1", 4, "mean+mean", max_tokens=3)
    assert joined.count_tokens(["a", "b"]) == [5, 5]
    joined.close()
    assert first.closed
    assert second.closed


def test_a_setting_joins_embedders_by_their_names(tmp_path: Path) -> None:
    scores = {}
    for spec in ("hashing:64", "hashing:128", BOTH):
        with Index(tmp_path / spec.replace(":", "-"), overrides={"embedder": spec}) as index:
            for source, text in GIT.items():
                index.add(text, source=source)
            hits = index.search(QUESTION, mode="vector").hits
            scores[spec] = {hit.chunk_id: hit.score for hit in hits}
            assert len(hits) == len(GIT)

    for chunk, score in scores[BOTH].items():
        assert score == pytest.approx((scores["hashing:64"][chunk] + scores["hashing:128"][chunk]) / 2, abs=2e-3)


def test_an_index_of_two_is_not_searched_with_one(tmp_path: Path) -> None:
    with Index(tmp_path / "kb", overrides={"embedder": BOTH}) as index:
        index.add(GIT["reset.md"], source="reset.md")
        assert index.search(QUESTION, mode="vector").hits
    with (
        Index(tmp_path / "kb", overrides={"embedder": "hashing:64"}) as other,
        pytest.raises(MismatchError),
    ):
        other.search(QUESTION, mode="vector")


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("hashing+none", InvalidInputError),
        ("hashing+http://127.0.0.1:1/v1#model", InvalidInputError),
        ("hashing+sentence-transformers:some/model", InvalidInputError),
        ("hashing+", NotFoundError),
        ("hashing+nosuch", NotFoundError),
        ("hashing+hashing+hashing+hashing+hashing", InvalidInputError),
    ],
)
def test_what_cannot_be_joined_is_refused_before_anything_is_fetched(
    tmp_path: Path, spec: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        identity_of(spec)
    with pytest.raises(error):
        open_embedder(spec, cache=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_may_name_two_of_the_catalog_and_no_server() -> None:
    assert is_known_embedder("bge-small-en-v1.5+e5-small-v2")
    assert not is_known_embedder("bge-small-en-v1.5+http://127.0.0.1:1/v1#model")
    assert not is_known_embedder("bge-small-en-v1.5+none")


def test_recall_makes_an_index_with_two(tmp_path: Path) -> None:
    """384 and 384 dimensions are 768; what somebody says is stronger than the profile."""
    with Index(tmp_path / "kb", overrides={"profile": "recall"}) as index:
        assert index.settings.embedder == "bge-small-en-v1.5+e5-small-v2"
        made = identity_of(index.settings.embedder)
    assert made is not None
    assert (made.dimensions, made.max_tokens) == (768, 512)
    with Index(tmp_path / "own", overrides={"profile": "recall", "embedder": "hashing"}) as index:
        assert index.settings.embedder == "hashing"
