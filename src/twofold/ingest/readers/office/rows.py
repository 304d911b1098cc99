"""Tables as text: rows as lines, cells parted by bars, in groups of rows that each know the header row."""

from collections.abc import Iterable, Sequence
from itertools import islice

from twofold.domain.types import BlockKind
from twofold.ingest.readers.types import TextBuilder

ROWS_PER_BLOCK = 20


def render_row(cells: Sequence[str]) -> str:
    """Write one row as a line: `render_row(["a", "b c"])` is `a | b c`. Empty cells at the end are left out."""
    texts = [" ".join(cell.split()) for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return " | ".join(texts)


def add_rows(
    builder: TextBuilder,
    rows: Iterable[Sequence[str]],
    *,
    has_header: bool,
    heading: Sequence[str] = (),
    page: int | None = None,
    numbered: bool = False,
) -> None:
    """Add a table in blocks of twenty rows; the first block holds the header row too, and all name it.

    With `numbered`, a block's place tells its rows, counted from 1 with the header row: `rows 2-21`.
    """
    lines = iter([(number, line) for number, row in enumerate(rows, 1) if (line := render_row(row))])
    first = next(lines, None) if has_header else None
    header = first[1] if first else ""
    group = list(islice(lines, ROWS_PER_BLOCK))
    if first and not group:
        group, header = [first], ""
        first = None
    while group:
        place = f"rows {group[0][0]}-{group[-1][0]}" if numbered else ""
        body = "\n".join(line for _, line in group)
        text = f"{header}\n{body}" if first else body
        builder.add(BlockKind.TABLE, text, heading=heading, page=page, place=place, header=header)
        first = None
        group = list(islice(lines, ROWS_PER_BLOCK))
