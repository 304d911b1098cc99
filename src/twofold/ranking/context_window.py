"""Neighbors: the passages around a hit in its document, and several passages joined without repeating a character.

    window(i, w, n) = max(0, i - w) … min(n, i + w + 1) - 1

A joined text says of each of its pieces where it stands in the document, and shows where something is left out.
"""

from collections.abc import Sequence
from typing import Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Chunk

LINE: Final = "\n\n"
"""Stands between neighbors that do not touch: white space lies between them, or a heading."""

ELISION: Final = "\n\n[…]\n\n"
"""Stands where passages are left out."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Passages of one document in a row, by ordinal, and the hits whose windows they are, best first."""

    passages: range
    hits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """What a joined text took from the document without a break: `document_text[start:end]`, from `text[at]` on."""

    start: int
    end: int
    at: int


@dataclass(frozen=True, slots=True)
class Joined:
    """Passages of one document as one text, in reading order.

    For each piece, `document_text[piece.start:piece.end] == text[piece.at : piece.at + piece.end - piece.start]`;
    between two pieces stands `LINE` or `ELISION`.
    """

    text: str
    pieces: tuple[Piece, ...]

    @property
    def start(self) -> int:
        """Where in the document the first piece begins."""
        return self.pieces[0].start

    @property
    def end(self) -> int:
        """Where in the document the last piece ends; not all that lies between need be in the text."""
        return self.pieces[-1].end


def window(ordinal: int, size: int, count: int) -> range:
    """Return the ordinals of a passage of a document of `count` passages and of `size` neighbors on either side.

    >>> window(2, 5, count=100), window(9, 5, count=11), window(2, 0, count=3)
    (range(0, 8), range(4, 11), range(2, 3))

    Raises InvalidInputError for a size below 0.
    """
    if size < 0:
        raise InvalidInputError(f"the window must be at least 0 passages, not {size}.", "The usual value is 5.")
    return range(max(0, ordinal - size), min(count, ordinal + size + 1))


def stretches(ordinals: Sequence[int], size: int, count: int) -> tuple[Stretch, ...]:
    """Join the windows of several hits of one document where they overlap or touch, so that no passage comes twice.

    `ordinals` come best first; so do the stretches, by their best hit. The windows of 12 and 9 overlap:

    >>> stretches([12, 40, 9], size=2, count=100)
    (Stretch(passages=range(7, 15), hits=(12, 9)), Stretch(passages=range(38, 43), hits=(40,)))
    """
    places = {ordinal: place for place, ordinal in reversed(list(enumerate(ordinals)))}
    groups: list[tuple[range, list[int]]] = []
    for ordinal in sorted(places):
        own = window(ordinal, size, count)
        if groups and own.start <= groups[-1][0].stop:
            passages, hits = groups.pop()
            groups.append((range(passages.start, own.stop), [*hits, ordinal]))
        else:
            groups.append((own, [ordinal]))
    made = [Stretch(passages, tuple(sorted(hits, key=places.__getitem__))) for passages, hits in groups]
    return tuple(sorted(made, key=lambda stretch: places[stretch.hits[0]]))


def joined(chunks: Sequence[Chunk]) -> Joined:
    r"""Join passages of one document, at least one, in any order, by their spans in its text.

    What two passages share is not repeated. Of `abcdef`, the passages 0 to 4 and 2 to 6 share `cd`:

    >>> joined([Chunk("d", 1, "cdef", 2, 6), Chunk("d", 0, "abcd", 0, 4)]).text
    'abcdef'
    >>> joined([Chunk("d", 0, "ab", 0, 2), Chunk("d", 2, "ef", 4, 6)])
    Joined(text='ab\n\n[…]\n\nef', pieces=(Piece(start=0, end=2, at=0), Piece(start=4, end=6, at=9)))

    Raises ValueError for no passage, or for passages of several documents.
    """
    if len({chunk.document for chunk in chunks}) != 1:
        message = "passages of exactly one document are joined"
        raise ValueError(message)
    first, *rest = sorted(chunks, key=lambda chunk: (chunk.start, chunk.end))
    texts = [first.text]
    pieces = [Piece(first.start, first.end, 0)]
    length, last = len(first.text), first.ordinal
    for chunk in rest:
        piece = pieces[-1]
        if chunk.start <= piece.end:
            more = chunk.text[piece.end - chunk.start :]
            pieces[-1] = Piece(piece.start, max(piece.end, chunk.end), piece.at)
        else:
            between = LINE if chunk.ordinal <= last + 1 else ELISION
            pieces.append(Piece(chunk.start, chunk.end, length + len(between)))
            more = between + chunk.text
        texts.append(more)
        length += len(more)
        last = max(last, chunk.ordinal)
    return Joined("".join(texts), tuple(pieces))
