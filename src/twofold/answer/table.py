"""Rows of a document's table as cells, and as Markdown that can be read as it stands."""

from collections.abc import Sequence
from itertools import zip_longest
from unicodedata import east_asian_width

Cells = tuple[tuple[str, ...], ...]

_MAX_WIDTH = 60


def cells_of(rows: Sequence[str]) -> Cells:
    """Cut rows at their bars into as many cells each, the first row being the header.

    Rows may lack their empty first cell, as a header without a name for the labels does: it is put back where a row is
    one cell shorter than the longest and it is the header.
    """
    closed = [row.strip().strip("|") if row.rstrip().endswith("|") else row for row in rows]
    cut = [[cell.strip() for cell in row.split("|")] for row in closed]
    width = max(map(len, cut))
    if len(cut) > 1 and len(cut[0]) == width - 1:
        cut[0].insert(0, "")
    return tuple((*row, *([""] * (width - len(row)))) for row in cut)


def as_markdown(cells: Cells) -> str:
    """Write cells as a Markdown table, its columns padded to the same width."""
    widths = [min(_MAX_WIDTH, max(map(_width, column))) for column in zip_longest(*cells, fillvalue="")]
    lines = [_line(row, widths) for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
    return "| " + " | ".join(padded) + " |"


def _width(text: str) -> int:
    return sum(2 if east_asian_width(each) in "FW" else 1 for each in text)
