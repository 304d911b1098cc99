"""Small documents made in code: what tests of readers read. Every maker gives the file's bytes."""

import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO

import docx
import pptx
import xlsxwriter
from pptx.util import Inches

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_WORD = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


@dataclass(frozen=True)
class Words:
    """Words on a PDF page: the lower left corner in points, the size, and whether they are bold."""

    x: float
    y: float
    text: str
    size: float = 12
    bold: bool = False


def zip_of(parts: Mapping[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return packed.getvalue()


def parts_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def repacked(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """Pack an archive anew with each part changed."""
    return zip_of({name: change(name, part) for name, part in parts_of(data).items()})


def pdf_of(
    pages: Sequence[Sequence[Words]], extra: str = "", info: str = "", trailer: str = "", matrix: str = ""
) -> bytes:
    """A PDF whose pages hold words in Helvetica. `extra` goes into each page's dictionary; `matrix` turns its words."""
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(pages)}/Kids[{' '.join(f'{6 + 2 * at} 0 R' for at in range(len(pages)))}]>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>",
        f"<<{info}>>",
    ]
    for at, words in enumerate(pages):
        drawn = "\n".join([f"{matrix} cm" if matrix else "", *(_drawn(one) for one in words)])
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {7 + 2 * at} 0 R"
            f"/Resources<</Font<</R 3 0 R/B 4 0 R>>>>{extra}>>"
        )
        objects.append(f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream")
    return assembled([one.encode("cp1252") for one in objects], f"/Info 5 0 R{trailer}")


def assembled(objects: Sequence[bytes], trailer: str = "") -> bytes:
    """Number PDF objects from 1 and write the table of where they stand."""
    data = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj%b endobj\n" % (number, body)
    table = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    data += f"trailer<</Size {len(objects) + 1}/Root 1 0 R{trailer}>>\nstartxref\n{table}\n%%EOF".encode()
    return bytes(data)


def _drawn(words: Words) -> str:
    text = words.text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /{'B' if words.bold else 'R'} {words.size} Tf {words.x} {words.y} Td ({text}) Tj ET"


def scan_pdf() -> bytes:
    """A page that is one picture."""
    pixels = zlib.compress(b"\x80" * 64)
    drawn = b"q 612 0 0 792 0 0 cm /I Do Q"
    picture = (
        b"<</Type/XObject/Subtype/Image/Width 8/Height 8/BitsPerComponent 8/ColorSpace/DeviceGray/Filter/FlateDecode"
    )
    return assembled(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>",
            b"<</Length %d>>stream\n%b\nendstream" % (len(drawn), drawn),
            b"%b/Length %d>>stream\n%b\nendstream" % (picture, len(pixels), pixels),
        ]
    )


def word_of(body: str, namespace: str = WORD, parts: Mapping[str, str] | None = None) -> bytes:
    """A Word file with this XML as its body; `w:` and `m:` are bound. `parts` are further parts by kind of relation."""
    further = parts or {}
    relations = "".join(
        f'<Relationship Id="r{at}" Type="{_OFFICE}/{kind}" Target="{kind}.xml"/>' for at, kind in enumerate(further)
    )
    return zip_of(
        {
            "[Content_Types].xml": _TYPES,
            "_rels/.rels": _relations(
                f'<Relationship Id="d" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
            ),
            "word/_rels/document.xml.rels": _relations(relations),
            "word/document.xml": word_xml("document", f"<w:body>{body}</w:body>", namespace),
            **{f"word/{kind}.xml": xml for kind, xml in further.items()},
        }
    )


def word_xml(root: str, inside: str, namespace: str = WORD) -> str:
    names = (
        f'xmlns:w="{namespace}" xmlns:r="{_OFFICE}"'
        ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
        ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    )
    return f'<?xml version="1.0" encoding="UTF-8"?><w:{root} {names}>{inside}</w:{root}>'


def _relations(inside: str) -> str:
    return f'<Relationships xmlns="{_RELATIONS}">{inside}</Relationships>'


def paragraph(text: str, properties: str = "") -> str:
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def docx_sample() -> bytes:
    """Made by python-docx: two headings, a list, a table, properties."""
    document = docx.Document()
    document.core_properties.title = "The annual report"
    document.core_properties.author = "Ada Writer"
    document.add_heading("Results", 1)
    document.add_paragraph("Sales rose in all regions.")
    document.add_heading("Europe", 2)
    for city in ("Bern", "Ulm"):
        document.add_paragraph(city, style="List Bullet")
    table = document.add_table(0, 2)
    for row in (("City", "Sales"), ("Bern", "12"), ("Ulm", "7")):
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    return _saved(document)


def pptx_sample() -> bytes:
    """Made by python-pptx: a title with bullets and notes, then a table and a group without a title."""
    show = pptx.Presentation()
    show.core_properties.author = "Ada Writer"
    first = show.slides.add_slide(show.slide_layouts[1])
    first.shapes.title.text = "Why it matters"
    first.placeholders[1].text = "Speed\nQuality"
    first.notes_slide.notes_text_frame.text = "Pause here."
    second = show.slides.add_slide(show.slide_layouts[6])
    cells = second.shapes.add_table(2, 2, 0, 0, Inches(4), Inches(1)).table
    for at, text in enumerate(("Year", "Sum", "2024", "9")):
        cells.cell(at // 2, at % 2).text = text
    group = second.shapes.add_group_shape().shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "Deep inside"
    return _saved(show)


def _saved(document: "docx.document.Document | pptx.presentation.Presentation") -> bytes:
    packed = BytesIO()
    document.save(packed)
    return packed.getvalue()


def xlsx_of(sheets: Mapping[str, Mapping[str, object]], date_format: str = "yyyy-mm-dd") -> bytes:
    """Sheets by name, each with its cells by address such as `B2`."""
    packed = BytesIO()
    with xlsxwriter.Workbook(packed, {"in_memory": True, "default_date_format": date_format}) as book:
        for name, cells in sheets.items():
            sheet = book.add_worksheet(name)
            for address, value in cells.items():
                sheet.write(address, value)
    return packed.getvalue()


def xlsx_with(sheet: str, strings: str = "") -> bytes:
    """A workbook of one sheet, `S`, with this XML inside its `sheetData`, and shared strings."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    book = f'<workbook {main} xmlns:r="{_OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>'
    return zip_of(
        {
            "[Content_Types].xml": _TYPES,
            "_rels/.rels": _relations(
                f'<Relationship Id="d" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
            ),
            "xl/_rels/workbook.xml.rels": _relations(
                f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
                f'<Relationship Id="r2" Type="{_OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
            ),
            "xl/workbook.xml": book,
            "xl/worksheets/sheet1.xml": f"<worksheet {main}><sheetData>{sheet}</sheetData></worksheet>",
            "xl/sharedStrings.xml": f"<sst {main}>{strings}</sst>",
        }
    )


def open_document_of(kind: str, body: str, meta: str = "", styles: str = "") -> bytes:
    """An OpenDocument file: `kind` is text, spreadsheet or presentation; `text:`, `table:`, `draw:`, … are bound."""
    names = " ".join(
        f'xmlns:{name}="{_ODF}:{name}:1.0"'
        for name in ("office", "text", "table", "draw", "style", "meta", "presentation")
    )
    names += ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
    return zip_of(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {names}>"
            f"<office:automatic-styles>{styles}</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
            "meta.xml": f"<office:document-meta {names}><office:meta>{meta}</office:meta></office:document-meta>",
            "META-INF/manifest.xml": '<manifest xmlns="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        }
    )


def odt_sample() -> bytes:
    return open_document_of(
        "text",
        '<text:h text:outline-level="1">Gardens</text:h><text:p>Roses<text:s text:c="2"/>and<text:tab/>thyme.</text:p>'
        "<text:list><text:list-item><text:p>first</text:p><text:list><text:list-item><text:p>inner</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Plant</text:p></table:table-cell>"
        "<table:table-cell><text:p>Height</text:p></table:table-cell></table:table-row></table:table-header-rows>"
        '<table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>5</text:p></table:table-cell>'
        "</table:table-row></table:table>",
        "<dc:title>Plants</dc:title><meta:initial-creator>Ada</meta:initial-creator>",
    )


def epub_of(chapters: Mapping[str, str], contents: str = "") -> bytes:
    """A book with chapters by file name, as XHTML bodies; `contents` is the body of its table of contents."""
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{}</body></html>'
    items = "".join(
        f'<item id="c{at}" href="{name}" media-type="application/xhtml+xml"/>' for at, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>Short poems</dc:title><dc:creator>Ada Poet</dc:creator></metadata>"
        f'<manifest>{items}<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        "</manifest>"
        f"<spine>{order}</spine></package>"
    )
    return zip_of(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": package,
            "OPS/nav.xhtml": page.format(f"<nav>{contents}</nav>"),
            **{f"OPS/{name}": page.format(body) for name, body in chapters.items()},
        }
    )


def epub_sample() -> bytes:
    return epub_of(
        {"b.xhtml": "<h1>Dawn</h1><p>The cold night ends.</p>", "a.xhtml": "<p>Rain again.</p>"},
        '<a href="b.xhtml">Dawn</a><a href="a.xhtml#x">Rain</a>',
    )


RTF_SAMPLE = (
    rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 A;}{\f1\fcharset204 B;}}{\stylesheet{\s1\b heading 1;}}"
    rb"{\info{\title Gr\'fc\'dfe}{\author Ada}}\pard\s1 First\par\pard"
    rb" Price: \u8364?5, \u-10179?\u-8704? {\f1\'cf\'f0}.\par"
    rb"{\listtext 1.\tab}one\par{\listtext\'b7\tab}two\par"
    rb"\trowd\intbl A\cell B\cell\row\trowd\intbl 1\cell 2\par 3\cell\row\pard"
    rb"{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}{\pict 0011}{\*\unknown zz}\par}"
)
