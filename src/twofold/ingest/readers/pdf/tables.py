"""Tables of a PDF page: lines of text become rows of cells under one header row.

A cell ends at a gap wider than words leave, and each figure at the end of a row is a cell of its own. Columns are where
the cells of the body overlap from row to row; header lines above them, at most four, become one header row: a heading
that stands over several columns is repeated in each. A line inside a table that names years or days alone begins the
next table. Every character keeps its index in pdfium, so each cell has its place on the page.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from twofold.domain.dataclass import dataclass
from twofold.ingest.readers.pdf.lines import WIDE, Line

SEPARATOR = " | "
_FIGURE = re.compile(r"[$€£¥]?\s*\(?\s*[-+–—]?\s*[$€£¥]?\s*\d[\d.,]*\s*\)?\s*(?:%|x|bps|pts?)?\s*\)?|[-–—]+|n/?[am]|nm")
_DAY = re.compile(
    r"(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s*)?(?:\d{1,2},?\s*)?(?:19|20)\d\d[a-z*]?|"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2},?|fy\s?'?\d{2,4}|q[1-4]",
    re.IGNORECASE,
)
_OPENS = frozenset("$€£¥(")
_CLOSES = frozenset({"%", ")", ")%", "*", "pts", "x"})
_HEADER_LINES = 4
_LABELS = 0.2  # of a table's width that its labels take where its middle is not that of its columns
_OFF_CENTER = 0.03  # of a table's width
_LONGEST_HEADER = 60  # characters of one header cell of one line; more is a sentence


@dataclass(frozen=True, slots=True)
class Cell:
    """A stretch of a line: its text, the pdfium index of each character, and where it stands from left to right."""

    text: str
    chars: tuple[int, ...]
    left: float
    right: float

    def over(self, other: "Span") -> bool:
        """Return whether the cell stands over, or under, a column."""
        return self.left < other[1] and other[0] < self.right


Span = tuple[float, float]
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table's text, a line for each row, with `header` its header row; `chars` in step with `text`."""

    text: str
    chars: tuple[int, ...]
    header: str
    columns: tuple[Span, ...]


def cells_of(line: Line) -> Row:
    """Cut a line at its gaps; a currency sign joins what follows it, a percent sign or bracket what is before it."""
    joined: list[Cell] = []
    for cell in _pieces(line):
        before = joined[-1] if joined else None
        if before and (before.text in _OPENS or cell.text in _CLOSES):
            joined[-1] = _join(before, cell)
        else:
            joined.append(cell)
    return tuple(joined)


def has_figure(row: Row) -> bool:
    """Return whether a cell behind the first one is a figure, and neither a year nor a day."""
    return any(_is_figure(cell.text) for cell in row[1:]) or (len(row) > 1 and _is_figure(row[0].text))


def names_days(row: Row) -> bool:
    """Return whether all cells but a first one name years or days: the header row of a table with figures."""
    cells = row if row and _DAY.fullmatch(row[0].text) else row[1:]
    return len(cells) > 0 and all(_DAY.fullmatch(cell.text) for cell in cells)


def tables_of(lines: Sequence[Line], above: Sequence[Line] = ()) -> tuple[int, list[Table]]:
    """Make tables of lines that follow each other: one, or several where a new header row begins another.

    `above` are lines before them. Returns how many of these, from the end, belong to the header, and the tables.
    """
    rows = [cells_of(line) for line in lines]
    first = next((at for at, row in enumerate(rows) if has_figure(row)), 0)
    starts = [0, *_inner_starts(rows, first), len(rows)]
    tables: list[Table] = []
    taken = 0
    for number, (start, stop) in enumerate(pairwise(starts)):
        body = rows[max(first, start) : stop] if number == 0 else _body(rows[start:stop])
        columns = _columns(body) or (tables[-1].columns if tables else ())
        heads = rows[start : stop - len(body)]
        if number == 0:
            taken = _header_line_count(above, columns, _extent(body)) if len(heads) < _HEADER_LINES else 0
            heads = [*(cells_of(line) for line in above[len(above) - taken :]), *heads]
        named = max((at for at, row in enumerate(heads, 1) if _stands(row, columns)), default=0)
        tables.append(_table(heads[:named], [*heads[named:], *body], columns))
    return taken, tables


def _inner_starts(rows: Sequence[Row], first: int) -> Iterator[int]:
    """Go through where a row inside a table begins the next one: it names days, and figures are above and below."""
    for at in range(first + 2, len(rows) - 1):
        begins = len(rows[at]) > 1 and names_days(rows[at]) and not names_days(rows[at - 1])
        if begins and any(map(has_figure, rows[at:])):
            yield at


def _body(rows: Sequence[Row]) -> Sequence[Row]:
    first = next((at for at, row in enumerate(rows) if has_figure(row)), 0)
    return rows[first:]


def _pieces(line: Line) -> Iterator[Cell]:
    gaps = [gap for gap in line.gaps if gap.width > WIDE or _parts_figures(line.text, gap.at)]
    starts = [0, *(gap.at for gap in gaps), len(line.text)]
    lefts, rights = [line.left, *(gap.right for gap in gaps)], [*(gap.left for gap in gaps), line.right]
    for (begin, end), left, right in zip(pairwise(starts), lefts, rights, strict=True):
        body = line.text[begin:end].rstrip()
        yield Cell(body, line.chars[begin : begin + len(body)], left, right)


def _parts_figures(text: str, at: int) -> bool:
    """Return whether a narrower gap parts a figure from what is before it, or a currency sign from its figure."""
    before, after = text[:at].split()[-1:], text[at:].split()[:1]
    return bool(before and after) and (_is_figure(after[0]) or after[0] in _OPENS)


def _join(one: Cell, other: Cell) -> Cell:
    glue = "" if one.text in _OPENS or other.text in _CLOSES else " "
    return Cell(one.text + glue + other.text, (*one.chars, *([-1] * len(glue)), *other.chars), one.left, other.right)


def _is_figure(text: str) -> bool:
    return _FIGURE.fullmatch(text.casefold()) is not None and _DAY.fullmatch(text) is None


def _columns(rows: Sequence[Row]) -> tuple[Span, ...]:
    """Return where columns stand: figures that overlap from row to row are one, and so is other text in two rows."""
    figures = _merged([(cell.left, cell.right) for row in rows for cell in row if _is_figure(cell.text)])
    words = [cell for row in rows for cell in row[1:] if not any(cell.over(span) for span in figures)]
    others = _merged([(cell.left, cell.right) for cell in words])
    kept = [span for span in others if sum(cell.over(span) for cell in words) > 1]
    return tuple(sorted((*figures, *kept)))


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for left, right in sorted(spans):
        if merged and left < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], right))
        else:
            merged.append((left, right))
    return merged


def _stands(row: Row, columns: Sequence[Span]) -> list[Cell]:
    """Return the cells that stand over columns."""
    return [cell for cell in row if any(cell.over(column) for column in columns)]


def caption_lines(lines: Sequence[Line]) -> int:
    """Count the first lines of a table that are its caption: each alone over the middle of the whole table."""
    rows = [cells_of(line) for line in lines]
    first = next((at for at, row in enumerate(rows) if has_figure(row)), 0)
    columns, extent = _columns(rows[first:]), _extent(rows[first:])
    return next((at for at, row in enumerate(rows[:first]) if not _is_centered(row, extent, columns)), first)


def _extent(rows: Sequence[Row]) -> Span:
    """Return from where to where rows reach, their labels included."""
    cells = [cell for row in rows for cell in row]
    return (min(cell.left for cell in cells), max(cell.right for cell in cells)) if cells else (0.0, 0.0)


def _is_centered(row: Row, extent: Span, columns: Sequence[Span]) -> bool:
    """Return whether a line stands over the middle of a whole table, not of its columns: it is its caption."""
    width = extent[1] - extent[0]
    if len(row) != 1 or not columns or columns[0][0] - extent[0] < _LABELS * width:
        return False
    return abs(row[0].left + row[0].right - sum(extent)) / 2 < _OFF_CENTER * width


def _header_line_count(above: Sequence[Line], columns: Sequence[Span], extent: Span) -> int:
    """Count the lines right above a table that are its header: short cells that stand over columns."""
    count = 0
    for line in reversed(above[-_HEADER_LINES:]):
        row = cells_of(line)
        stands = _stands(row, columns)
        is_short = all(len(cell.text) <= _LONGEST_HEADER for cell in row)
        is_first_label = len(row) > len(stands) + 1
        if not stands or not is_short or is_first_label or has_figure(row) or line.text.endswith((".", ";")):
            break
        if _is_centered(row, extent, columns):
            break
        if len(columns) > 1 and len(stands) == 1 and not names_days(row) and _width(stands[0]) > _reach(columns):
            break
        count += 1
    return count


def _width(cell: Cell) -> float:
    return cell.right - cell.left


def _reach(columns: Sequence[Span]) -> float:
    return 1.2 * (columns[-1][1] - columns[0][0])


def _table(heads: Sequence[Row], body: Sequence[Row], columns: tuple[Span, ...]) -> Table:
    lines = list(_whole([_placed(row, columns) for row in body]))
    header = _header(heads, columns)
    if header:
        lines.insert(0, header)
    texts: list[str] = []
    chars: list[int] = []
    for line in lines:
        text, own = _written(line)
        texts.append(text)
        chars += [*own, -1]
    return Table("\n".join(texts), tuple(chars[:-1]), texts[0] if header else "", columns)


def _whole(lines: Sequence[list[Cell | None]]) -> Iterator[list[Cell | None]]:
    """Join a label that runs on in the next line with the rest of its row."""
    waiting: Cell | None = None
    for line in lines:
        label = line[0]
        if waiting and (label is None or label.text[:1].islower()):
            line[0] = label = waiting if label is None else _join(waiting, label)
        elif waiting:
            yield [waiting]
        waiting = label if label and not any(line[1:]) else None
        if waiting is None:
            yield line
    if waiting:
        yield [waiting]


def _placed(row: Row, columns: Sequence[Span]) -> list[Cell | None]:
    """Put a row's cells under the label and the columns; what stands before the first column is the label."""
    line: list[Cell | None] = [None] * (len(columns) + 1)
    for cell in row:
        at = _column(cell, columns)
        held = line[at]
        line[at] = cell if held is None else _join(held, cell)
    return line


def _column(cell: Cell, columns: Sequence[Span]) -> int:
    overlaps = [min(cell.right, right) - max(cell.left, left) for left, right in columns]
    best = max(range(len(columns)), key=overlaps.__getitem__, default=-1)
    if best >= 0 and overlaps[best] > 0 and (best == 0 or cell.left > columns[best - 1][1]):
        return best + 1
    return next((at for at, (left, _) in enumerate(columns) if cell.right <= left), len(columns))


def _header(heads: Sequence[Row], columns: Sequence[Span]) -> list[Cell | None]:
    """Make one row of header lines: a cell over several columns is repeated in each of them."""
    if not heads:
        return []
    line: list[Cell | None] = [None] * (len(columns) + 1)
    for row in heads:
        for cell in row:
            under = [at for at, column in enumerate(columns, 1) if cell.over(column)] or [_nearest(cell, columns)]
            for at in under:
                held = line[at]
                line[at] = cell if held is None else _join(held, cell)
    return line


def _nearest(cell: Cell, columns: Sequence[Span]) -> int:
    """Return the column that a header cell next to all of them belongs to: the label's where it stands before them."""
    if not columns or cell.right <= columns[0][0]:
        middle = (cell.left + cell.right) / 2
        return 1 if columns and columns[0][0] - middle < _width(cell) else 0
    return min(range(len(columns)), key=lambda at: abs(sum(columns[at]) - cell.left - cell.right)) + 1


def _written(line: Sequence[Cell | None]) -> tuple[str, list[int]]:
    """Write a row: cells parted by bars, empty ones kept but at the end."""
    last = max((at for at, cell in enumerate(line) if cell), default=-1)
    text = ""
    chars: list[int] = []
    for at, cell in enumerate(line[: last + 1]):
        if at:
            text, chars = text + SEPARATOR, [*chars, *([-1] * len(SEPARATOR))]
        if cell:
            text, chars = text + cell.text, [*chars, *cell.chars]
    return text, chars
