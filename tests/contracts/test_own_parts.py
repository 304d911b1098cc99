"""The suites that users have, tried on parts as a user writes them, and shown to notice what is broken."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from support.custom_parts import Fixed, Glossary, Listed, cut_lines, shouting
from twofold import Index
from twofold.compat.parts import IndexRetriever
from twofold.domain.ports import Chunker, Embedder, QueryTransformer, Retrieved, Retriever
from twofold.domain.types import Chunk, Document
from twofold.ingest.chunking import ChunkPlan, Strategy, chunker_for
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.plugins import CustomReader
from twofold.testing import (
    ChunkerContract,
    EmbedderContract,
    ReaderContract,
    RetrieverContract,
    TransformerContract,
)
from twofold.testing.chunkers import TEXTS


class TestARetrieverByHeart(RetrieverContract):
    @pytest.fixture
    def retriever(self) -> Retriever:
        return Listed([(f"{number}_chunk_0", 1.0 / (1 + number)) for number in range(20)])


class TestAnIndexAsARetriever(RetrieverContract):
    question = "the last commit"

    @pytest.fixture
    def retriever(self) -> Iterator[Retriever]:
        with Index(":memory:", embedder=HashingEmbedder()) as index:
            for number in range(5):
                index.add(f"commit number {number} was the last one", id=f"d{number}")
            yield Asked(index)


class Asked:
    """An index, asked as a retriever; a question without words finds nothing."""

    def __init__(self, index: Index) -> None:
        self._index = IndexRetriever(index, "bm25")

    def search(self, query: str, k: int) -> Sequence[Retrieved]:
        if not any(map(str.isalnum, query)):
            return []
        return [Retrieved(one["chunk_id"], one["score"]) for one in self._index.search(query, k)]


class TestAGlossary(TransformerContract):
    question = "What is a VCS?"

    @pytest.fixture
    def transformer(self) -> QueryTransformer:
        return Glossary()


class TestLines(ChunkerContract):
    @pytest.fixture
    def chunker(self) -> Chunker:
        return cut_lines


class TestBuiltInChunkers(ChunkerContract):
    @pytest.fixture(params=list(Strategy))
    def chunker(self, request: pytest.FixtureRequest) -> Chunker:
        embedder = HashingEmbedder(64)
        return chunker_for(ChunkPlan(request.param), embedder.count_tokens, embedder.embed_passages)


class TestAShoutingReader(ReaderContract):
    sample = b"be quiet\n"
    expected = "BE QUIET"

    @pytest.fixture
    def reader(self) -> CustomReader:
        return shouting()


def test_the_suite_of_chunkers_notices_what_is_lost_and_what_is_made_up() -> None:
    def losing(document: Document) -> tuple[Chunk, ...]:
        return cut_lines(document)[:1]

    def inventing(document: Document) -> tuple[Chunk, ...]:
        return tuple(replace(chunk, text=chunk.text.upper() + "!") for chunk in cut_lines(document))

    suite = ChunkerContract()
    with pytest.raises(AssertionError):
        suite.test_no_passage_is_blank_and_all_that_is_written_is_in_one(losing, TEXTS[3])
    with pytest.raises(AssertionError):
        suite.test_every_passage_is_a_stretch_of_its_document(inventing, TEXTS[3])


def test_the_suite_of_retrievers_notices_who_gives_too_many_and_no_numbers() -> None:
    class Generous(Listed):
        def search(self, query: str, k: int) -> Sequence[Retrieved]:
            return super().search(query, k + 1)

    found = [("a_chunk_0", 1.0), ("b_chunk_0", float("nan"))]
    with pytest.raises(AssertionError):
        RetrieverContract().test_no_more_than_k_are_given_and_none_twice(Generous(found))
    with pytest.raises(AssertionError):
        RetrieverContract().test_scores_are_numbers_and_passages_have_names(Listed(found))


def test_the_suite_of_embedders_notices_one_that_knows_one_vector() -> None:
    fixed: Embedder = Fixed()

    EmbedderContract().test_the_same_text_gives_the_same_vector(fixed)
    with pytest.raises(AssertionError):
        EmbedderContract().test_the_order_given_is_the_order_returned(fixed)


def test_the_suite_of_transformers_notices_who_writes_into_the_context() -> None:
    class Scribbling:
        def transform(self, query: str, context: Mapping[str, str] | None) -> str:
            if isinstance(context, dict):
                context["seen"] = query
            return "another"

    with pytest.raises(AssertionError):
        TransformerContract().test_every_context_is_taken_and_left_as_it_was(Scribbling())
