"""Manual pages: sections as headings, options as entries of lists, examples as code; other files are never read.

A reader of our own: pages are read where neither man nor groff is, in a process that starts no program, and what these
print has lost which lines are an option, its text or an example.
"""

import re

from twofold.ingest.decode import decode
from twofold.ingest.readers.roff.escapes import plain
from twofold.ingest.readers.roff.lines import Lines
from twofold.ingest.readers.roff.man import ManMacros
from twofold.ingest.readers.roff.mdoc import MDOC, MdocMacros
from twofold.ingest.readers.roff.page import ManualPage
from twofold.ingest.readers.types import Extract, Source, clean

_OPTION_TAB = re.compile(r"tab\s*\((.)\)")
_HEADED = re.compile(r"[bB]|f[B3]")
_SKIPPED = {"PS": "PE", "EQ": "EN"}


def read_man(source: Source) -> Extract:
    """Read a manual page. Its title is its name and section, `ls(1)`, with what it is about; `section` is a field.

    Raises ReadError: `limit` for macros that expand to too much.
    """
    page = ManualPage()
    lines = Lines(clean(decode(source.data).text))
    man, mdoc = ManMacros(page), MdocMacros(page)
    is_mdoc = False
    for call in lines:
        is_mdoc = is_mdoc or call.macro == "Dd"
        if call.macro == "TS":
            _table(lines, page)
        elif call.macro in _SKIPPED:
            _skip(lines, _SKIPPED[call.macro])
        elif is_mdoc and (call.macro in MDOC or not call.macro):
            mdoc.take(call)
        else:
            man.take(call)
    return page.extract()


def _skip(lines: Lines, end: str) -> None:
    while (line := lines.raw()) is not None and not line.startswith(f".{end}"):
        pass


def _table(lines: Lines, page: ManualPage) -> None:
    """Read a table of tbl: options, formats up to a full stop, rows with cells parted by tabs, blocks of text."""
    parting, formats, rows = "\t", "", list[list[str]]()
    has_format = has_rule = False
    while (line := lines.raw()) is not None and not line.startswith(".TE"):
        bare = line.strip()
        if not has_format:
            found = _OPTION_TAB.search(line)
            parting = found[1] if found and bare.endswith(";") else parting
            formats += "" if bare.endswith(";") else f"{bare}\n"
            has_format = bare.endswith(".")
        elif line.startswith(".T&"):
            has_format = False
        elif bare in ("_", "="):
            has_rule = has_rule or len(rows) == 1
        elif not line.startswith((".", "'")) and bare:
            rows.append(_cells(line, lines, parting))
    first = formats.partition("\n")[0].split(",")[0]
    page.table(rows, has_header=len(rows) > 1 and (has_rule or bool(_HEADED.search(first))))


def _cells(line: str, lines: Lines, parting: str) -> list[str]:
    cells = ["" if cell.strip() == "\\^" else plain(cell).strip() for cell in line.split(parting)]
    while cells[-1:] == ["T{"]:
        held: list[str] = []
        after = ""
        while (inner := lines.raw()) is not None:
            if inner.startswith("T}"):
                after = inner[2:]
                break
            held.append(plain(re.sub(r"^[.'][ \t]*\w+[ \t]*", "", inner) if inner[:1] in (".", "'") else inner))
        cells[-1] = " ".join(held)
        cells.extend(plain(cell).strip() for cell in after.removeprefix(parting).split(parting) if after)
    return cells
