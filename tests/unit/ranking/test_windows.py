"""Passages around a hit in its document, in reading order, `start = max(0, i - w)`, window 5."""

from twofold.domain.types import Chunk
from twofold.ranking.context_window import joined, stretches, window

TEXT = " ".join(f"Sentence {number}." for number in range(20))


def passages() -> list[Chunk]:
    made, start = [], 0
    for ordinal in range(20):
        text = f"Sentence {ordinal}."
        made.append(Chunk("d", ordinal, text, start, start + len(text)))
        start += len(text) + 1
    return made


def test_around_passage_2_a_window_of_5_is_0_to_7() -> None:
    assert list(window(2, 5, count=20)) == [0, 1, 2, 3, 4, 5, 6, 7]


def test_the_window_ends_with_the_document() -> None:
    assert list(window(2, 5, count=4)) == [0, 1, 2, 3]


def test_neighbors_are_joined_in_reading_order_whatever_the_order_they_come_in() -> None:
    chunks = passages()
    made = joined([chunks[at] for at in (3, 1, 2)])

    assert made.text.split("\n\n") == ["Sentence 1.", "Sentence 2.", "Sentence 3."]
    assert all(made.text[piece.at :].startswith(TEXT[piece.start : piece.end]) for piece in made.pieces)


def test_two_hits_near_each_other_have_one_window_between_them() -> None:
    (stretch,) = stretches([8, 2], size=5, count=20)

    assert (stretch.passages, stretch.hits) == (range(14), (8, 2))
