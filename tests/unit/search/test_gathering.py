"""Sources made of found passages: verbatim in their document, none twice, best first, whatever was found."""

from hypothesis import given
from hypothesis import strategies as st

from twofold.answer.sources import FEW, sources_of, weights_of
from twofold.domain.types import Chunk
from twofold.search.result import Hit, HitTrace, Neighbor

TEXT = "".join(f"Passage number {number:02d} ends here.\n\n" for number in range(30))
LENGTH = len(TEXT) // 30
CHUNKS = [
    Chunk("d", number, TEXT[start : start + 26 + overlap], start, start + 26 + overlap, page=number // 5 + 1)
    for number in range(30)
    for start, overlap in [(number * LENGTH, number % 3)]
]


def hit(ordinal: int, rank: int, window: int = 0) -> Hit:
    one = CHUNKS[ordinal]
    near = [other for other in CHUNKS[max(0, ordinal - window) : ordinal + window + 1] if other is not one]
    return Hit(
        rank, 1.0 / rank, "d.txt", "", "d", one.id, one.page, "", (), one.start, one.end, one.text, HitTrace(()),
        context=tuple(Neighbor(other.ordinal, other.start, other.end, other.text, other.page) for other in near),
    )  # fmt: skip


@given(st.lists(st.integers(0, 29), unique=True, max_size=12), st.integers(0, 4))
def test_every_part_is_verbatim_and_every_hit_is_in_one_source(ordinals: list[int], window: int) -> None:
    hits = [hit(ordinal, rank, window) for rank, ordinal in enumerate(ordinals, 1)]
    sources = sources_of(hits)

    assert [one.number for one in sources] == list(range(1, len(sources) + 1))
    ids = [part.chunk_id for one in sources for part in one.parts]
    assert len(ids) == len(set(ids))
    assert {one.chunk_id for one in hits} <= set(ids)
    for one in sources:
        assert len(one.parts) <= max(FEW, 2 * window + 1)
        for part in one.parts:
            assert TEXT[part.start : part.end] == one.text[part.at : part.at + part.end - part.start]
            assert part.page == int(part.chunk_id.rpartition("_")[2]) // 5 + 1
    ranks = {f"d_chunk_{ordinal}": rank for rank, ordinal in enumerate(ordinals, 1)}
    best = [min(ranks.get(part.chunk_id, 99) for part in one.parts) for one in sources]
    assert best == sorted(best)


def test_nothing_found_makes_no_source() -> None:
    assert sources_of([]) == ()


def test_terms_weigh_what_the_search_said_or_else_what_was_asked() -> None:
    assert weights_of([], {"cat": 2.0, "=cat-1": 1.0, "dog": 0.0}) == {"cat": 2.0}
    assert weights_of([], {"=the": 1.0}) == {"=the": 1.0}
