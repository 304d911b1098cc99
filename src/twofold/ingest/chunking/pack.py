"""Packs weighed pieces into passages: pure arithmetic over token counts and break ranks."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from twofold.domain.dataclass import dataclass
from twofold.ingest.chunking.split import Break, Piece


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much a passage may hold, in tokens: at most `limit`, of which `overlap` repeats; the last `minimum` or more.

    `repeats_from` is the worst break that a repeated stretch may begin behind.
    """

    limit: int
    overlap: int = 0
    minimum: int = 0
    repeats_from: Break = Break.SENTENCE


def pack(pieces: Sequence[Piece], sizes: Sizes) -> Iterator[tuple[int, int]]:
    """Return the passages as ranges of pieces, `pieces[first:stop]`, in order, leaving out none.

    Each is cut at the best break in the upper half of what it may hold, the latest of equals. A piece heavier than the
    limit stands alone. Three pieces of 40, 30 and 50 tokens, limit 100, the first ending a block: [0, 2) and [2, 3)
    where the second ends one too, else [0, 1) does not reach half of the limit and the cut falls behind the second.
    """
    sums = list(accumulate((piece.tokens for piece in pieces), initial=0))
    ranks = [piece.rank for piece in pieces]
    first, behind = 0, 0
    while behind < len(pieces):
        stop = _stop(sums, ranks, first, behind, sizes)
        yield first, stop
        first, behind = _restart(sums, ranks, first, stop, sizes), stop


def _stop(sums: Sequence[int], ranks: Sequence[Break], first: int, behind: int, sizes: Sizes) -> int:
    """Return where the passage that begins at `first` ends; it must reach past `behind`, where the one before ended."""
    rest = sums[-1] - sums[first]
    if rest <= sizes.limit:
        return len(ranks)
    room = min(sizes.limit, rest - sizes.minimum)
    last = max(behind + 1, bisect_right(sums, sums[first] + room) - 1)
    if ranks[last - 1] == Break.BEHIND_HEADING:  # better a short tail than a heading alone
        last = max(last, bisect_right(sums, sums[first] + sizes.limit) - 1)
    # Something new of a quarter at least, so that a generous overlap cannot make the work quadratic.
    least = max(sums[first] + room // 2, sums[behind] + room // 4)
    earliest = min(last, max(behind + 1, bisect_left(sums, least)))
    return max(range(earliest, last + 1), key=lambda stop: (ranks[stop - 1], stop))


def _restart(sums: Sequence[int], ranks: Sequence[Break], first: int, stop: int, sizes: Sizes) -> int:
    """Return where the next passage begins: as early as the overlap, its next piece and the breaks allow."""
    if stop == len(ranks):
        return stop
    heaviest_start = max(sums[stop] - sizes.overlap, sums[stop + 1] - sizes.limit)
    begin = max(first + 1, bisect_left(sums, heaviest_start))
    while begin < stop and ranks[begin - 1] < sizes.repeats_from:
        begin += 1
    return min(begin, stop)
