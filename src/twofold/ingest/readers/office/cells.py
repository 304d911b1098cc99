"""Cells of a spreadsheet as people see them: merged ones, percentages, dates and numbers."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, time
from typing import Any, NamedTuple

from twofold.ingest.archive import Archive
from twofold.ingest.readers.xmltree import read_xml_if_there

Range = tuple[tuple[int, int], tuple[int, int]]
"""The first and the last cell of a range: row and column of each, from 0."""
Places = frozenset[tuple[int, int]]
"""Cells by row and column, both from 1."""

_PERCENT_FORMATS = frozenset({9, 10})  # those that every spreadsheet knows without naming them
_MAX_RANGES = 20_000
_LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_CELL = re.compile(rb"<(?:\w+:)?c\s([^>]*)>")
_PLACE = re.compile(rb'\br="([A-Z]{1,3})(\d{1,7})"')
_STYLE = re.compile(rb'\bs="(\d{1,6})"')


class Row(NamedTuple):
    """A row, or a part of it: its number and the column of its first cell, both from 1, and its cells."""

    number: int
    first: int
    cells: list[Any]

    @property
    def filled(self) -> list[Any]:
        """The cells that hold anything."""
        return [cell for cell in self.cells if is_filled(cell)]

    def part(self, start: int, stop: int) -> "Row":
        """Return some of its cells, counted from 0."""
        return Row(self.number, self.first + start, self.cells[start:stop])


class Sheet:
    """A sheet: its name and rows, and what of them stands around the plain values."""

    def __init__(self, name: str, rows: Sequence[Row], merged: Sequence[Range], percents: Places) -> None:
        self.name = name
        self.rows = rows
        self._percents = percents
        self._wide: dict[int, list[tuple[int, int]]] = {}
        for (top, first), (bottom, last) in merged[:_MAX_RANGES]:
            if last > first:
                self._wide.setdefault(top + 1, []).append((first + 1, last + 1))
            self._repeat(top, bottom, first + 1)

    def is_merged(self, row: Row) -> bool:
        """Return whether a row has a cell that spans columns."""
        return any(row.first <= first < row.first + len(row.cells) for first, _ in self._wide.get(row.number, ()))

    def shown(self, row: Row) -> list[str]:
        """Write a row's cells."""
        return [
            _percent(cell) if (row.number, column) in self._percents else _shown(cell)
            for column, cell in enumerate(row.cells, row.first)
        ]

    def spread(self, row: Row) -> list[str]:
        """Write a header row's cells, one that spans columns in each of them."""
        cells = self.shown(row)
        for first, last in self._wide.get(row.number, ()):
            start, stop = first - row.first, min(last - row.first + 1, len(cells))
            if 0 <= start < len(cells):
                cells[start:stop] = [cells[start]] * (stop - start)
        return cells

    def _repeat(self, top: int, bottom: int, column: int) -> None:
        """Write a cell that spans rows into each of them."""
        rows = self.rows[top : bottom + 1]  # they are numbered from 1 without gaps
        if not rows or not 0 <= column - rows[0].first < len(rows[0].cells):
            return
        for row in rows[1:]:
            if not is_filled(row.cells[column - row.first]):
                row.cells[column - row.first] = rows[0].cells[column - rows[0].first]


def is_filled(cell: object) -> bool:
    """Return whether a cell holds anything."""
    return cell not in ("", None)


def percent_cells(archive: Archive) -> Mapping[str, Places]:
    """Return the cells of an XLSX file that are shown as percentages, by the sheet's name."""
    styles = [
        element for element in read_xml_if_there(archive, "xl/styles.xml") if element.tag in ("numFmts", "cellXfs")
    ]
    named = {
        one.get("numFmtId", ""): one.get("formatCode", "")
        for group in styles
        if group.tag == "numFmts"
        for one in group
    }
    percent = {
        str(number).encode()
        for group in styles
        if group.tag == "cellXfs"
        for number, one in enumerate(group)
        if _is_percent(one.get("numFmtId", ""), named)
    }
    if not percent:
        return {}
    return {name: _places(archive.read(part), percent) for name, part in _parts(archive) if part in archive.names}


def _is_percent(number: str, named: Mapping[str, str]) -> bool:
    if number in named:
        return "%" in _LITERAL.sub("", named[number].partition(";")[0])
    return number.isdigit() and int(number[:6]) in _PERCENT_FORMATS


def _parts(archive: Archive) -> Sequence[tuple[str, str]]:
    """Return the sheets' names, and the parts of the archive that hold them."""
    links = {
        one.get("Id", ""): one.get("Target", "") for one in read_xml_if_there(archive, "xl/_rels/workbook.xml.rels")
    }
    found = []
    for sheet in read_xml_if_there(archive, "xl/workbook.xml").iter("sheet"):
        target = links.get(sheet.get("r:id", ""), "")
        part = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
        found.append((sheet.get("name", ""), part))
    return found


def _places(data: bytes, styles: set[bytes]) -> Places:
    places = set()
    for cell in _CELL.finditer(data):
        style, place = _STYLE.search(cell[1]), _PLACE.search(cell[1])
        if style and place and style[1] in styles:
            places.add((int(place[2]), _column(place[1])))
    return frozenset(places)


def _column(letters: bytes) -> int:
    """Return a column's number from 1."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _percent(cell: Any) -> str:  # noqa: ANN401 a cell holds anything
    """Write a share of one as a percentage: `.123` is `12.3%`."""
    return f"{round(cell * 100, 10):.12g}%" if isinstance(cell, int | float) else _shown(cell)


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
