"""Cells of several lines, put back into rows.

Header cells such as "December 31," over "2022" often stand in a file cell by cell, so that their lines come down one
column, jump up, and come down the next. Here the lines of such cells become rows again, from top to bottom and left to
right. Columns of running text are longer than four lines and stay as they are.
"""

from collections.abc import Sequence

from twofold.ingest.readers.pdf.lines import Line, PageText, joined, lines_of

MAX_LINES = 4  # of one cell
_MAX_CHARACTERS = 90  # of a line of cells; longer ones are running text
_SAME = 0.45  # of a line's height: baselines as near as this are one


def rows_of(page: PageText) -> list[Line]:
    """Return a page's lines in reading order, those of cells side by side in rows."""
    return in_rows(lines_of(page))


def in_rows(lines: Sequence[Line]) -> list[Line]:
    """Return lines with those of cells side by side put into rows."""
    found: list[Line] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        first = _first_of_cell(found, line) if found and _jumps(found[-1], line) else len(found)
        if first == len(found):
            found.append(line)
            at += 1
            continue
        stop = _end_of_cells(lines, at, found[first:])
        found[first:] = by_baseline([*found[first:], *lines[at:stop]])
        at = stop
    return found


def _jumps(before: Line, line: Line) -> bool:
    """Return whether a line stands higher than the one before it, and to its right."""
    return line.turn == before.turn and line.bottom > before.bottom + _SAME * line.size and line.left >= before.right


def _first_of_cell(found: Sequence[Line], line: Line) -> int:
    """Return where the cell begins to the left of a line: the last ones no higher than it, four at most."""
    first = len(found)
    while first and _beside(found[first - 1], line):
        first -= 1
    return first if len(found) - first <= MAX_LINES else len(found)


def _beside(one: Line, line: Line) -> bool:
    return (
        one.turn == line.turn
        and one.bottom <= line.bottom + _SAME * line.size
        and line.bottom - one.bottom < (MAX_LINES + 1) * 1.5 * line.size
        and one.right <= line.left
        and len(one.text) <= _MAX_CHARACTERS
    )


def _end_of_cells(lines: Sequence[Line], at: int, cell: Sequence[Line]) -> int:
    """Return where the cells end that begin with `lines[at]`: below the first cell, or at a long line."""
    size = lines[at].size
    lowest, highest = min(one.bottom for one in cell) - _SAME * size, lines[at].bottom + _SAME * size
    stop = at
    while stop < len(lines) and lowest <= lines[stop].bottom <= highest and lines[stop].turn == lines[at].turn:
        if len(lines[stop].text) > _MAX_CHARACTERS:
            break
        stop += 1
    return max(stop, at + 1)


def by_baseline(cells: Sequence[Line]) -> list[Line]:
    """Return lines from top to bottom, those on one baseline joined from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(cells, key=lambda one: -one.bottom):
        if rows and abs(rows[-1][0].bottom - line.bottom) <= _SAME * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    made = []
    for row in rows:
        first, *rest = sorted(row, key=lambda one: one.left)
        for line in rest:
            first = joined(first, line)
        made.append(first)
    return made
