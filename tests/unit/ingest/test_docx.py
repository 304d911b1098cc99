"""Word files: headings, lists with their numbers, tables, boxes, notes and equations, in both of Office's dialects."""

import pytest

from support.documents import STRICT_WORD, WORD, docx_sample, paragraph, parts_of, repacked, word_of, word_xml, zip_of
from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind
from twofold.ingest.archive import OLE_SIGNATURE
from twofold.ingest.readers.office.docx import read_docx
from twofold.ingest.readers.types import Extract, Source

STYLES = word_xml(
    "styles",
    '<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>'
    '<w:style w:styleId="Own"><w:name w:val="My heading"/><w:basedOn w:val="berschrift2"/></w:style>'
    '<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="Ring"><w:name w:val="Ring"/><w:basedOn w:val="Ring"/></w:style>',
)
NUMBERS = word_xml(
    "numbering",
    '<w:abstractNum w:abstractNumId="0">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>'
    '</w:abstractNum><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>'
    '</w:abstractNum><w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:start w:val="4"/>'
    '<w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/>'
    '</w:lvlOverride></w:num><w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num>',
)


def read(data: bytes) -> Extract:
    return read_docx(Source("file.docx", data))


def texts(extract: Extract) -> list[str]:
    return [extract.text[block.start : block.end] for block in extract.blocks]


def item(text: str, number: int, level: int = 0) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def styled(text: str, style: str) -> str:
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


def kind_of_refusal(data: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        read(data)
    assert caught.value.message.startswith("file.docx: ")
    return caught.value.kind


def test_a_file_of_python_docx_is_read_whole() -> None:
    extract = read(docx_sample())

    assert [(block.kind, block.heading) for block in extract.blocks] == [
        (BlockKind.HEADING, ()),
        (BlockKind.PARAGRAPH, ("Results",)),
        (BlockKind.HEADING, ("Results",)),
        (BlockKind.LIST, ("Results", "Europe")),
        (BlockKind.TABLE, ("Results", "Europe")),
    ]
    assert texts(extract)[1:] == [
        "Sales rose in all regions.",
        "Europe",
        "- Bern\n- Ulm",
        "City | Sales\nBern | 12\nUlm | 7",
    ]
    assert extract.blocks[4].header == "City | Sales"
    assert extract.title == "The annual report"
    assert extract.metadata["author"] == "Ada Writer"


def test_headings_are_told_by_style_name_inheritance_and_outline_level() -> None:
    body = (
        styled("Title", "T")
        + styled("By name", "berschrift2")
        + styled("By base", "Own")
        + paragraph("By level", '<w:outlineLvl w:val="2"/>')
        + styled("Text", "Ring")
    )
    extract = read(word_of(body, parts={"styles": STYLES}))

    assert [block.heading for block in extract.blocks] == [
        (),
        ("Title",),
        ("Title",),
        ("Title", "By base"),
        ("Title", "By base", "By level"),
    ]
    assert extract.title == "Title"


def test_numbers_are_counted_as_word_counts_them() -> None:
    body = (
        item("a", 1) + item("b", 1, 1) + item("c", 1, 1) + item("d", 1) + item("e", 1, 1)
        + item("dot", 2) + item("restarted", 3) + item("on", 3) + item("four", 4) + item("five", 4)
    )  # fmt: skip
    extract = read(word_of(body, parts={"numbering": NUMBERS}))

    assert extract.text.split("\n") == [
        "1. a", "  1.a) b", "  1.b) c", "2. d", "  2.a) e", "- dot", "7. restarted", "8. on", "IV four", "V five",
    ]  # fmt: skip


def test_a_heading_shows_its_number() -> None:
    properties = '<w:outlineLvl w:val="0"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    extract = read(word_of(paragraph("Scope", properties) + paragraph("Text."), parts={"numbering": NUMBERS}))

    assert extract.blocks[1].heading == ("1. Scope",)


def test_the_strict_dialect_reads_the_same() -> None:
    body = styled("Head", "berschrift2") + paragraph("Text.")

    def made(namespace: str) -> Extract:
        return read(word_of(body, namespace, {"styles": STYLES.replace(WORD, namespace)}))

    assert made(STRICT_WORD) == made(WORD)
    assert made(WORD).blocks[1].heading == ("Head",)


def test_text_is_read_as_it_is_shown() -> None:
    body = (
        "<w:p><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t><w:noBreakHyphen/></w:r>"
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:r><w:instrText>HYPERLINK</w:instrText></w:r><w:hyperlink><w:r><w:t> link</w:t></w:r></w:hyperlink>"
        "<w:sdt><w:sdtPr><w:alias/></w:sdtPr><w:sdtContent><w:r><w:t> field</w:t></w:r></w:sdtContent></w:sdt></w:p>"
    )

    assert read(word_of(body)).text == "one\ttwo\nthree-new link field"


def test_a_text_box_follows_its_paragraph_and_counts_once() -> None:
    box = f"<w:txbxContent>{paragraph('In the box')}</w:txbxContent>"
    body = (
        "<w:p><w:r><w:t>Beside</w:t></w:r><w:r><mc:AlternateContent><mc:Choice><w:drawing>"
        f"{box}</w:drawing></mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )

    assert texts(read(word_of(body))) == ["Beside", "In the box"]


def test_notes_follow_the_paragraph_that_names_them() -> None:
    notes = word_xml(
        "footnotes",
        f'<w:footnote w:id="0" w:type="separator">{paragraph("line")}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph("The note.")}</w:footnote>',
    )
    body = '<w:p><w:r><w:t>Text</w:t><w:footnoteReference w:id="2"/></w:r></w:p>' + paragraph("After.")

    assert texts(read(word_of(body, parts={"footnotes": notes}))) == ["Text", "The note.", "After."]


def test_equations_are_written_on_one_line() -> None:
    body = (
        "<w:p><w:r><w:t>Area: </w:t></w:r><m:oMath><m:r><m:t>A=</m:t></m:r><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num>"
        "<m:den><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:den></m:f>"
        "<m:rad><m:deg/><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad></m:oMath></w:p>"
    )

    assert read(word_of(body)).text == "Area: A=(a)/(r^2)√(x)"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


WIDE, TALL, HIDDEN = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"


def test_merged_cells_keep_their_text_in_every_row_and_over_every_column() -> None:
    cells = (
        cell("wide", WIDE) + cell("c"),
        cell("tall", TALL) + cell("x") + cell("y"),
        cell("hidden", HIDDEN) + cell("p") + cell("q"),
    )
    rows = [f"<w:tr>{row}</w:tr>" for row in cells]
    extract = read(word_of(f"<w:tbl>{''.join(rows)}</w:tbl>"))

    assert extract.text == "wide | wide | c\ntall | x | y\ntall | p | q"


def test_a_table_of_one_cell_is_a_frame_around_text() -> None:
    extract = read(word_of(f"<w:tbl><w:tr>{cell('Framed.')}</w:tr></w:tbl>"))

    assert [block.kind for block in extract.blocks] == [BlockKind.PARAGRAPH]


def test_a_nested_table_stays_inside_its_cell() -> None:
    inner = f"<w:tc>{paragraph('out')}<w:tbl><w:tr>{cell('in')}{cell('side')}</w:tr></w:tbl></w:tc>"

    assert read(word_of(f"<w:tbl><w:tr>{cell('left')}{inner}</w:tr></w:tbl>")).text == "left | out in side"


def test_files_that_are_none_are_refused_with_their_kind() -> None:
    locked = OLE_SIGNATURE + b"\0" * 500 + "EncryptedPackage".encode("utf-16-le")

    assert kind_of_refusal(locked) == "encrypted"
    assert kind_of_refusal(OLE_SIGNATURE + b"\0" * 500) == "unsupported"
    assert kind_of_refusal(zip_of({"a.txt": b"no office"})) == "malformed"
    assert kind_of_refusal(b"") == "malformed"


def test_every_span_is_exact_and_nothing_of_the_text_lies_outside() -> None:
    extract = read(docx_sample())

    assert "\n\n".join(texts(extract)) == extract.text


def test_xml_nested_beyond_all_reason_is_refused() -> None:
    deep = "<w:sdt><w:sdtContent>" * 200 + paragraph("x") + "</w:sdtContent></w:sdt>" * 200

    assert kind_of_refusal(word_of(deep)) == "limit"
    assert read(word_of("<w:sdt>" * 200 + paragraph("x") + "</w:sdt>" * 200)).text == "x"


def test_a_missing_helper_part_is_borne_and_a_missing_body_is_not() -> None:
    parts = parts_of(docx_sample())
    without_styles = {name: data for name, data in parts.items() if "styles" not in name}
    without_body = {name: data for name, data in parts.items() if name != "word/document.xml"}

    assert "Sales rose" in read(zip_of(without_styles)).text
    assert kind_of_refusal(zip_of(without_body)) == "malformed"
    assert repacked(docx_sample(), lambda _, part: part)
