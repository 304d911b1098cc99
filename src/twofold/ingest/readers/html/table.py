"""Tables on pages: which of them hold data, and their cells with spans filled in."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from twofold.ingest.readers.html.tree import inline_text
from twofold.ingest.readers.office.grid import MAX_SPAN, Grid, GridCell, build_grid

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_HELD_IN_LAYOUT = "pre, h1, h2, h3, h4, dl, ul ul, p + p + p"


def is_data_table(table: "LexborNode") -> bool:
    """Return whether a table holds data instead of layout: several rows and columns, and simple cells."""
    if table.css_first(_HELD_IN_LAYOUT) is not None or len(table.css("table")) > 1:  # it selects itself too
        return False
    rows = table.css("tr")
    return len(rows) > 1 and max(len(row.css("td, th")) for row in rows) > 1


def grid_of(table: "LexborNode") -> Grid:
    """Return a table's header row and rows, cells that span others laid out."""
    rows = table.css("tr")
    cells = [[_cell(cell) for cell in row.css("td, th")] for row in rows]
    kept = [number for number, row in enumerate(cells) if row]
    return build_grid([cells[number] for number in kept], _header_rows([rows[number] for number in kept]))


def _header_rows(rows: Sequence["LexborNode"]) -> int:
    """Count the rows that are marked as header: those of `thead`, else the first ones of `th` alone."""
    heads = 0
    for row in rows:
        if row.css_first("td") is not None and (row.parent is None or row.parent.tag != "thead"):
            break
        heads += 1
    names = len(rows[0].css("td, th")) > 1 or heads > 1 if rows else False
    return heads if names and heads < len(rows) else 0


def _cell(cell: "LexborNode") -> GridCell:
    return GridCell(inline_text(cell), _span(cell, "colspan"), _span(cell, "rowspan"))


def _span(cell: "LexborNode", name: str) -> int:
    value = cell.attributes.get(name) or ""
    return min(int(value), MAX_SPAN) or 1 if value.isascii() and value.isdigit() and len(value) < 7 else 1  # noqa: PLR2004 digits
