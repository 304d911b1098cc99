"""Books: chapters in the order of the spine under their titles from the table of contents."""

import pytest

from support.documents import epub_of, epub_sample, parts_of, zip_of
from twofold.domain.errors import ReadError
from twofold.ingest.readers.epub import read_epub
from twofold.ingest.readers.types import Extract, Source

LOCK = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:e="http://www.w3.org/2001/04/xmlenc#">'
    '<e:EncryptedData><e:EncryptionMethod Algorithm="{}"/></e:EncryptedData></encryption>'
)


def read(data: bytes) -> Extract:
    return read_epub(Source("book.epub", data))


def texts(extract: Extract) -> list[str]:
    return [extract.text[block.start : block.end] for block in extract.blocks]


def kind_of_refusal(data: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        read(data)
    return caught.value.kind


def test_chapters_come_in_the_order_of_the_spine_with_their_titles() -> None:
    extract = read(epub_sample())

    assert texts(extract) == ["Dawn", "The cold night ends.", "Rain", "Rain again."]
    assert [block.heading for block in extract.blocks] == [(), ("Dawn",), (), ("Rain",)]
    assert [block.place for block in extract.blocks] == ["Dawn", "Dawn", "Rain", "Rain"]
    assert extract.title == "Short poems"
    assert extract.metadata == {"author": "Ada Poet", "chapters": 2}


def test_a_chapter_with_other_headings_stands_under_its_title() -> None:
    extract = read(epub_of({"a.xhtml": "<h2>Part</h2><p>Text.</p>"}, '<a href="a.xhtml">Chapter 1</a>'))

    assert extract.blocks[-1].heading == ("Chapter 1", "Part")


def test_a_broken_table_of_contents_costs_titles_and_no_text() -> None:
    parts = {**parts_of(epub_sample()), "OPS/nav.xhtml": b"<html><nav><a href="}

    assert texts(read(zip_of(parts))) == ["Dawn", "The cold night ends.", "Rain again."]


def test_scrambled_fonts_are_no_lock() -> None:
    parts = parts_of(epub_sample())

    def locked_by(method: str) -> bytes:
        return zip_of({**parts, "META-INF/encryption.xml": LOCK.format(method)})

    assert read(locked_by("http://www.idpf.org/2008/embedding")) == read(epub_sample())
    assert kind_of_refusal(locked_by("http://www.w3.org/2001/04/xmlenc#aes128-cbc")) == "encrypted"


def test_a_chapter_named_many_times_is_read_once() -> None:
    parts = parts_of(epub_sample())
    parts["OPS/book.opf"] = parts["OPS/book.opf"].replace(b"<spine>", b"<spine>" + b'<itemref idref="c0"/>' * 500)

    assert read(zip_of(parts)) == read(epub_sample())


def test_links_never_leave_the_book() -> None:
    parts = parts_of(epub_sample())
    parts["OPS/book.opf"] = parts["OPS/book.opf"].replace(b'href="a.xhtml"', b'href="../../../../etc/passwd"')

    assert texts(read(zip_of(parts))) == ["Dawn", "The cold night ends."]


def test_a_file_without_a_book_is_malformed() -> None:
    assert kind_of_refusal(zip_of({"a": b""})) == "malformed"
    assert kind_of_refusal(b"PK") == "malformed"
