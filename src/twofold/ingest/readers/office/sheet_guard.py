"""Judges a spreadsheet's XML before calamine sees it, which lays a sheet out whole and copies each string.

A file of a few hundred bytes can name the cells A1 and XFD1048576, repeat a cell a billion times, or refer to one
long shared string from a million cells. Here the rectangle and the copied characters are counted as the XML streams
by.
"""

import re
from xml.parsers import expat

from twofold.domain.errors import ReadError
from twofold.ingest.archive import Archive
from twofold.ingest.readers.types import Limits

MAX_CELLS = 8_000_000  # of one sheet's rectangle; 32 bytes each
_REFERENCE = re.compile(r"([A-Za-z]{1,6})([0-9]{1,9})")
_XML_START = (b"<", b"\xef\xbb\xbf<", b"\xff\xfe", b"\xfe\xff", b"\n", b"\r", b" ", b"\t")


def judge_workbook(archive: Archive, limits: Limits) -> None:
    """Raise ReadError: `limit` for a sheet too wide or strings copied too often, `malformed` for XML that is broken."""
    strings: list[int] = []
    parts = [name for name in archive.names if not name.casefold().endswith((".rels", ".vml", ".png", ".jpeg", ".jpg"))]
    for name in sorted(parts, key=lambda part: "sharedstrings" not in part.casefold()):
        data = archive.read(name)
        if data.startswith(_XML_START):
            _Count(archive.source, limits, strings).run(data)


class _Count:
    """Counts one part: a sheet's corners, its copied characters, or the lengths of the shared strings."""

    def __init__(self, source: str, limits: Limits, strings: list[int]) -> None:
        self._source = source
        self._limits = limits
        self._strings = strings
        self._rows = [1 << 40, 0]
        self._columns = [1 << 40, 0]
        self._row = self._column = 0
        self._shared = self._in_value = False
        self._text: list[str] = []
        self._copied = 0
        self._table = _Table()

    def run(self, data: bytes) -> None:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.StartDoctypeDeclHandler = self._doctype
        try:
            parser.Parse(data, True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise ReadError(f"{self._source}: its XML is broken.", "Restore it from a good copy.") from error

    def _doctype(self, *_: object) -> None:
        raise ReadError(f"{self._source}: it declares a document type.", "Save the file again in its own program.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if local == "row":
            self._row = _whole(attributes.get("r", ""), self._row + 1)
            self._column = 0
        elif local == "c":
            self._cell(attributes)
        elif local in ("v", "si"):
            self._text.clear()
        elif local.startswith("table"):
            self._table.start(local, {key.rpartition(" ")[2]: value for key, value in attributes.items()})
            self._text.clear()

    def _cell(self, attributes: dict[str, str]) -> None:
        self._shared = attributes.get("t") == "s"
        found = _REFERENCE.fullmatch(attributes.get("r", ""))
        self._column = _column_number(found[1]) if found else self._column + 1
        self._row = int(found[2]) if found else self._row
        for bounds, at in ((self._rows, self._row), (self._columns, self._column)):
            bounds[0], bounds[1] = min(bounds[0], at), max(bounds[1], at)
        self._check((self._rows[1] - self._rows[0] + 1) * (self._columns[1] - self._columns[0] + 1))

    def _end(self, name: str) -> None:
        local = name.rpartition(" ")[2]
        if local == "si":
            self._strings.append(sum(map(len, self._text)))
        elif local == "v" and self._shared:
            index = _whole("".join(self._text).strip(), -1)
            self._copied += self._strings[index] if 0 <= index < len(self._strings) else 0
            self._check(0)
        elif local in ("table-cell", "covered-table-cell", "table-row"):
            self._copied += self._table.end(local, sum(map(len, self._text)))
            self._check(self._table.cells)
        if local in ("v", "si"):
            self._text.clear()

    def _check(self, cells: int) -> None:
        if cells > MAX_CELLS:
            message = f"{self._source}: a sheet spans more than {MAX_CELLS:,} cells."
            raise ReadError(message, "Delete stray cells far from the data.", kind="limit")
        if self._copied > self._limits.unpacked_bytes:
            message = f"{self._source}: its repeated texts make more than {self._copied:,} characters."
            raise ReadError(message, "Split it, or leave it out with .twofoldignore.", kind="limit")


class _Table:
    """Counts an OpenDocument table, where a cell or a row may stand for many by `number-…-repeated`."""

    def __init__(self) -> None:
        self.cells = 0
        self._row = self._cell = 1
        self._width = self._pending = self._height = self._widest = 0
        self._characters = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Enter a table, a row or a cell."""
        if name == "table":
            self._height = self._widest = self.cells = 0
        elif name == "table-row":
            self._row = _whole(attributes.get("number-rows-repeated", ""), 1)
            self._width = self._pending = self._characters = 0
        elif name == "table-cell":
            self._cell = _whole(attributes.get("number-columns-repeated", ""), 1)

    def end(self, name: str, characters: int) -> int:
        """Leave a cell, or a row, and give how many characters the row copied. Empty ones at the end do not count."""
        if name != "table-row":
            self._pending += self._cell
            if characters:
                self._width = self._pending
                self._characters += characters * self._cell
            return 0
        if not self._width:
            return 0
        self._height += self._row
        self._widest = max(self._widest, self._width)
        self.cells = self._height * self._widest
        return self._characters * self._row


def _column_number(letters: str) -> int:
    """Return a column's number from 1: `A` is 1, `XFD` 16384."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def _whole(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else default  # noqa: PLR2004
