"""Checklist 59: passages around a hit in its document, in reading order, `start = max(0, i - w)`, window 5."""

import pytest

from support.indexes import indexed
from twofold import Index
from twofold.search.result import Hit

PARTS = [f"Here the heron number{number} stands. " + "It eats fish. " * 8 for number in range(20)]


@pytest.fixture(scope="module")
def index() -> Index:
    made = indexed({"birds.md": "\n\n".join(PARTS)}, {"chunk.size": 48})
    chunks = made.chunks("birds.md")
    assert [f"number{number} " in chunk.text for number, chunk in enumerate(chunks)] == [True] * 20
    return made


def around(index: Index, part: int, window: int = 5) -> Hit:
    """Find the passage of one part, with its neighbors."""
    (hit,) = index.search(f"number{part}", mode="bm25", k=1, settings={"search.context_window": window}).hits
    assert f"number{part} " in hit.text
    return hit


def ordinals(hit: Hit) -> list[int]:
    return [one.ordinal for one in hit.context]


def test_around_passage_2_a_window_of_5_is_0_to_7(index: Index) -> None:
    """The passage itself is in `joined` and not among its neighbors."""
    hit = around(index, 2)

    assert ordinals(hit) == [0, 1, 3, 4, 5, 6, 7]
    assert hit.joined is not None
    assert [number for number in range(20) if f"heron number{number} " in hit.joined.text] == [0, 1, 2, 3, 4, 5, 6, 7]


def test_the_window_ends_with_the_document(index: Index) -> None:
    assert ordinals(around(index, 18)) == [13, 14, 15, 16, 17, 19]
    assert ordinals(around(index, 0, window=1)) == [1]
    assert around(index, 0, window=0).context == ()


def test_neighbors_are_joined_in_reading_order_and_every_piece_is_the_documents_own(index: Index) -> None:
    hit, text = around(index, 9, window=2), index.document("birds.md").text

    assert hit.joined is not None
    starts = [piece.start for piece in hit.joined.pieces]
    assert starts == sorted(starts)
    for piece in hit.joined.pieces:
        assert hit.joined.text[piece.at :].startswith(text[piece.start : piece.end])


def test_it_is_the_default_of_the_system_that_has_it(index: Index) -> None:
    (hit,) = index.search("number2", mode="bm25", k=1, profile="localgpt", settings={"rerank.model": "none"}).hits

    assert ordinals(hit) == [0, 1, 3, 4, 5, 6, 7]
