"""Laws of every chunking strategy, over random documents with tidy and with careless blocks."""

from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.types import Block, BlockKind, Chunk, Document, Vectors
from twofold.ingest.chunking import ChunkPlan, Strategy, chunker_for
from twofold.ingest.chunking.sentences import sentence_ends


def measure(texts: Sequence[str]) -> list[int]:
    """A token is up to four characters of a word."""
    return [sum(-(-len(word) // 4) for word in text.split()) for text in texts]


def embed(texts: Sequence[str]) -> Vectors:
    vectors = np.zeros((len(texts), 8), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            vectors[row, crc32(word.encode("utf-8", "replace")) % 8] += 1
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(lengths, 1)
    return unit


words = st.text("abcdéÉXYZ.!?。#-|1漢字\u0301", min_size=1, max_size=70)
texts = st.lists(words | st.sampled_from([" ", "\n", "\n\n", "  ", "\t", "\u00a0"]), max_size=60).map(" ".join)
paths = st.lists(st.sampled_from(["Guide", "Install", "Linux", "x" * 90, "many words " * 9]), max_size=3).map(tuple)
kinds = st.sampled_from(BlockKind)
plans = st.integers(16, 80).flatmap(
    lambda size: st.builds(
        ChunkPlan,
        st.sampled_from(Strategy),
        st.just(size),
        st.integers(0, size // 2),
        st.integers(0, size // 2),
    )
)


@st.composite
def tidy_documents(draw: st.DrawFn) -> Document:
    """Blocks in order, apart by blank lines, on rising pages, as readers make them."""
    text, blocks, page = "", [], draw(st.sampled_from([None, 1]))
    for body in draw(st.lists(texts, max_size=8)):
        start = len(text)
        text += body
        header = draw(st.sampled_from(["", "name\tprice", "wide " * 40]))
        blocks.append(Block(draw(kinds), start, len(text), draw(paths), page, "", header))
        text += draw(st.sampled_from(["\n\n", "\n", " - ", ""]))
        page = page + draw(st.integers(0, 1)) if page else None
    return Document("d", "d", text, draw(st.sampled_from(["", "Guide", "A title"])), blocks=tuple(blocks))


@st.composite
def careless_documents(draw: st.DrawFn) -> Document:
    """Blocks that overlap, run past the end, are empty or leave text out."""
    text = draw(texts)
    edges = st.integers(0, len(text) + 5)
    blocks = st.builds(Block, kinds, edges, edges, paths, st.sampled_from([None, 1, 2]))
    return Document("d", "d", text, blocks=tuple(draw(st.lists(blocks, max_size=6))))


documents = tidy_documents() | careless_documents()


def cut(document: Document, plan: ChunkPlan) -> tuple[Chunk, ...]:
    return chunker_for(plan, measure, embed)(document)


@given(documents, plans)
def test_spans_are_exact_and_ordinals_count_from_zero(document: Document, plan: ChunkPlan) -> None:
    chunks = cut(document, plan)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(document.text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert all(chunk.text.strip() for chunk in chunks)


@given(documents, plans)
def test_every_character_that_is_not_white_space_is_in_a_chunk(document: Document, plan: ChunkPlan) -> None:
    covered = np.zeros(len(document.text), dtype=bool)
    for chunk in cut(document, plan):
        covered[chunk.start : chunk.end] = True
    assert not "".join(character for character, has in zip(document.text, covered, strict=True) if not has).strip()


@given(documents, plans)
def test_no_indexed_text_is_heavier_than_the_plan_allows(document: Document, plan: ChunkPlan) -> None:
    assert max(measure([chunk.indexed_text for chunk in cut(document, plan)]), default=0) <= plan.size


@given(documents, plans)
def test_chunks_stand_in_reading_order_and_repeat_no_more_than_the_overlap(document: Document, plan: ChunkPlan) -> None:
    chunks = cut(document, plan)
    for one, other in pairwise(chunks):
        assert one.start < other.start
        assert one.end < other.end
        assert measure([document.text[other.start : one.end]])[0] <= plan.overlap


@given(tidy_documents(), plans)
def test_no_chunk_reaches_over_a_page(document: Document, plan: ChunkPlan) -> None:
    for chunk in cut(document, plan):
        inside = [
            block.page
            for block in document.blocks
            if document.text[max(block.start, chunk.start) : min(block.end, chunk.end)].strip()
        ]
        assert len(set(inside)) <= 1
        assert not inside or chunk.page == inside[0]


@given(documents, plans)
def test_the_same_document_is_cut_the_same_way_again(document: Document, plan: ChunkPlan) -> None:
    assert cut(document, plan) == cut(document, plan)


@given(texts)
def test_sentence_ends_rise_and_stand_behind_a_mark(text: str) -> None:
    ends = sentence_ends(text)
    assert ends == sorted(set(ends))
    assert all(0 < end < len(text) for end in ends)
    assert all(text[end - 1] in ".!?。" for end in ends)
