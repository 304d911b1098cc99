"""The smallest parts a document may be cut into, each weighed: sentences, lines, and parts of what is too long.

Weights are the embedder's own tokens, counted in large batches. It knows nothing of sections or of packing.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import chain, pairwise
from typing import NamedTuple

from twofold.domain.ports import Measure
from twofold.domain.types import Block, BlockKind
from twofold.ingest.chunking.outline import trimmed

CHARACTERS_PER_TOKEN = 16
"""A piece counts as at least one token per this many characters.

WordPiece calls any word of more than a hundred characters one unknown token: without this, ten million characters
without a space would be one passage.
"""

_BATCH = 8192
_INDENTATION = re.compile(r"[ \t]*+")
_WORD = re.compile(r"\S+")
_SPACE = re.compile(r"\s")
_LINES = frozenset({BlockKind.LIST, BlockKind.TABLE, BlockKind.CODE})
_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST})
_JOINING = frozenset("\u200c\u200d\ufe0e\ufe0f")

Span = tuple[int, int]


class Break(IntEnum):
    """How good a place the end of a piece is to cut at, worst first.

    A blank line inside a list or code counts as the end of a block; a line that those indented below it belong to (a
    term before its definition, `def` before its body) is a worse end than a sentence's.
    """

    BEHIND_HEADING = 0
    INSIDE_WORD = 1
    WORD = 2
    BEFORE_INDENTED = 3
    SENTENCE = 4
    BLOCK = 5


class Piece(NamedTuple):
    """A part of block number `block` of the outline that is not cut further; `rank` says how well it ends."""

    start: int
    end: int
    tokens: int
    block: int
    rank: Break


def cut_pieces(text: str, blocks: Sequence[Block], ends: Sequence[int], measure: Measure, room: int) -> list[Piece]:
    """Cut blocks into pieces of at most `room` tokens, where words allow, in reading order.

    `ends` are the text's sentence ends. Nothing but white space lies between the pieces.
    """
    spans = [(span, at) for at, block in enumerate(blocks) for span in _parts(text, block, ends)]
    weights = weigh(text, (span for span, _ in spans), measure, room)
    small = divide(
        text, [span for (span, _), weight in zip(spans, weights, strict=True) if weight > room], room, measure
    )
    found: list[Piece] = []
    for number, ((span, at), weight) in enumerate(zip(spans, weights, strict=True)):
        parts = small[span] if weight > room else [(*span, weight)]
        following = spans[number + 1][0][0] if span[1] < blocks[at].end else None
        found.extend(Piece(start, end, tokens, at, _rank(text, end)) for start, end, tokens in parts[:-1])
        found.append(Piece(*parts[-1], at, _last_rank(text, blocks[at], span[1], following)))
    return _with_gaps(found)


def cut_words(text: str, blocks: Sequence[Block], measure: Measure, room: int) -> list[Piece]:
    """Cut blocks into pieces of about an eighth of `room` tokens, at words alone, in reading order."""
    grain = max(1, room // 8)
    spans = [(block.start, block.end) for block in blocks]
    small = divide(text, spans, room, measure, grain)
    found = [Piece(*part, at, Break.WORD) for at, span in enumerate(spans) for part in small[span]]
    return _with_gaps(found)


def weigh(text: str, spans: Iterable[Span], measure: Measure, room: int) -> list[int]:
    """Count each span's tokens, at least 1 and at least one for every 16 characters.

    What is heavier than `room` by its length alone is not measured: it will be cut, and a tokenizer given megabytes at
    once takes a hundred times that in memory.
    """
    listed = list(spans)
    floors = [max(1, -(-(end - start) // CHARACTERS_PER_TOKEN)) for start, end in listed]
    measured = [text[start:end] for (start, end), floor in zip(listed, floors, strict=True) if floor <= room]
    counts = chain.from_iterable(measure(measured[at : at + _BATCH]) for at in range(0, len(measured), _BATCH))
    return [max(int(next(counts)), floor) if floor <= room else floor for floor in floors]


def divide(
    text: str, spans: Sequence[Span], room: int, measure: Measure, grain: int = 0
) -> dict[Span, list[tuple[int, int, int]]]:
    """Cut each span at words into parts of about `grain` tokens (an eighth of `room`), with their weights.

    A word is cut, between characters, only when it is heavier than `room`. Each round measures what is still too
    heavy, in batches; parts shrink by a factor each round, so the work is near linear in the text.
    """
    grain = grain or max(1, room // 8)
    found: dict[Span, list[tuple[int, int, int]]] = {span: [] for span in spans}
    waiting = [(span, span) for span in found]
    while waiting:
        weights = weigh(text, (part for _, part in waiting), measure, room)
        heavier: list[tuple[Span, Span]] = []
        for (span, part), weight in zip(waiting, weights, strict=True):
            parts = _smaller(text, part, weight, room, grain)
            if len(parts) == 1:
                found[span].append((*part, weight))
            else:
                heavier.extend((span, each) for each in parts)
        waiting = heavier
    for ordered in found.values():
        ordered.sort()
    return found


def _smaller(text: str, part: Span, weight: int, room: int, grain: int) -> list[Span]:
    """Cut one part into as many as its weight calls for, or give it back alone when it is to stay whole."""
    start, end = part
    if weight <= grain or end - start == 1:
        return [part]
    longest = room * CHARACTERS_PER_TOKEN
    below = (end - start) * grain * 3 // (weight * 4)  # words are of unlike weight: aim below
    length = max(1, below) if end - start <= longest else longest
    grouped = _group_words(text, start, end, length)
    if len(grouped) > 1:
        return grouped
    if weight <= room:
        return [part]
    return list(_cut_characters(text, start, end, length))


def _group_words(text: str, start: int, end: int, length: int) -> list[Span]:
    """Group words so that a group spans no more than `length` characters, except a single longer word."""
    groups: list[Span] = []
    first = start
    while first + length < end:
        window = text[first : first + length + 1]
        held = window.rstrip() if window[-1].isspace() else _without_last_word(window)
        last = first + len(held) if held else _end_of_word(text, first + length, end)
        groups.append((first, last))
        following = _WORD.search(text, last, end)
        if following is None:
            return groups
        first = following.start()
    if first < end:
        groups.append((first, first + len(text[first:end].rstrip())))
    return groups


def _without_last_word(window: str) -> str:
    """Return what stands before the last word, without the white space between; empty for a single word."""
    parts = window.rsplit(None, 1)
    return parts[0] if len(parts) > 1 else ""


def _end_of_word(text: str, inside: int, end: int) -> int:
    found = _SPACE.search(text, inside, end)
    return found.start() if found else end


def _cut_characters(text: str, start: int, end: int, length: int) -> Iterator[Span]:
    """Cut a word every `length` characters, or a little before, so that no accent is parted from its letter."""
    while end - start > length:
        cut = start + length
        while cut > start and _joins(text[cut]):
            cut -= 1
        cut = cut if cut > start else start + length
        yield start, cut
        start = cut
    yield start, end


def _joins(character: str) -> bool:
    return character in _JOINING or unicodedata.combining(character) != 0


def _parts(text: str, block: Block, ends: Sequence[int]) -> Iterator[Span]:
    """Return the sentences or lines of a block, drawn in to what is not white space."""
    cuts = set(ends[bisect_right(ends, block.start) : bisect_left(ends, block.end)]) if block.kind in _PROSE else set()
    if block.kind in _LINES:
        cuts.update(_line_ends(text, block))
    keeps_indentation = block.kind in _LINES
    start = block.start
    for cut in (*sorted(cuts), block.end):
        left, right = trimmed(text, start, cut)
        if left < right:
            yield (start if keeps_indentation and not text[start:left].count("\n") else left), right
        start = cut


def _line_ends(text: str, block: Block) -> Iterator[int]:
    at = text.find("\n", block.start, block.end)
    while at >= 0:
        yield at + 1
        at = text.find("\n", at + 1, block.end)


def _rank(text: str, end: int) -> Break:
    """Rank the end of a part of a sentence: between words, or inside one."""
    return Break.WORD if text[end : end + 1].isspace() else Break.INSIDE_WORD


def _last_rank(text: str, block: Block, end: int, following: int | None) -> Break:
    """Rank the end of a sentence or line; `following` is where the next one of the block begins."""
    if block.kind is BlockKind.HEADING:
        return Break.BEHIND_HEADING
    if following is None:
        return Break.BLOCK
    lines = text.count("\n", end, following)
    if block.kind not in _LINES or not lines:
        return Break.SENTENCE
    if lines > 1:
        return Break.BLOCK
    own = text.rfind("\n", block.start, end) + 1 or block.start
    return Break.BEFORE_INDENTED if _indentation(text, following) > _indentation(text, own) else Break.SENTENCE


def _indentation(text: str, start: int) -> int:
    found = _INDENTATION.match(text, start)
    return found.end() - start if found else 0


def _with_gaps(pieces: list[Piece]) -> list[Piece]:
    """Charge long white space to the piece before it, at a token for 16 characters: a passage spans it too."""
    for at, (piece, following) in enumerate(pairwise(pieces)):
        gap = (following.start - piece.end) // CHARACTERS_PER_TOKEN
        if gap:
            pieces[at] = piece._replace(tokens=piece.tokens + gap)
    return pieces
