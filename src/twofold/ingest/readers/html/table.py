"""Tables on pages: which of them hold data, and their cells with spans filled in."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from twofold.ingest.readers.html.tree import inline_text

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_HELD_IN_LAYOUT = "pre, h1, h2, h3, h4, dl, ul ul, p + p + p"
_MAX_SPAN = 1_000
_MAX_COLUMNS = 200


def is_data_table(table: "LexborNode") -> bool:
    """Return whether a table holds data instead of layout: several rows and columns, and simple cells."""
    if table.css_first(_HELD_IN_LAYOUT) is not None or len(table.css("table")) > 1:  # it selects itself too
        return False
    rows = table.css("tr")
    return len(rows) > 1 and max(len(row.css("td, th")) for row in rows) > 1


def has_header_row(table: "LexborNode") -> bool:
    """Return whether the first row names columns: it is marked so, and has more than one cell."""
    first = table.css_first("tr")
    if first is None or len(first.css("td, th")) < 2:  # noqa: PLR2004 one cell is a caption
        return False
    return first.css_first("td") is None or table.css_first("thead") is not None


def rows_of(table: "LexborNode") -> list[Sequence[str]]:
    """Read the cells row by row. One that spans rows is repeated in each, so that no row loses its context."""
    rows: list[Sequence[str]] = []
    hanging: dict[int, tuple[int, str]] = {}  # column: in how many more rows, and what
    for row in table.css("tr"):
        cells: list[str] = []
        for cell in row.css("td, th"):
            _fill(cells, hanging)
            text = inline_text(cell)
            if len(cells) < _MAX_COLUMNS and (down := _span(cell, "rowspan") - 1):
                hanging[len(cells)] = (down, text)
            cells.append(text)
            cells.extend("" for _ in range(min(_span(cell, "colspan"), _MAX_COLUMNS) - 1))
        _fill(cells, hanging)
        rows.append(cells)
    return rows


def _fill(cells: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Put cells that hang down from rows above into the columns they stand in."""
    while len(cells) in hanging:
        column = len(cells)
        left, text = hanging.pop(column)
        cells.append(text)
        if left > 1:
            hanging[column] = (left - 1, text)


def _span(cell: "LexborNode", name: str) -> int:
    value = cell.attributes.get(name) or ""
    return min(int(value), _MAX_SPAN) or 1 if value.isascii() and value.isdigit() and len(value) < 7 else 1  # noqa: PLR2004 digits
