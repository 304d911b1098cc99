"""Blocks over a text that is kept as it is: lines, paragraphs and sections as spans. It knows no syntax."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from twofold.domain.types import Block, BlockKind
from twofold.ingest.readers.types import Outline


class Line(NamedTuple):
    """A line `text[start:end]`, without its line feed."""

    start: int
    end: int


class HeadingSpan(NamedTuple):
    """A heading found in a text: where it stands, how high it is (1 is the highest), and what it says."""

    start: int
    end: int
    level: int
    title: str


def lines_of(text: str, start: int = 0, end: int | None = None) -> Iterator[Line]:
    """Go through the lines between two offsets."""
    stop = len(text) if end is None else end
    while start < stop:
        found = text.find("\n", start, stop)
        line_end = stop if found < 0 else found
        yield Line(start, line_end)
        start = line_end + 1


def trim_span(text: str, start: int, end: int) -> Line:
    """Cut blank lines off both ends of a span and blanks off its end; the first line's indentation stays."""
    body = text[start:end]
    stripped = body.rstrip()
    lead = len(stripped) - len(stripped.lstrip())
    return Line(start + stripped.rfind("\n", 0, lead) + 1, start + len(stripped))


def paragraph_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[Line]:
    """Go through the stretches between blank lines."""
    first: int | None = None
    last = start
    for line in lines_of(text, start, end):
        if text[line.start : line.end].strip():
            first = line.start if first is None else first
            last = line.end
        elif first is not None:
            yield trim_span(text, first, last)
            first = None
    if first is not None:
        yield trim_span(text, first, last)


def paragraphs(text: str, start: int = 0, end: int | None = None, heading: Sequence[str] = ()) -> Iterator[Block]:
    """Make a paragraph of every stretch between blank lines."""
    path = tuple(heading)
    for span in paragraph_spans(text, start, end):
        yield Block(BlockKind.PARAGRAPH, span.start, span.end, path)


def sections(text: str, headings: Iterable[HeadingSpan]) -> Iterator[Block]:
    """Make heading blocks of `headings`, which are in order, and paragraphs of what stands between them."""
    outline = Outline()
    position = 0
    for found in headings:
        yield from paragraphs(text, position, found.start, outline.path)
        above = outline.enter(found.level, found.title)
        yield Block(BlockKind.HEADING, found.start, found.end, above)
        position = found.end
    yield from paragraphs(text, position, None, outline.path)
