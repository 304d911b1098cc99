"""Running headers, footers and page numbers of a PDF: lines that recur at the same height of many pages.

A line counts where it stands in the upper or the lower 15 % of its page, its text but for figures stands at the same
height on three pages at least and on 30 % of them, and nothing but such lines is between it and the edge of its page.
Numbers that grow by one from page to page count wherever they end a page. A row of column names right above rows of
figures stays, however often it recurs: a long table repeats it on each page.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from statistics import median

from twofold.ingest.readers.pdf.lines import Line
from twofold.ingest.readers.pdf.tables import cells_of, has_figure

HEADER, FOOTER, NUMBER = "running header", "running footer", "page number"
_LINES = 4  # from each edge
_SHARE = 0.3
_LEAST = 3  # pages
_MARGIN = 0.15  # of the page's height
_SAME_HEIGHT = 12.0  # points
_NAMED_COLUMNS = 3
_FIGURES = re.compile(r"\d+")
_NUMBER = re.compile(r"(?:page|p\.|seite)?\s*[-–—|]?\s*(?:[a-z]?-)?(?:0|[ivxl]{1,6})(?:\s*(?:of|/|von)\s*0)?\s*[-–—|]?")

Place = tuple[int, int]
"""A page, and the number of a line on it, both from 0."""


def running_lines(pages: Sequence[Sequence[Line]], heights: Sequence[float]) -> Mapping[Place, str]:
    """Return the lines that are no content of their pages, and why each is not. Heights are in points."""
    written = sum(1 for lines in pages if lines)
    least = max(_LEAST, ceil(_SHARE * written))
    found: dict[Place, str] = {}
    for edge in (HEADER, FOOTER):
        ordered = [list(_from_edge(lines, height, edge)) for lines, height in zip(pages, heights, strict=True)]
        recurring = _recurring(pages, ordered, least)
        for page, numbers in enumerate(ordered):
            for at in numbers:
                if (page, at) not in recurring:
                    break
                found[page, at] = NUMBER if _is_number(pages[page][at]) else edge
    return found


def _from_edge(lines: Sequence[Line], height: float, edge: str) -> Iterator[int]:
    """Go through the first lines from the upper, or the lower, edge of a page, but for names of columns."""
    margin = _MARGIN * height
    down = sorted((at for at, line in enumerate(lines) if line.turn == 0), key=lambda at: -lines[at].bottom)
    for rank, at in enumerate(down[:_LINES] if edge == HEADER else down[: -_LINES - 1 : -1]):
        below = down[rank + 1] if edge == HEADER and rank + 1 < len(down) else None
        middle = (lines[at].bottom + lines[at].top) / 2
        is_inside = margin < middle < height - margin and not _is_number(lines[at])
        if is_inside or (below is not None and _names_columns(lines[at], lines[below])):
            return
        yield at


def _names_columns(line: Line, below: Line) -> bool:
    return len(cells_of(line)) >= _NAMED_COLUMNS and has_figure(cells_of(below))


def _recurring(pages: Sequence[Sequence[Line]], ordered: Sequence[Sequence[int]], least: int) -> set[Place]:
    places: dict[str, list[Place]] = defaultdict(list)
    for page, numbers in enumerate(ordered):
        for at in numbers:
            places[_plain(pages[page][at])].append((page, at))
    found: set[Place] = set()
    for text, stands in places.items():
        middle = median(pages[page][at].bottom for page, at in stands)
        same = [(page, at) for page, at in stands if abs(pages[page][at].bottom - middle) < _SAME_HEIGHT]
        if text == _ANY_NUMBER:
            same = list({*same, *_counting(pages, stands)})
        if len({page for page, _ in same}) >= least:
            found.update(same)
    return found


def _counting(pages: Sequence[Sequence[Line]], stands: Sequence[Place]) -> Iterator[Place]:
    """Go through numbers that grow by one from page to page, at whatever height."""
    ahead = {place: _first_figure(pages[place[0]][place[1]]) - place[0] for place in stands}
    steps = Counter(ahead.values())
    return (place for place, step in ahead.items() if steps[step] >= _LEAST)


def _first_figure(line: Line) -> int:
    found = _FIGURES.search(line.text)
    return int(found.group()[:9]) if found else 0


_ANY_NUMBER = "#"


def _plain(line: Line) -> str:
    """Return a line's text without case and figures; all forms of a page's number are one."""
    return _ANY_NUMBER if _is_number(line) else _without_figures(line)


def _is_number(line: Line) -> bool:
    return _NUMBER.fullmatch(_without_figures(line)) is not None


def _without_figures(line: Line) -> str:
    return " ".join(_FIGURES.sub("0", line.text.casefold()).split())
