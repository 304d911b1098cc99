"""What a file is: content first, suffix second."""

from io import BytesIO
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import ReadError
from twofold.ingest import media_types as kinds
from twofold.ingest.detect import detect, suffix_of


def zipped(*names: str, mimetype: str = "") -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype)
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


def ole(stream: str) -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + stream.encode("utf-16-le") + bytes(100)


MAIL = b"Received: by x\n from y\nFrom: a@b.example\nSubject: Hi\n\nBody"
CASES = (
    ("a.pdf", b"%PDF-1.7\n", kinds.PDF),
    ("lies.txt", b"\n%PDF-1.7\n", kinds.PDF),
    ("a.docx", zipped("[Content_Types].xml", "word/document.xml"), kinds.DOCX),
    ("lies.xlsx", zipped("word/document.xml"), kinds.DOCX),
    ("a.pptx", zipped("ppt/presentation.xml"), kinds.PPTX),
    ("a.xlsx", zipped("xl/workbook.xml"), kinds.XLSX),
    ("a.odt", zipped("content.xml", mimetype=kinds.ODT), kinds.ODT),
    ("a.ods", zipped("content.xml", mimetype=kinds.ODS), kinds.ODS),
    ("a.epub", zipped("META-INF/container.xml", mimetype=kinds.EPUB), kinds.EPUB),
    ("a.xls", ole("Workbook"), kinds.XLS),
    ("a.rtf", b"{\\rtf1 hi}", kinds.RTF),
    ("a.html", b"<p>Hello", kinds.HTML),
    ("lies.csv", b"<!-- x --><!DOCTYPE html><p>Hello", kinds.HTML),
    ("page", b"<?xml version='1.0'?>\n<!DOCTYPE html>\n<html>", kinds.HTML),
    ("README.md", b"<div align=center>x</div>\n\n# Hi", kinds.MARKDOWN),
    ("a.xml", b"<?xml version='1.0'?><a/>", kinds.XML),
    ("a.json", b'{"a": 1}', kinds.JSON),
    ("lies.txt", b'{"a": 1}\n{"a": 2}\n', kinds.JSON_LINES),
    ("a.jsonl", b'{"a": 1}\n', kinds.JSON_LINES),
    ("notes.txt", b"[not] json\n", kinds.PLAIN),
    ("a.ipynb", b'{"cells": [{"cell_type": "code"}]}', kinds.NOTEBOOK),
    ("lies.json", b'{"cells": [{"cell_type": "code"}], "nbformat": 4}', kinds.NOTEBOOK),
    ("a.eml", MAIL, kinds.EML),
    ("mail", MAIL, kinds.EML),
    ("inbox", b"From a@b Mon Jan 1\n" + MAIL, kinds.MBOX),
    ("notes.txt", b"Subject: only one header\n\nText", kinds.PLAIN),
    ("a.txt", b"WEBVTT\n\n00:01.000 --> 00:02.000\nHi", kinds.VTT),
    ("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\nHi", kinds.SRT),
    ("a.csv", b"a,b\n1,2\n", kinds.CSV),
    ("a.tsv", b"a\tb\n", kinds.TSV),
    ("table", b"a\tb\n1\t2\n3\t4\n5\t6\n7\t8\n", kinds.TSV),
    ("a.md", b"# Hi", kinds.MARKDOWN),
    ("README", b"# Hi\n\n- a\n- b\n", kinds.MARKDOWN),
    ("a.py", b"x = 1", kinds.PYTHON),
    ("run", b"#!/usr/bin/env python3\nx = 1", kinds.PYTHON),
    ("A.GO", b"package main", "text/x-go"),
    ("a.doc", b"<!doctype html><html>A page that a word processor saved.", kinds.HTML),
    ("a.json", b"no json at all: plain words?", kinds.JSON),
    ("a.json", b"// settings\n{}", kinds.PLAIN),
    ("a.unknown", "Grüße".encode(), kinds.PLAIN),
)


@pytest.mark.parametrize(("name", "data", "expected"), CASES)
def test_the_media_type_follows_the_content_then_the_suffix(name: str, data: bytes, expected: str) -> None:
    assert detect(name, data) == expected


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (ole("WordDocument"), "unsupported"),
        (ole("PowerPoint Document"), "unsupported"),
        (ole("EncryptedPackage"), "encrypted"),
        (ole("Anything"), "unsupported"),
        (zipped("a.txt"), "unsupported"),
        (b"PK\x03\x04 damaged", "malformed"),
        (b"GIF89a\1\0\1\0", "unsupported"),
        (b"\x7fELF" + bytes(50), "unsupported"),
        (bytes(range(32)) * 9, "malformed"),
        (b"words in place of a Word file", "malformed"),
    ],
)
def test_what_no_reader_takes_is_refused_with_a_remedy(data: bytes, kind: str) -> None:
    with pytest.raises(ReadError) as caught:
        detect("file.doc", data)

    assert caught.value.kind == kind
    assert caught.value.hint


@given(st.text(), st.binary(max_size=300))
def test_any_bytes_under_any_name_give_a_type_or_a_read_error(name: str, data: bytes) -> None:
    try:
        assert "/" in detect(name, data)
    except ReadError as error:
        assert error.kind in ("unsupported", "malformed", "encrypted")  # noqa: PT017 either is fine


def test_only_the_last_suffix_counts_whatever_the_folders_are_called() -> None:
    assert (suffix_of("a.b/c.TXT"), suffix_of("C:\\x.y\\Makefile"), suffix_of(".bashrc")) == (".txt", "", "")
