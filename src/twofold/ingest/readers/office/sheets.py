"""Spreadsheets (XLSX, XLS, ODS) by calamine: a heading for each sheet, rows in groups that know their header row.

Rows keep the numbers that the spreadsheet shows. Blank rows part tables; a part that follows without a header of
its own keeps the one above it. Formulas count by their last result, dates are ISO, merged cells hold their text
once.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, time
from io import BytesIO
from typing import Any

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind, MetadataValue
from twofold.ingest.archive import OLE_SIGNATURE, encrypted, open_archive
from twofold.ingest.readers.office.ooxml import core_properties, refuse_encrypted
from twofold.ingest.readers.office.rows import ROWS_PER_BLOCK, render_row
from twofold.ingest.readers.office.sheet_guard import judge_workbook
from twofold.ingest.readers.types import Extract, Source, TextBuilder

Row = tuple[int, list[Any]]
"""A row's number, from 1, and its cells."""


def read_sheets(source: Source) -> Extract:
    """Read a spreadsheet. Places are such as `Sheet1 rows 2-21`; metadata as in Word files, and `sheets`, their number.

    Raises ReadError: `encrypted`, `limit` for a sheet of more than eight million cells, `malformed`. A damaged XLS can
    take much memory: run this under a limit, as all reading does.
    """
    metadata: dict[str, MetadataValue] = {}
    if source.data.startswith(OLE_SIGNATURE):
        refuse_encrypted(source)
    else:
        archive = open_archive(source)
        judge_workbook(archive, source.limits)
        metadata.update(core_properties(archive))
    builder = TextBuilder()
    count = 0
    for name, rows in _sheets(source):
        _add_sheet(builder, source, name, rows)
        count += 1
    return builder.extract(str(metadata.pop("title", "")), {**metadata, "sheets": count})


def _sheets(source: Source) -> Iterator[tuple[str, list[Row]]]:
    import python_calamine as calamine

    try:
        book = calamine.CalamineWorkbook.from_filelike(BytesIO(source.data))
        for sheet in book.sheets_metadata:
            if sheet.typ == calamine.SheetTypeEnum.WorkSheet:
                cells = book.get_sheet_by_name(sheet.name)
                yield sheet.name, [(number, row) for number, row in enumerate(cells.iter_rows(), 1)]
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


def _add_sheet(builder: TextBuilder, source: Source, name: str, rows: Sequence[Row]) -> None:
    tables = list(_tables(rows))
    if not tables:
        return
    builder.add(BlockKind.HEADING, name)
    header: Row = (0, [])
    for table in tables:
        header = _add_table(builder, name, table, header)
        if builder.length > source.limits.unpacked_bytes:
            raise ReadError(f"{source.name}: more text than {builder.length:,} characters.", "Split it.", kind="limit")


def _tables(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Cut a sheet at its blank rows."""
    table: list[Row] = []
    for number, row in rows:
        if any(cell != "" and cell is not None for cell in row):
            table.append((number, row))
        elif table:
            yield table
            table = []
    if table:
        yield table


def _add_table(builder: TextBuilder, name: str, table: Sequence[Row], above: Row) -> Row:
    """Write one table and give its header row: its own, or the one above where it goes on in as many columns."""
    widest = max(_filled(row) for _, row in table)
    while len(table) > 1 and _filled(table[0][1]) == 1 < widest:
        builder.add(BlockKind.PARAGRAPH, _line(table[0][1]), heading=(name,), place=f"{name} row {table[0][0]}")
        table = table[1:]
    has_own = len(table) > 1 and _is_header(table[0][1])
    goes_on = not has_own and _filled(table[0][1]) == _filled(above[1])
    named = table[0] if has_own else above if goes_on else (0, [])
    header = _line(named[1])
    body = table[1:] if has_own else table
    for start in range(0, len(body), ROWS_PER_BLOCK):
        group = body[start : start + ROWS_PER_BLOCK]
        lines = [header] if has_own and start == 0 else []
        lines += [_line(row) for _, row in group]
        place = f"{name} rows {group[0][0]}-{group[-1][0]}"
        builder.add(BlockKind.TABLE, "\n".join(lines), heading=(name,), place=place, header=header)
    return named


def _is_header(row: Sequence[Any]) -> bool:
    """Return whether a first row names columns: words only, but years or dates may stand next to a blank corner."""
    return row[0] in ("", None) or all(isinstance(cell, str) for cell in row)


def _filled(row: Sequence[Any]) -> int:
    return sum(cell != "" and cell is not None for cell in row)


def _line(row: Sequence[Any]) -> str:
    return render_row([_shown(cell) for cell in row]).lstrip(" |")


def _shown(cell: Any) -> str:  # noqa: ANN401 a cell holds anything
    """Write a cell as a person would: `2.0` is `2`, a date at midnight is a date, a truth value `true`."""
    match cell:
        case None:
            return ""
        case bool():
            return str(cell).lower()
        case float() if cell.is_integer() and abs(cell) < 1e15:  # noqa: PLR2004
            return f"{cell:.0f}"
        case float():
            return f"{cell:.12g}"
        case datetime() if cell.time() == time():
            return cell.date().isoformat()
        case _:
            return str(cell)
