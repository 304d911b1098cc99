"""Checklist 49: late interaction, the best match of each token of the question, whatever the width of the vectors."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from support.indexes import GIT, indexed, sources
from twofold import Index
from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import RerankerIdentity, Scale
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.models.rerankers.late_interaction import LateInteraction, max_similarity

IDENTITY = RerankerIdentity("tokens", "1", Scale.COSINE)


class Tokens:
    """Embeds each word for itself."""

    def __init__(self, *widths: int) -> None:
        self.closed = False
        self._models = [HashingEmbedder(width) for width in widths]

    def embed_tokens(self, texts: Sequence[str]) -> Sequence[Vectors]:
        models = [self._models[at % len(self._models)] for at in range(len(texts))]
        return [model.embed_passages(text.split()) for model, text in zip(models, texts, strict=True)]

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("width", [96, 128])
def test_a_search_is_reranked_by_it(width: int) -> None:
    settings = {"rerank.weight": 1.0}
    result = indexed(GIT).search("two parents", rerank=LateInteraction(Tokens(width), IDENTITY), settings=settings)

    assert sources(result)[0] == "merge.md"
    assert result.warnings == ()
    assert result.rerank is not None
    assert result.rerank.scale == Scale.COSINE
    assert list(result.trace.recompute_scores()) == [hit.score for hit in result.hits]


def test_each_token_of_the_question_counts_by_its_best_match() -> None:
    generator = np.random.default_rng(3)
    question, passage = (generator.normal(size=(size, 96)).astype(np.float32) for size in (5, 40))
    question, passage = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (question, passage))
    slow = sum(max(float(np.dot(one, other)) for other in passage) for one in question) / 5

    assert max_similarity(question, passage) == pytest.approx(slow, abs=1e-6)
    assert max_similarity(question, question) == pytest.approx(1.0)
    assert max_similarity(question, passage[:0]) == -1.0


def test_vectors_that_cannot_be_compared_are_no_scores_and_the_fused_order_stands() -> None:
    index = indexed(GIT)
    result = index.search("merge", rerank=LateInteraction(Tokens(96, 128), IDENTITY))

    assert sources(result) == sources(index.search("merge"))
    assert tuple(map(str, result.warnings)) == ("rerank unavailable: tokens gave no vectors that can be compared.",)


def test_the_model_is_freed_with_it() -> None:
    model = Tokens(96)
    LateInteraction(model, IDENTITY).close()

    assert model.closed


@pytest.fixture(scope="module")
def by_meaning(tmp_path_factory: pytest.TempPathFactory, real_models: Path) -> Path:
    """An index made with the default model."""
    folder = tmp_path_factory.mktemp("late") / "index"
    with Index(folder, overrides={"models": str(real_models)}) as index:
        for source, text in GIT.items():
            index.add(text, source=source)
    return folder


@pytest.mark.model
@pytest.mark.parametrize("name", ["late-interaction", "late-interaction:bge-small-en-v1.5"])
def test_a_setting_reranks_with_the_token_vectors_of_the_embedder(by_meaning: Path, name: str) -> None:
    overrides = {"rerank.model": name, "rerank.weight": 1.0}
    with Index(by_meaning, overrides=overrides, create=False) as index:
        result = index.search("How many parents has a merge commit?")
        loaded = index.metrics().loaded

    assert sources(result)[0] == "merge.md"
    assert result.warnings == ()
    assert result.rerank is not None
    assert (result.rerank.model, result.rerank.scale) == ("late-interaction:bge-small-en-v1.5", Scale.COSINE)
    assert result.rerank.read == len(GIT)
    assert list(result.trace.recompute_scores()) == [hit.score for hit in result.hits]
    assert loaded == ("bge-small-en-v1.5", "late-interaction:bge-small-en-v1.5")


@pytest.mark.model
def test_a_passage_that_holds_the_question_word_for_word_is_relevant_in_full(by_meaning: Path) -> None:
    """Each token of the question meets itself: its best cosine is near 1, though its neighbors differ."""
    with Index(by_meaning, overrides={"rerank.model": "late-interaction"}, create=False) as index:
        exact = index.search("Join two branches. A merge commit has two parents.")
        other = index.search("the price of pears")
    best = exact.hits[0].trace.rerank

    assert exact.hits[0].source == "merge.md"
    assert best is not None
    assert best.relevance is not None
    assert best.relevance > 0.95
    assert max(hit.trace.rerank.relevance or 0.0 for hit in other.hits if hit.trace.rerank) < best.relevance


def test_an_embedder_without_token_vectors_is_refused_with_one_that_has_them() -> None:
    with pytest.raises(InvalidInputError, match="no vector of each token") as refused:
        indexed(GIT, {"embedder": "hashing"}).search("merge", rerank="late-interaction")

    assert "late-interaction:bge-small-en-v1.5" in refused.value.hint


def test_where_the_model_is_not_there_the_fused_order_stands() -> None:
    index = indexed(GIT)
    result = index.search("merge", rerank="late-interaction:bge-small-en-v1.5")

    assert sources(result) == sources(index.search("merge"))
    assert "rerank unavailable" in str(result.warnings[0])
