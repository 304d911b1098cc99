"""Windows and joined passages: nothing repeated, nothing lost, and every piece where it says it stands."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Chunk
from twofold.ranking.context_window import ELISION, LINE, Piece, joined, stretches, window

TEXT = "".join(chr(0x100 + place) for place in range(200))  # every character once, so that repeats show


@st.composite
def cut_documents(draw: st.DrawFn) -> list[Chunk]:
    """Cut TEXT into passages in reading order, some overlapping, some with a gap between them."""
    chunks: list[Chunk] = []
    start = draw(st.integers(0, 5))
    while start < len(TEXT) - 1 and len(chunks) < 12:
        end = min(len(TEXT), start + draw(st.integers(1, 30)))
        if chunks and end <= chunks[-1].end:
            end = min(len(TEXT), chunks[-1].end + 1)
        chunks.append(Chunk("d", len(chunks), TEXT[start:end], start, end))
        start = max(start + 1, end + draw(st.integers(-8, 4)))
    return chunks


@st.composite
def chosen(draw: st.DrawFn) -> list[Chunk]:
    """Choose some of a document's passages, in any order."""
    chunks = draw(cut_documents())
    some = draw(st.lists(st.sampled_from(chunks), min_size=1, unique_by=lambda chunk: chunk.ordinal))
    return draw(st.permutations(some))


@given(chosen())
def test_every_piece_stands_in_the_document_where_it_says(chunks: list[Chunk]) -> None:
    made = joined(chunks)

    for piece in made.pieces:
        assert made.text[piece.at : piece.at + piece.end - piece.start] == TEXT[piece.start : piece.end]
    assert (made.start, made.end) == (min(chunk.start for chunk in chunks), max(chunk.end for chunk in chunks))


@given(chosen())
def test_each_character_of_the_passages_comes_once_and_no_other(chunks: list[Chunk]) -> None:
    wanted = {place for chunk in chunks for place in range(chunk.start, chunk.end)}

    shown = joined(chunks).text.replace(ELISION, "").replace(LINE, "")

    assert shown == "".join(TEXT[place] for place in sorted(wanted))


@given(chosen())
def test_a_gap_shows_and_says_whether_passages_are_missing(chunks: list[Chunk]) -> None:
    made = joined(chunks)
    held = {chunk.ordinal for chunk in chunks}

    for before, after in pairwise(made.pieces):
        between = made.text[before.at + before.end - before.start : after.at]
        last = max(chunk.ordinal for chunk in chunks if chunk.end <= before.end)
        first = min(chunk.ordinal for chunk in chunks if chunk.start >= after.start)
        assert before.end < after.start
        assert between == (LINE if set(range(last, first + 1)) <= held else ELISION)


@given(chosen())
def test_the_order_of_the_passages_does_not_matter(chunks: list[Chunk]) -> None:
    assert joined(chunks) == joined(sorted(chunks, key=lambda chunk: chunk.ordinal))


def test_a_passage_within_another_adds_nothing() -> None:
    made = joined([Chunk("d", 0, "abcdef", 0, 6), Chunk("d", 1, "bc", 1, 3), Chunk("d", 2, "fg", 5, 7)])

    assert (made.text, made.pieces) == ("abcdefg", (Piece(0, 7, 0),))


def test_passages_of_several_documents_or_none_are_a_mistake_of_the_caller() -> None:
    for chunks in ([], [Chunk("d", 0, "a", 0, 1), Chunk("e", 0, "a", 0, 1)]):
        with pytest.raises(ValueError, match="one document"):
            joined(chunks)


@given(st.integers(0, 30), st.integers(0, 8), st.integers(1, 30))
def test_a_window_holds_whoever_is_near_enough(ordinal: int, size: int, more: int) -> None:
    count = ordinal + more

    assert list(window(ordinal, size, count)) == [place for place in range(count) if abs(place - ordinal) <= size]


@given(st.lists(st.integers(0, 40), max_size=10), st.integers(0, 5))
def test_stretches_cover_every_window_once(ordinals: list[int], size: int) -> None:
    made = stretches(ordinals, size, count=41)
    covered = [ordinal for stretch in made for ordinal in stretch.passages]

    assert len(covered) == len(set(covered))
    assert set(covered) == {place for ordinal in ordinals for place in window(ordinal, size, 41)}
    assert sorted(hit for stretch in made for hit in stretch.hits) == sorted(set(ordinals))
    assert all(set(window(hit, size, 41)) <= set(stretch.passages) for stretch in made for hit in stretch.hits)


@given(st.lists(st.integers(0, 40), max_size=10, unique=True), st.integers(0, 5))
def test_stretches_come_by_their_best_hit_and_do_not_touch(ordinals: list[int], size: int) -> None:
    made = stretches(ordinals, size, count=41)
    best = [min(map(ordinals.index, stretch.hits)) for stretch in made]
    ends = sorted((stretch.passages.start, stretch.passages.stop) for stretch in made)

    assert best == sorted(best)
    assert all(list(stretch.hits) == sorted(stretch.hits, key=ordinals.index) for stretch in made)
    assert all(before[1] < after[0] for before, after in pairwise(ends))


def test_a_window_below_0_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least 0"):
        window(3, -1, 10)
