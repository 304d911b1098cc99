"""PDF by pdfium: the text of each page in reading order, and the way back from a place in it to rectangles on the page.

Offsets and rectangles come from one extraction: every character of a page's text carries the index that pdfium
knows it by (-1 for the blanks and line ends that join lines), so a span maps to characters and these to boxes. A
page's text is its blocks joined by blank lines. Lines that recur on most pages are left out of a document's text
(`pdf.running`). pdfium allows one thread at a time: several wait for each other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind, MetadataValue
from twofold.ingest.archive import encrypted
from twofold.ingest.readers.pdf.layout import Paragraph, heading_levels, paragraphs_of
from twofold.ingest.readers.pdf.lines import Line, PageText
from twofold.ingest.readers.pdf.pictures import no_text, read_pictures
from twofold.ingest.readers.pdf.running import NUMBER, running_lines
from twofold.ingest.readers.pdf.stacked import rows_of
from twofold.ingest.readers.types import Extract, Outline, Source, TextBuilder

MAX_PAGES = 50_000
_LONGEST_CAPTION = 200
_GAP = "\n\n"
_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?")
_FILE_NAME = re.compile(r"\.(?:docx?|pdf|indd|qxd|tex|dvi|xlsx?|pptx?|html?|rtf|odt|ps)$|^untitled", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]{2}")


def read_pdf(source: Source) -> Extract:
    """Read a PDF: blocks carry their page from 1; headings are recognized by font size and weight.

    Metadata: `author`, `subject`, `keywords`, `created` and `modified` (ISO), `pages`, and where pages are pictures
    `pages_recognized` and `pages_without_text`.
    Raises ReadError: `encrypted`, `no-text-layer` for scans, `empty`, `malformed`, and `limit` for more than 50,000
    pages or too much text.
    """
    with _opened(source) as document:
        count = len(document)
        if count > MAX_PAGES:
            raise ReadError(f"{source.name}: more than {MAX_PAGES:,} pages.", "Split it.", kind="limit")
        lines = _read_pages(source, document, count)
        heights = [document.get_page_size(number)[1] for number in range(count)]
        pictures = read_pictures(source, document, lines)
        if not any(lines):
            raise no_text(source, pictures)
        info = _information(document)
    builder = TextBuilder()
    running = running_lines(lines, heights)
    _drop(builder, lines, running)
    pages = [
        paragraphs_of([line for at, line in enumerate(found) if (number, at) not in running])
        for number, found in enumerate(lines)
    ]
    levels = heading_levels(pages)
    _write(builder, pages, levels)
    title = _title(info.pop("title", ""), pages, levels)
    metadata: dict[str, MetadataValue] = {**info, "pages": count, **pictures.counts()}
    return replace(builder.extract(title, metadata), words=pictures.words)


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    """Open a document and turn what pdfium says into ReadError."""
    import pypdfium2  # 45 ms: only who reads a PDF pays it
    from pypdfium2 import raw

    try:
        document = pypdfium2.PdfDocument(source.data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise encrypted(source) from error
        raise _malformed(source) from error
    with closing(document):
        try:
            yield document
        except pypdfium2.PdfiumError as error:
            raise _malformed(source) from error


@contextmanager
def _page(document: Any, index: int) -> Iterator[PageText]:  # noqa: ANN401 pypdfium2 has no types
    from pypdfium2 import raw

    with closing(document[index]) as page, closing(page.get_textpage()) as text:
        yield PageText(raw, text.raw)


def _read_pages(source: Source, document: Any, count: int) -> list[list[Line]]:  # noqa: ANN401
    """Read all pages. One that pdfium cannot load counts as one without text, unless no page can be loaded."""
    import pypdfium2

    pages: list[list[Line]] = []
    broken = characters = 0
    for index in range(count):
        try:
            with _page(document, index) as text:
                pages.append(rows_of(text))
        except pypdfium2.PdfiumError:
            broken += 1
            pages.append([])
        characters += sum(len(line.text) for line in pages[-1])
        if characters > source.limits.unpacked_bytes // 4:
            raise ReadError(f"{source.name}: more than {characters:,} characters.", "Split it.", kind="limit")
    if broken == count:
        raise _malformed(source)
    return pages


def _write(builder: TextBuilder, pages: Sequence[Sequence[Paragraph]], levels: dict[tuple[int, int], int]) -> None:
    outline = Outline()
    for number, parts in enumerate(pages):
        for index, part in enumerate(parts):
            level = levels.get((number, index))
            kind = part.kind if level is None else BlockKind.HEADING
            path = outline.path if level is None else outline.enter(level, part.text)
            if kind is BlockKind.TABLE:
                path += _caption(parts[index - 1] if index and (number, index - 1) not in levels else None)
            builder.add(kind, part.text, heading=path, page=number + 1, header=part.header)


def _drop(builder: TextBuilder, lines: Sequence[Sequence[Line]], running: Mapping[tuple[int, int], str]) -> None:
    """Note running lines; all numbers of pages are noted as one, by the first of them."""
    first_number = ""
    for (number, at), reason in sorted(running.items()):
        text = lines[number][at].text
        if reason == NUMBER:
            text = first_number = first_number or text
        builder.drop(text, reason, number + 1)


def _caption(before: Paragraph | None) -> tuple[str, ...]:
    """Return what introduces a table: the short paragraph right above it that is no sentence, or ends in a colon."""
    if before is None or before.kind is not BlockKind.PARAGRAPH or len(before.text) > _LONGEST_CAPTION:
        return ()
    text = before.text.strip()
    if text.endswith(":"):
        return (text.rstrip(": "),)
    names = len(_WORDS.findall(text)) > 1 and text[0].isupper() and not text.endswith((".", ";", ",", "!", "?"))
    return (text,) if names else ()


def _information(document: Any) -> dict[str, str]:  # noqa: ANN401
    info = document.get_metadata_dict(skip_empty=True)
    wanted = {"Title": "title", "Author": "author", "Subject": "subject", "Keywords": "keywords"}
    kept = {name: info[key] for key, name in wanted.items() if key in info}
    dates = {"CreationDate": "created", "ModDate": "modified"}
    return kept | {name: _iso_date(info[key]) for key, name in dates.items() if key in info}


def _iso_date(text: str) -> str:
    """Turn `D:20230127142859-05'00'` into `2023-01-27T14:28:59`, as far as it goes; "" when it is no date."""
    found = _DATE.match(text)
    if not found:
        return ""
    year, month, day, *clock = found.groups()
    date = "-".join(part for part in (year, month, day) if part)
    return f"{date}T{':'.join(clock)}" if all((month, day, *clock)) else date


def _title(named: str, pages: Sequence[Sequence[Paragraph]], levels: dict[tuple[int, int], int]) -> str:
    """Take the title that the file names unless it is a file's name or a number; else the first page's top heading."""
    if _WORDS.search(named) and not _FILE_NAME.search(named.strip()):
        return named
    first = next((number for number, parts in enumerate(pages) if parts), 0)
    headings = [(levels[number, index], index) for number, index in levels if number == first]
    return pages[first][min(headings)[1]].text if headings else ""


def _malformed(source: Source) -> ReadError:
    return ReadError(f"{source.name}: not a sound PDF.", "Restore it from a good copy.")
