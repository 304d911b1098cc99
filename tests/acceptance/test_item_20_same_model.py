"""Checklist 4, 20 and 21: questions meet passages of one model, which is more than a width; each has its prefix."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from support.indexes import GIT, indexed
from twofold import Index
from twofold.domain.errors import MismatchError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.models.catalog.entries import CATALOG
from twofold.models.catalog.identities import identity_of
from twofold.models.catalog.types import Task
from twofold.models.embedders.hashing import HashingEmbedder

PREFIX = "Represent this question for retrieving supporting passages: "


class Prefixed(HashingEmbedder):
    """Puts a prefix before questions, none before passages, and keeps what it embedded."""

    def __init__(self, revision: str = "1") -> None:
        super().__init__(64)
        self._identity = EmbedderIdentity("prefixed", revision, 64, query_prefix=PREFIX)
        self.questions: list[str] = []
        self.passages: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.passages += texts
        return super().embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.questions += [PREFIX + text for text in texts]
        return super().embed_passages([PREFIX + text for text in texts])


def test_the_models_named_that_can_be_had_are_384_wide_and_any_server_or_width_can_be_used() -> None:
    assert CATALOG["all-MiniLM-L6-v2"].dimensions == 384
    assert CATALOG["bge-small-en-v1.5"].dimensions == 384
    assert {entry.name for entry in CATALOG.values() if entry.task is Task.EMBED} >= {"all-MiniLM-L6-v2"}
    named = identity_of("http://127.0.0.1:1/v1#text-embedding-ada-002&dimensions=1536")
    assert named is None or named.dimensions == 1536


def test_another_model_of_the_same_width_is_refused(tmp_path: Path) -> None:
    with indexed(GIT, where=tmp_path / "kb", embedder=Prefixed()) as index:
        assert index.search("undo", mode="vector").hits

    with Index(tmp_path / "kb", embedder=Prefixed("2")) as other:
        for mode in ("vector", "hybrid"):
            with pytest.raises(MismatchError) as refused:
                other.search("undo", mode=mode)
            assert refused.value.hint
        with pytest.raises(MismatchError):
            other.add("more", source="more.md")
        assert other.search("undo", mode="bm25").hits


def test_a_question_has_its_prefix_and_a_passage_none() -> None:
    embedder = Prefixed()
    index = indexed({"a": "Undo the last commit."}, embedder=embedder)
    hit = index.search("undo", mode="vector").hits[0]

    assert embedder.questions == [PREFIX + "undo"]
    assert embedder.passages == ["Undo the last commit."]
    expected = HashingEmbedder(64).embed_passages([PREFIX + "undo", "Undo the last commit."])
    assert hit.score == pytest.approx(float(expected[0] @ expected[1]), abs=5e-4)


def test_the_prefix_is_part_of_what_a_model_is() -> None:
    assert Prefixed().identity != EmbedderIdentity("prefixed", "1", 64)
    assert CATALOG["bge-small-en-v1.5"].identity.query_prefix.startswith("Represent this sentence")
    assert np.isfinite(Prefixed().embed_queries(["undo"])).all()
