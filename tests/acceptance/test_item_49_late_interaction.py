"""Checklist 49: late interaction, the best match of each token of the question, whatever the width of the vectors."""

from collections.abc import Sequence

import numpy as np
import pytest

from indexed import GIT, indexed, sources
from twofold.domain.ports import Scale
from twofold.domain.types import Vectors
from twofold.models.hashing import HashingEmbedder
from twofold.models.late_interaction import LateInteraction, max_similarity


class Tokens:
    """Embeds each word for itself."""

    def __init__(self, *widths: int) -> None:
        self.name = "tokens"
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
    result = indexed(GIT).search("two parents", rerank=LateInteraction(Tokens(width)), settings=settings)

    assert sources(result)[0] == "merge.md"
    assert result.degraded == ()
    assert result.rerank is not None
    assert result.rerank.scale == Scale.COSINE
    assert list(result.trace.evaluate()) == [hit.score for hit in result.hits]


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
    result = index.search("merge", rerank=LateInteraction(Tokens(96, 128)))

    assert sources(result) == sources(index.search("merge"))
    assert result.degraded == ("rerank unavailable: tokens gave no vectors that can be compared.",)


def test_the_model_is_freed_with_it() -> None:
    model = Tokens(96)
    LateInteraction(model).close()

    assert model.closed
