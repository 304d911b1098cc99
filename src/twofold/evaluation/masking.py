"""Taking text out of a document as if it had never been written, headings from every path included."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from twofold.domain.types import Block, Document

_BLANKS = r"[\s\x0b\x1c-\x1f\x{85}\p{Z}]+"
"""What `str.split` parts words at, for RE2."""


class Span(NamedTuple):
    """A stretch of a document's text: `text[start:end]`."""

    start: int
    end: int


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Order spans and join those that touch or overlap.

    >>> merged([Span(4, 6), Span(0, 2), Span(5, 9)])
    (Span(start=0, end=2), Span(start=4, end=9))
    """
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return tuple(joined)


def occurrences(text: str, sought: str) -> tuple[Span, ...]:
    """Find a text wherever it stands, in capitals or not, white space of any kind alike; overlaps are found once.

    >>> occurrences("Big trees. BIG  trees", "big trees")
    (Span(start=0, end=9), Span(start=11, end=21))
    """
    import re2  # 10 ms that only those pay who mask

    words = sought.split()
    if not words:
        return ()
    pattern = re2.compile("(?i)" + _BLANKS.join(re2.escape(word) for word in words))
    return tuple(Span(*found.span()) for found in pattern.finditer(text))


def masked(document: Document, cuts: Iterable[Span], headings: Iterable[str] = ()) -> Document:
    """Return the document without some stretches of its text, and without these headings and this title.

    Blocks keep what is left of them, and vanish with all of it. Its id and its source stay. The text "ab. cd." without
    its first four characters is "cd.".
    """
    spans = merged(cuts)
    gone = {_plain(heading) for heading in headings}
    return replace(
        document,
        text="".join(_outside(document.text, spans)),
        title="" if _plain(document.title) in gone else document.title,
        blocks=tuple(_shift_block(block, spans, gone) for block in document.blocks if _has_text(block, spans)),
    )


def _outside(text: str, spans: Sequence[Span]) -> Iterable[str]:
    at = 0
    for start, end in spans:
        yield text[at:start]
        at = end
    yield text[at:]


def _shift_block(block: Block, spans: Sequence[Span], gone: set[str]) -> Block:
    return replace(
        block,
        start=_shifted(block.start, spans),
        end=_shifted(block.end, spans),
        heading=tuple(heading for heading in block.heading if _plain(heading) not in gone),
    )


def _has_text(block: Block, spans: Sequence[Span]) -> bool:
    return _shifted(block.start, spans) < _shifted(block.end, spans)


def _shifted(place: int, spans: Sequence[Span]) -> int:
    """Return where a place in the text lies once the spans are gone; within one of them, where that was."""
    return place - sum(min(place, end) - start for start, end in spans if start < place)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
