"""Whatever is done to a file, its reader gives text with sound spans or raises ReadError, and nothing else."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.documents import (
    RTF_SAMPLE,
    docx_sample,
    epub_sample,
    odt_sample,
    open_document_of,
    parts_of,
    pptx_sample,
    repacked,
    xlsx_of,
    zip_of,
)
from twofold.domain.errors import ReadError
from twofold.ingest.readers.epub import read_epub
from twofold.ingest.readers.office.docx import read_docx
from twofold.ingest.readers.office.odt import read_odt
from twofold.ingest.readers.office.pptx import read_pptx
from twofold.ingest.readers.office.sheets import read_sheets
from twofold.ingest.readers.rtf import read_rtf
from twofold.ingest.readers.types import Extract, Reader, Source

CELL = '<table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>'
SHEET = f'<table:table table:name="S"><table:table-row>{CELL}</table:table-row></table:table>'
PACKED: dict[str, tuple[Reader, bytes]] = {
    "docx": (read_docx, docx_sample()),
    "pptx": (read_pptx, pptx_sample()),
    "xlsx": (read_sheets, xlsx_of({"S": {"A1": "Name", "B1": "Sum", "A2": "x", "B2": 3}})),
    "ods": (read_sheets, open_document_of("spreadsheet", SHEET)),
    "odt": (read_odt, odt_sample()),
    "epub": (read_epub, epub_sample()),
}
EVERY = {**PACKED, "rtf": (read_rtf, RTF_SAMPLE)}
LAUGHS = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">%b]>' % b"".join(
    b'<!ENTITY %c "%b">' % (98 + at, b"&%c;" % (97 + at) * 8) for at in range(1, 20)
)
READ_AS_XML = {
    "docx": ("word/document.xml", "word/styles.xml", "docProps/core.xml", "_rels/.rels"),
    "pptx": ("ppt/presentation.xml", "ppt/slides/slide1.xml", "ppt/notesSlides/notesSlide1.xml"),
    "xlsx": ("xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/workbook.xml", "docProps/core.xml"),
    "ods": ("content.xml", "meta.xml"),
    "odt": ("content.xml", "meta.xml", "META-INF/manifest.xml"),
    "epub": ("META-INF/container.xml", "OPS/book.opf"),
}


def read_or_refuse(reader: Reader, data: bytes) -> Extract | None:
    try:
        extract = reader(Source("file", data))
    except ReadError:
        return None
    assert "\n\n".join(extract.text[block.start : block.end] for block in extract.blocks) == extract.text
    return extract


@pytest.mark.parametrize("name", EVERY)
def test_the_sound_file_is_read(name: str) -> None:
    extract = read_or_refuse(*EVERY[name])

    assert extract is not None
    assert extract.text


@pytest.mark.parametrize("name", PACKED)
def test_a_truncated_file_is_refused(name: str) -> None:
    reader, data = PACKED[name]
    step = max(len(data) // 60, 1)

    assert {read_or_refuse(reader, data[:length]) for length in range(0, len(data) - 1, step)} == {None}


@pytest.mark.parametrize(("name", "part"), [(name, part) for name, parts in READ_AS_XML.items() for part in parts])
def test_a_billion_laughs_are_refused(name: str, part: str) -> None:
    reader, data = PACKED[name]
    assert part in parts_of(data)

    def bombed(at: str, content: bytes) -> bytes:
        if at != part:
            return content
        head, _, rest = (
            content.rpartition(b"?>")
            if content.startswith(b"<?xml") and content.count(b"?>") == 1
            else (b"", b"", content)
        )
        opening, closing, inside = rest.partition(b">")
        return (head + b"?>" if head else b"") + LAUGHS + opening + closing + b"&t;" + inside

    with pytest.raises(ReadError):
        reader(Source("file", repacked(data, bombed)))


@pytest.mark.parametrize(("name", "part"), [(name, part) for name, parts in READ_AS_XML.items() for part in parts])
def test_an_entity_never_reads_a_file(name: str, part: str) -> None:
    reader, data = PACKED[name]

    def pointed(at: str, content: bytes) -> bytes:
        if at != part:
            return content
        start = content.index(b"<", content.find(b"?>") + 1)
        return b'<!DOCTYPE x [<!ENTITY t SYSTEM "file:///etc/hostname">]>' + content[start:]

    with pytest.raises(ReadError):
        reader(Source("file", repacked(data, pointed)))


Damage = Callable[[bytes], bytes]


def damage() -> st.SearchStrategy[Damage]:
    """Flip, cut out, repeat or put in a few bytes at a place given as a share of the length."""

    def apply(kind: str, place: float, length: int, noise: bytes) -> Damage:
        def damaged(data: bytes) -> bytes:
            at = int(place * len(data))
            middle = {
                "flip": bytes(byte ^ (length or 1) for byte in data[at : at + 1]),
                "cut": b"",
                "repeat": data[at : at + length] * 2,
                "put": noise + data[at : at + length],
            }[kind]
            return data[:at] + middle + data[at + (1 if kind == "flip" else length) :]

        return damaged

    kinds = st.sampled_from(["flip", "cut", "repeat", "put"])
    return st.builds(apply, kinds, st.floats(0, 1, exclude_max=True), st.integers(0, 255), st.binary(max_size=8))


@pytest.mark.parametrize("name", EVERY)
@given(damages=st.lists(damage(), min_size=1, max_size=4))
def test_a_damaged_file_is_read_or_refused(name: str, damages: list[Damage]) -> None:
    reader, data = EVERY[name]
    for change in damages:
        data = change(data)

    read_or_refuse(reader, data)


@pytest.mark.parametrize("name", PACKED)
@given(damages=st.lists(damage(), min_size=1, max_size=3), which=st.integers(0, 10_000))
def test_a_damaged_part_in_a_sound_archive_is_read_or_refused(name: str, damages: list[Damage], which: int) -> None:
    reader, data = PACKED[name]
    parts = parts_of(data)
    chosen = READ_AS_XML[name][which % len(READ_AS_XML[name])]
    for change in damages:
        parts[chosen] = change(parts[chosen])

    read_or_refuse(reader, zip_of(parts))


@pytest.mark.parametrize("name", PACKED)
def test_any_part_may_be_missing(name: str) -> None:
    reader, data = PACKED[name]
    parts = parts_of(data)

    for missing in parts:
        read_or_refuse(reader, zip_of({part: content for part, content in parts.items() if part != missing}))


@pytest.mark.parametrize("name", EVERY)
@given(noise=st.binary(max_size=200))
def test_noise_is_refused(name: str, noise: bytes) -> None:
    assert read_or_refuse(EVERY[name][0], b"\x01" + noise) is None
