"""What every chunker promises, as a suite to be tried on one of your own."""

import pytest

from twofold.domain.ports import Chunker
from twofold.domain.types import Block, BlockKind, Document

TEXTS = (
    "",
    " \n\t\n",
    "a",
    "One paragraph.\n\nAnother paragraph, which is longer.\n\n\nA third.",
    "no end " * 5_000,
    "x" * 20_000,
    "line\n" * 2_000,
    "漢字かな交じり文。" * 200,
    "👩‍👩‍👧‍👦🇩🇪e\u0301",
    "\u2028\u2029\u0085\x0b\x0c lines of other kinds",
)


def document_of(text: str) -> Document:
    """Make a document of one block, or of none where there is no text."""
    blocks = (Block(BlockKind.PARAGRAPH, 0, len(text)),) if text.strip() else ()
    return Document("made", "made.txt", text, blocks=blocks)


class ChunkerContract:
    """Derive a class whose name begins with `Condition` from it, and give it a fixture `chunker`."""

    @pytest.mark.parametrize("text", TEXTS)
    def test_every_passage_is_a_stretch_of_its_document(self, chunker: Chunker, text: str) -> None:
        for ordinal, chunk in enumerate(chunker(document_of(text))):
            assert 0 <= chunk.start < chunk.end <= len(text)
            assert text[chunk.start : chunk.end] == chunk.text
            assert (chunk.document, chunk.ordinal) == ("made", ordinal)

    @pytest.mark.parametrize("text", TEXTS)
    def test_no_passage_is_blank_and_all_that_is_written_is_in_one(self, chunker: Chunker, text: str) -> None:
        chunks = chunker(document_of(text))
        held = bytearray(len(text))
        for chunk in chunks:
            assert chunk.text.strip()
            held[chunk.start : chunk.end] = b"\x01" * (chunk.end - chunk.start)

        assert not [at for at, one in enumerate(text) if not (held[at] or one.isspace())]

    def test_passages_are_in_reading_order(self, chunker: Chunker) -> None:
        for text in TEXTS:
            starts = [chunk.start for chunk in chunker(document_of(text))]
            assert starts == sorted(starts)

    def test_the_same_document_is_cut_the_same_way(self, chunker: Chunker) -> None:
        for text in TEXTS:
            assert chunker(document_of(text)) == chunker(document_of(text))
