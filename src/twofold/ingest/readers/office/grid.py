"""Cells that span rows and columns laid out as a grid, and header rows of several lines made one.

A body cell that spans rows is repeated in each, so that no row loses its context; one that spans columns stands in the
first. A header cell is repeated in every column that it stands over: "2022" over "Q1" and "Q2" makes the header
`2022 Q1 | 2022 Q2`.
"""

import re
from collections.abc import Sequence

from twofold.domain.dataclass import dataclass

MAX_SPAN = 1_000
MAX_COLUMNS = 200
_MAX_HEADERS = 4
_FIGURE = re.compile(r"[($€£¥+\-\u2013\u2014\u2212]*\s*\d[\d.,'\u2019 ]*\s*(?:%|[)])*")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell: its text, how many columns and rows it spans, and whether it goes on from the cell above."""

    text: str
    right: int = 1
    down: int = 1
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: the row above it that names it, one header row (empty where it has none), and the rows of its body."""

    caption: str
    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]

    @property
    def rows(self) -> list[Sequence[str]]:
        """All rows, the header row first where there is one."""
        return [self.header, *self.body] if self.header else list(self.body)


def build_grid(rows: Sequence[Sequence[GridCell]], marked: int | None) -> Grid:
    """Lay rows out. `marked` rows are the header: 0 for none; None where the file does not say, then the first row.

    A first row that is one cell over all columns is the caption. A header goes on in the next row where a cell of it
    spans columns and the next row has no figures while later ones have.
    """
    full, shown = _grids(rows)
    width = max((len(row) for row in full), default=0)
    caption: list[str] = []
    while len(full) > 1 and _names_all(rows[len(caption)], width):
        caption.append(full[0][0])
        full, shown, marked = full[1:], shown[1:], marked - 1 if marked else marked
    count = _header_count(rows[len(caption) :], full, marked)
    return Grid(
        " ".join(filter(None, caption)), tuple(one_header(full[:count])), tuple(tuple(row) for row in shown[count:])
    )


def one_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Make one header row of several: the texts of each column from top to bottom, each once."""
    width = max((len(row) for row in rows), default=0)
    columns = ([row[at] for row in rows if at < len(row) and row[at]] for at in range(width))
    return [" ".join(dict.fromkeys(texts)) for texts in columns]


def is_figure(text: str) -> bool:
    """Return whether a cell is a number, and no year."""
    return _FIGURE.fullmatch(text.strip()) is not None and _YEAR.fullmatch(text.strip()) is None


def _grids(rows: Sequence[Sequence[GridCell]]) -> tuple[list[list[str]], list[list[str]]]:
    """Return two grids: with the text of a cell in all that it spans, and once for each row."""
    full: list[list[str]] = []
    shown: list[list[str]] = []
    hanging: dict[int, tuple[int, str, str]] = {}  # column: in how many more rows, in the one grid and in the other
    for row in rows:
        wide: list[str] = []
        once: list[str] = []
        for cell in row:
            _fill(wide, once, hanging)
            text = _above(full, len(wide)) if cell.goes_on else cell.text
            for number in range(max(1, min(cell.right, MAX_COLUMNS - len(wide)))):
                once_only = "" if number else text
                if cell.down > 1 and len(wide) < MAX_COLUMNS:
                    hanging[len(wide)] = (min(cell.down, MAX_SPAN) - 1, text, once_only)
                wide.append(text)
                once.append(once_only)
        _fill(wide, once, hanging)
        full.append(wide)
        shown.append(once)
    return full, shown


def _above(full: Sequence[Sequence[str]], column: int) -> str:
    return full[-1][column] if full and column < len(full[-1]) else ""


def _fill(wide: list[str], once: list[str], hanging: dict[int, tuple[int, str, str]]) -> None:
    """Put cells that hang down from rows above into the columns they stand in."""
    while len(wide) in hanging:
        column = len(wide)
        left, text, once_only = hanging.pop(column)
        wide.append(text)
        once.append(once_only)
        if left > 1:
            hanging[column] = (left - 1, text, once_only)


def _names_all(row: Sequence[GridCell], width: int) -> bool:
    return len(row) == 1 and row[0].right >= width > 1


def _header_count(rows: Sequence[Sequence[GridCell]], full: Sequence[Sequence[str]], marked: int | None) -> int:
    if marked is not None and marked != 1:
        return min(marked, _MAX_HEADERS, len(full) - 1) if marked > 0 else 0
    count = 1 if full else 0
    if not any(is_figure(text) for row in full[2:] for text in row):
        return count
    while count < min(_MAX_HEADERS, len(full) - 1) and _goes_on(rows[count - 1], full[count]):
        count += 1
    return count


def _goes_on(row: Sequence[GridCell], below: Sequence[str]) -> bool:
    """Return whether a header row has its columns' names in the next row: a cell of it spans several columns."""
    spans = len(row) > 1 and any(cell.right > 1 and cell.text for cell in row)
    return spans and not any(is_figure(text) for text in below) and sum(map(bool, below)) > 1
