"""Sentences with their places: of a source, to be cited; of an answer, to be held against one."""

import re
from collections.abc import Iterator, Sequence

from twofold.answer.types import Source, TextTools
from twofold.domain.dataclass import dataclass

MAX_LENGTH = 480  # characters; what is longer is a table or a list without an end
MAX_OF_A_SOURCE = 400
_LONGEST_LABEL = 32
_BREAK = re.compile(
    r"\n\s*\n|\n(?=[ \t]*(?:[-*+\u2022\u2013|#>]|\(?\d{1,3}[.)]|[a-z]\))[ \t])|(?<=[:|])[ \t]*\n|\n(?=[^\n]*\|)"
)
_LABEL = re.compile(
    r"\s*(?:(?:(?:[-*+\u2022\u2013>]|\(?\d{1,3}[.)])[ \t]+[\w./'()-]+(?: [\w./'()-]+)?|yes|no)\."
    r"|(?:[A-Z]\.)?(?:\d{1,3}\.)+)\s*",
    re.IGNORECASE,
)
"""What an item or a heading begins with and is no sentence: "INTEGER. The value is a signed integer", "14.3.1. Mail";
and a bare yes or no."""

_HEADING = re.compile(r"\s*#{1,6}[ \t]+[^\n]{1,120}(?<![.!?:;])\s*")
_BULLET = re.compile(r"[ \t]*(?:[-*+\u2022\u2013>]|#{1,6}|\(?\d{1,3}[.)])[ \t]+")


@dataclass(frozen=True, slots=True)
class SentenceUnit:
    """A sentence of a source: `document_text[start:end] == text`. `order` counts through all sources."""

    source: int
    order: int
    start: int
    end: int
    text: str


def spans(text: str, reading: TextTools) -> Iterator[tuple[int, int]]:
    """Return where sentences stand in a text, trimmed, at most 480 characters each.

    Markdown headings are not sentences, nor is text without a letter or digit.
    """
    at = 0
    for end in [*(found.start() for found in _BREAK.finditer(text)), len(text)]:
        yield from _within(text, at, end, reading)
        at = end


def units_of(sources: Sequence[Source], reading: TextTools) -> tuple[SentenceUnit, ...]:
    """Return all sentences of some sources, in reading order."""
    found: list[SentenceUnit] = []
    for source in sources:
        own = 0
        for part in source.parts:
            text = source.text[part.at : part.at + part.end - part.start]
            for start, end in spans(text, reading):
                own += 1
                if own > MAX_OF_A_SOURCE:
                    break
                found.append(
                    SentenceUnit(source.number, len(found), part.start + start, part.start + end, text[start:end])
                )
    return tuple(found)


def without_bullet(text: str) -> int:
    """Return how long the bullet, number or heading mark is that a sentence begins with."""
    found = _BULLET.match(text)
    return found.end() if found else 0


def _within(text: str, start: int, end: int, reading: TextTools) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if _HEADING.fullmatch(piece):
        return
    at, ends = 0, list(reading.sentence_ends(piece))
    if ends and len(piece[: ends[0]]) <= _LONGEST_LABEL and _LABEL.fullmatch(piece, 0, ends[0]):
        del ends[0]
    for stop in [*ends, len(piece)]:
        yield from _shortened(text, *_trimmed(text, start + at, start + stop))
        at = stop


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    begin += without_bullet(text[begin:end])
    return begin, max(begin, start + len(piece.rstrip()))


def _shortened(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut what is too long at white space."""
    while end - start > MAX_LENGTH:
        blank = max((found.start() for found in re.finditer(r"\s", text[start : start + MAX_LENGTH])), default=0)
        cut = start + (blank or MAX_LENGTH)
        if any(map(str.isalnum, text[start:cut])):
            yield start, start + len(text[start:cut].rstrip())
        start = _trimmed(text, cut, end)[0]
    if any(map(str.isalnum, text[start:end])):
        yield start, end
