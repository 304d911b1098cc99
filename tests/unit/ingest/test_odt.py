"""OpenDocument texts and presentations: headings, lists, tables, frames and notes."""

import pytest

from support.documents import odt_sample, open_document_of, parts_of, zip_of
from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind
from twofold.ingest.readers.office.odt import read_odt
from twofold.ingest.readers.types import Extract, Source


def read(data: bytes) -> Extract:
    return read_odt(Source("file.odt", data))


def texts(extract: Extract) -> list[str]:
    return [extract.text[block.start : block.end] for block in extract.blocks]


def test_headings_text_lists_and_tables_are_read_in_order() -> None:
    extract = read(odt_sample())

    assert texts(extract) == ["Gardens", "Roses  and\tthyme.", "- first\n  - inner", "Plant | Height\n5 | 5"]
    assert [block.kind for block in extract.blocks] == [
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
        BlockKind.LIST,
        BlockKind.TABLE,
    ]
    assert {block.heading for block in extract.blocks[1:]} == {("Gardens",)}
    assert extract.blocks[3].header == "Plant | Height"
    assert extract.title == "Plants"
    assert extract.metadata == {"author": "Ada"}


def test_a_title_by_style_stands_above_all_headings() -> None:
    styles = '<style:style style:name="P1" style:parent-style-name="Title"/>'
    body = (
        '<text:p text:style-name="P1">The book</text:p>'
        '<text:h text:outline-level="1">One</text:h><text:p>Text.</text:p>'
    )
    extract = read(open_document_of("text", body, styles=styles))

    assert extract.blocks[-1].heading == ("The book", "One")
    assert extract.title == "The book"


def test_what_is_not_shown_is_left_out_and_asides_follow_their_paragraph() -> None:
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        "<text:p>Text<office:annotation><text:p>comment</text:p></office:annotation>"
        "<text:note><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>The note.</text:p></text:note-body></text:note>"
        "<draw:frame><draw:text-box><text:p>In the frame.</text:p></draw:text-box></draw:frame> goes on.</text:p>"
        "<text:section><text:p>In a section.</text:p></text:section>"
    )

    assert texts(read(open_document_of("text", body))) == [
        "Text goes on.",
        "The note.",
        "In the frame.",
        "In a section.",
    ]


def test_slides_are_pages() -> None:
    body = (
        '<draw:page><draw:frame presentation:class="title">'
        "<draw:text-box><text:p>Hello</text:p></draw:text-box></draw:frame>"
        "<draw:frame><draw:text-box><text:p>World</text:p></draw:text-box></draw:frame></draw:page>"
        "<draw:page><draw:frame><draw:text-box><text:p>Bye</text:p></draw:text-box></draw:frame></draw:page>"
    )
    extract = read(open_document_of("presentation", body))

    assert [(block.page, block.heading) for block in extract.blocks] == [(1, ()), (1, ("Hello",)), (2, ())]
    assert texts(extract) == ["Hello", "World", "Bye"]


def test_a_repeated_cell_cannot_fill_the_memory() -> None:
    row = (
        '<table:table-row><table:table-cell table:number-columns-repeated="999999999">'
        "<text:p>x</text:p></table:table-cell></table:table-row>"
    )

    assert len(read(open_document_of("text", f"<table:table>{row}</table:table>")).text) < 1000


def test_a_password_is_told() -> None:
    manifest = '<m:manifest xmlns:m="urn:x"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>'
    with pytest.raises(ReadError, match="password") as caught:
        read(zip_of({**parts_of(odt_sample()), "META-INF/manifest.xml": manifest}))
    assert caught.value.kind == "encrypted"
