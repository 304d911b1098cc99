"""Spreadsheets (XLSX, XLS, ODS) by calamine: a heading for each sheet, rows in groups that know their header row.

Rows keep the numbers that the spreadsheet shows. Blank rows part tables, and so do blank columns between two that are
tables by themselves; a part that follows without a header of its own keeps the one above it. Header rows under merged
cells are one, and a single filled row above a table is its caption. Formulas count by their last result, dates are ISO,
percentages are shown as such, and a cell merged over rows is repeated in each.
"""

from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind, MetadataValue
from twofold.ingest.archive import OLE_SIGNATURE, Archive, encrypted, open_archive
from twofold.ingest.readers.office.cells import Row, Sheet, is_filled, percent_cells
from twofold.ingest.readers.office.grid import one_header
from twofold.ingest.readers.office.ooxml import core_properties, refuse_encrypted
from twofold.ingest.readers.office.rows import ROWS_PER_BLOCK, render_row
from twofold.ingest.readers.office.sheet_guard import judge_workbook
from twofold.ingest.readers.types import Extract, Source, TextBuilder

_MAX_HEADERS = 4


def read_sheets(source: Source) -> Extract:
    """Read a spreadsheet. Places are such as `Sheet1 rows 2-21`; metadata as in Word files, and `sheets`, their number.

    Raises ReadError: `encrypted`, `limit` for a sheet of more than eight million cells, `malformed`. A damaged XLS can
    take much memory: run this under a limit, as all reading does.
    """
    metadata: dict[str, MetadataValue] = {}
    archive: Archive | None = None
    if source.data.startswith(OLE_SIGNATURE):
        refuse_encrypted(source)
    else:
        archive = open_archive(source)
        judge_workbook(archive, source.limits)
        metadata.update(core_properties(archive))
    builder = TextBuilder()
    count = 0
    for sheet in _sheets(source, archive):
        _add_sheet(builder, source, sheet)
        count += 1
    return builder.extract(str(metadata.pop("title", "")), {**metadata, "sheets": count})


def _sheets(source: Source, archive: Archive | None) -> Iterator[Sheet]:
    import python_calamine as calamine

    try:
        book = calamine.CalamineWorkbook.from_filelike(BytesIO(source.data))
        percents = percent_cells(archive) if archive is not None else {}
        for sheet in book.sheets_metadata:
            if sheet.typ == calamine.SheetTypeEnum.WorkSheet:
                cells = book.get_sheet_by_name(sheet.name)
                first = cells.start[1] + 1 if cells.start else 1
                rows = [Row(number, first, list(row)) for number, row in enumerate(cells.iter_rows(), 1)]
                merged = cells.merged_cell_ranges or ()
                yield Sheet(sheet.name, rows, merged, percents.get(sheet.name, frozenset()))
    except calamine.PasswordError as error:
        raise encrypted(source) from error
    except (calamine.CalamineError, OSError, ValueError, OverflowError) as error:
        raise _malformed(source) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what Rust code gives up with; no class of it can be imported
            raise
        raise _malformed(source) from error


def _malformed(source: Source) -> ReadError:
    return ReadError(f"{source.name}: not a sound spreadsheet.", "Restore it from a good copy, or save it as XLSX.")


def _add_sheet(builder: TextBuilder, source: Source, sheet: Sheet) -> None:
    tables = [part for table in _tables(sheet.rows) for part in _side_by_side(table)]
    if not tables:
        return
    builder.add(BlockKind.HEADING, sheet.name)
    above = _Named((), "")
    for table in tables:
        above = _add_table(builder, sheet, table, above)
        if builder.length > source.limits.unpacked_bytes:
            raise ReadError(f"{source.name}: more text than {builder.length:,} characters.", "Split it.", kind="limit")


def _tables(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Cut a sheet at its blank rows."""
    for has_cells, group in groupby(rows, key=lambda row: bool(row.filled)):
        if has_cells:
            yield list(group)


def _side_by_side(table: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Cut a table at its blank columns where each part is a table of its own: two columns or more, words above all.

    A blank column that only sets figures apart from their labels, as reports have, parts nothing.
    """
    width = max(len(row.cells) for row in table)
    filled = [any(is_filled(row.cells[at]) for row in table if at < len(row.cells)) for at in range(width)]
    spans = [(is_part, len(list(group))) for is_part, group in groupby(filled)]
    starts = accumulate((length for _, length in spans), initial=0)
    parts = [(start, start + length) for start, (is_part, length) in zip(starts, spans, strict=False) if is_part]
    cut = [[part for row in table if (part := row.part(*span)).filled] for span in parts]
    if len(parts) > 1 and all(stop - first > 1 for first, stop in parts) and all(map(_is_whole, cut)):
        yield from cut
    else:
        yield table


def _is_whole(table: Sequence[Row]) -> bool:
    """Return whether rows are a table by themselves: their labels are words, and so is their first full row."""
    labels = [row.cells[0] for row in table if is_filled(row.cells[0])]
    widest = max(len(row.filled) for row in table)
    first = next(row for row in table if len(row.filled) * 2 > widest)
    return len(table) > 1 and all(isinstance(cell, str) for cell in (*labels, *first.filled))


class _Named(NamedTuple):
    """What names the columns of a table: its header row's cells, and its caption."""

    cells: tuple[str, ...]
    caption: str


def _add_table(builder: TextBuilder, sheet: Sheet, table: Sequence[Row], above: _Named) -> _Named:
    """Write one table and give its header: its own, or the one above where it goes on in as many columns."""
    widest = max(len(row.filled) for row in table)
    captions: list[str] = []
    while len(table) > 1 and len(table[0].filled) == 1 < widest:
        text = _line(sheet.shown(table[0]))
        builder.add(BlockKind.PARAGRAPH, text, heading=(sheet.name,), place=f"{sheet.name} row {table[0].number}")
        captions.append(text)
        table = table[1:]
    count = _header_rows(sheet, table)
    goes_on = not count and len(table[0].filled) == len([cell for cell in above.cells if cell])
    if count:
        named = _Named(tuple(one_header([sheet.spread(row) for row in table[:count]])), " ".join(captions))
    elif goes_on:
        named = above if not captions else above._replace(caption=" ".join(captions))
    else:
        named = _Named((), " ".join(captions))
    header, body = _line(named.cells), table[count:]
    heading = (sheet.name, *filter(None, (named.caption,)))
    for start in range(0, len(body), ROWS_PER_BLOCK):
        group = body[start : start + ROWS_PER_BLOCK]
        lines = [header] if count and start == 0 else []
        lines += [_line(sheet.shown(row)) for row in group]
        place = f"{sheet.name} rows {group[0].number}-{group[-1].number}"
        builder.add(BlockKind.TABLE, "\n".join(lines), heading=heading, place=place, header=header)
    return named


def _header_rows(sheet: Sheet, table: Sequence[Row]) -> int:
    """Count a table's header rows: one that names columns, and the next ones while merged cells stand over columns."""
    if len(table) < 2 or not _is_header(table[0].cells):  # noqa: PLR2004  # a header and a row
        return 0
    count = 1
    while (
        count < min(_MAX_HEADERS, len(table) - 1)
        and sheet.is_merged(table[count - 1])
        and len(table[count].filled) > 1
        and _is_header(table[count].cells)
    ):
        count += 1
    return count


def _is_header(row: Sequence[Any]) -> bool:
    """Return whether a first row names columns: words only, but years or dates may stand next to a blank corner."""
    return row[0] in ("", None) or all(isinstance(cell, str) for cell in row)


def _line(cells: Sequence[str]) -> str:
    return render_row(cells).lstrip(" |")
