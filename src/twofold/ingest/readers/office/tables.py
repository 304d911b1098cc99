"""Tables in text files (CSV, TSV): the delimiter is found out, and every group of rows knows the header row."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import chain, islice

from twofold.domain.errors import ReadError
from twofold.ingest.decode import decode
from twofold.ingest.readers.office.rows import add_rows
from twofold.ingest.readers.types import Extract, Source, TextBuilder, clean

_DELIMITERS = ",;\t|"
_SAMPLE_CHARACTERS = 65_536
_SAMPLE_ROWS = 50
_NUMBER = re.compile(r"[-+]?[$€£]?[\d.,' ]*\d[%]?|\d{4}-\d\d-\d\d.*")


def read_csv(source: Source) -> Extract:
    """Read a table whose delimiter is a comma, a semicolon, a tab or a bar, whichever fits best."""
    return _read_table(source, _DELIMITERS)


def read_tsv(source: Source) -> Extract:
    """Read a table delimited by tabs, or without tabs by what fits."""
    return _read_table(source, "\t" if b"\t" in source.data[:_SAMPLE_CHARACTERS] else _DELIMITERS)


def _read_table(source: Source, delimiters: str) -> Extract:
    decoded = decode(source.data)
    text = clean(decoded.text)
    delimiter = find_delimiter(text[:_SAMPLE_CHARACTERS], delimiters)
    rows = _rows(text, delimiter)
    head = list(islice(rows, 2))
    builder = TextBuilder()
    has_header = len(head) > 1 and looks_like_header(head[0])
    add_rows(builder, chain(head, rows), has_header=has_header, numbered=True)
    return builder.extract("", decoded.metadata)


def find_delimiter(sample: str, delimiters: str = _DELIMITERS) -> str:
    r"""Choose the delimiter that gives most rows the same number of columns, the earlier one on a tie.

    `find_delimiter("a;b,c\n1;2\n")` is `;`.
    """
    return max(delimiters, key=lambda delimiter: _evenness(sample, delimiter))


def looks_like_header(row: Sequence[str]) -> bool:
    """Return whether a first row names columns: mostly filled, and no cell of it is a number or a date."""
    filled = [cell.strip() for cell in row if cell.strip()]
    return len(filled) * 2 > len(row) and not any(_NUMBER.fullmatch(cell) for cell in filled if len(cell) < 64)  # noqa: PLR2004 no number is longer


def _evenness(sample: str, delimiter: str) -> tuple[float, int]:
    """Rate a delimiter: the share of rows with the most frequent number of columns, then that number."""
    try:
        widths = Counter(len(row) for row in islice(_parse(sample, delimiter), _SAMPLE_ROWS) if row)
    except csv.Error:
        return 0.0, 0
    if not widths:
        return 0.0, 0
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
    return (count / widths.total() if width > 1 else 0.0), width


def _rows(text: str, delimiter: str) -> Iterator[Sequence[str]]:
    """Parse; a stray quotation mark that would swallow the rest of the file is taken as a plain character."""
    try:
        yield from _parse(text, delimiter, with_quotes=not _has_stray_quote(text, delimiter))
    except csv.Error as error:
        raise ReadError(f"the table cannot be parsed: {error}", "Export it again as UTF-8 CSV.") from error


def _has_stray_quote(text: str, delimiter: str) -> bool:
    if '"' not in text:
        return False
    try:
        # Strict parsing notices a quoted cell that is never closed; a cell over the length limit is one as well.
        for _ in csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True):
            pass
    except csv.Error as error:
        return "unexpected end" in str(error) or "field larger" in str(error)
    return False


def _parse(text: str, delimiter: str, *, with_quotes: bool = True) -> Iterable[Sequence[str]]:
    lines = StringIO(text, newline="")
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if with_quotes else csv.QUOTE_NONE)
