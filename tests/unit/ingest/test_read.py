"""What holds for every format: exact spans, clean text, and nothing but a ReadError for whatever comes."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import ReadError
from twofold.ingest import media_types as kinds
from twofold.ingest.document import content_hash, document_from
from twofold.ingest.readers.registry import READERS, media_type_of, read, read_as
from twofold.ingest.readers.types import Extract, Limits, Source, clean

NOTEBOOK = {"cells": [{"cell_type": "markdown", "source": "# A"}, {"cell_type": "code", "source": "b", "outputs": []}]}
SAMPLES = {
    kinds.PLAIN: b"one\r\ntwo\r\n\r\nthree\0\r",
    kinds.MARKDOWN: b"---\ntitle: T\n---\n# A\n\ntext\n\n- b\n- c\n\n"
    b"| x | y |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n",
    kinds.ASCIIDOC: b"= A\n:k: v\n\ntext\n\n== B\nmore",
    kinds.REST: b"A\n=\n\ntext\n\nB\n-\nmore",
    kinds.LATEX: b"\\title{T}\\section{A}\ntext\n\n\\subsection{B}\nmore",
    kinds.MAN: b".TH A 1\n.SH NAME\na \\- b\n.SH OPTIONS"
    b"\n.TP\n\\fB\\-x\\fR\ntext\n.TS\nl l.\nc\td\n.TE\n.nf\ncode\n.fi\n",
    kinds.HTML: b"<title>T</title><h1>A</h1><p>b<ul><li>c<li>d</ul>"
    b"<table><tr><th>x<th>y<tr><td>1<td>2</table><pre>e</pre>",
    kinds.XML: b"<?xml version='1.0'?><a><title>T</title><b>text</b> tail</a>",
    kinds.CSV: b"a;b\n1;x\n2;y\n",
    kinds.TSV: b"a\tb\n1\tx\n",
    kinds.JSON: b'{"title": "T", "text": "x", "n": {"m": [1, 2]}}',
    kinds.JSON_LINES: b'{"id": 1, "text": "x"}\n{"id": 2, "text": "y"}\n',
    kinds.NOTEBOOK: json.dumps(NOTEBOOK).encode(),
    kinds.SRT: b"1\n00:00:01,000 --> 00:00:02,000\nHi\n\n2\n00:01:01,000 --> 00:01:02,000\nHo\n",
    kinds.VTT: b"WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n",
    kinds.EML: b"From: a@b.example\nSubject: S\nContent-Type: text/html\n\n<p>x<p>y",
    kinds.MBOX: b"From a\nFrom: a@b.example\nSubject: S\n\nx\n\nFrom a\nFrom: a@b.example\nSubject: T\n\ny\n",
    kinds.PYTHON: b"import x\n\ndef a():\n    pass\n\nclass B:\n    y = 1\n",
    "text/x-go": b"package x\n\nfunc A() {\n}\n",
}


def check(extract: Extract) -> None:
    """Hold an extract to what every reader promises."""
    position = 0
    for block in extract.blocks:
        assert position <= block.start < block.end <= len(extract.text)
        position = block.end
        assert extract.text[block.start : block.end].strip()
        assert all(part and clean(part) == part and "\n" not in part for part in block.heading)
    assert clean(extract.text) == extract.text
    assert clean(extract.title) == extract.title


@pytest.mark.parametrize("media_type", sorted(SAMPLES))
def test_every_block_is_a_span_of_clean_text(media_type: str) -> None:
    extract = read_as(Source("sample", SAMPLES[media_type]), media_type)

    check(extract)
    assert extract.blocks


@pytest.mark.parametrize("media_type", sorted(SAMPLES))
@given(data=st.data())
def test_damaged_and_arbitrary_bytes_give_spans_or_a_read_error(media_type: str, data: st.DataObject) -> None:
    sample = SAMPLES[media_type]
    cut = data.draw(st.integers(0, len(sample)))
    resume = data.draw(st.integers(cut, len(sample)))
    noise = data.draw(
        st.binary(max_size=40) | st.text("<>[]{}()\"'=-#|:,;\\\n\t\r\0\ud800 a1", max_size=40).map(_bytes)
    )
    try:
        check(read_as(Source("noise", sample[:cut] + noise + sample[resume:]), media_type))
    except ReadError as error:
        assert error.kind  # noqa: PT017 either is fine


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@given(st.sampled_from([".md", ".html", ".csv", ".json", ".eml", ".py", ".vtt", ".docx", ""]), st.binary(max_size=200))
def test_any_bytes_under_any_suffix_give_spans_or_a_read_error(suffix: str, data: bytes) -> None:
    try:
        check(read(Source(f"file{suffix}", data)))
    except ReadError as error:
        assert error.kind  # noqa: PT017 either is fine


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b" \n\t", "empty"),
        ("a.html", b"<html><body></body></html>", "empty"),
        ("a.json", b"{}", "empty"),
        ("a.md", b"<!-- only this -->", "empty"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "no-text-layer"),
        ("a.xml", b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "malformed"),
        ("a.xml", b"<?xml version='1.0'?><a>", "malformed"),
    ],
)
def test_what_gives_no_text_is_a_named_error_with_a_remedy(name: str, data: bytes, kind: str) -> None:
    with pytest.raises(ReadError) as caught:
        read(Source(name, data))

    assert (caught.value.kind, bool(caught.value.hint)) == (kind, True)


def test_a_file_over_the_limit_is_refused() -> None:
    with pytest.raises(ReadError, match="more than the 3 allowed"):
        media_type_of(Source("a.txt", b"four", Limits(file_bytes=3)))


def test_a_type_without_a_reader_is_unsupported() -> None:
    with pytest.raises(ReadError) as caught:
        read_as(Source("a", b"x"), "image/gif")

    assert caught.value.kind == "unsupported"


def test_every_suffix_has_a_reader() -> None:
    assert set(kinds.SUFFIXES.values()) <= set(READERS)


def test_a_document_carries_what_was_read_and_the_hash_of_the_bytes() -> None:
    source = Source("notes/a.md", SAMPLES[kinds.MARKDOWN])
    document = document_from(source.name, read(source), kinds.MARKDOWN, content_hash(source.data))

    assert (document.source, document.title, len(document.id), len(document.content_hash)) == (
        "notes/a.md",
        "T",
        16,
        32,
    )


def shared() -> Path:
    found = Path(os.environ.get("TWOFOLD_SHARED") or Path(__file__).resolve().parents[3].parent / "shared")
    if not (found / "docs").is_dir():
        pytest.skip("the shared documents are not here")
    return found / "docs"


def test_every_page_of_gits_manual_is_read_with_its_sections() -> None:
    pages = sorted((shared() / "git-doc").glob("*.html"))
    extracts = {page.name: read(Source(page.name, page.read_bytes())) for page in pages}

    for extract in extracts.values():
        check(extract)
    assert len(extracts) > 200
    reset = extracts["git-reset.html"]
    soft = next(b for b in reset.blocks if reset.text[b.start : b.end].lstrip().startswith("--soft\n"))
    assert soft.heading == ("git-reset(1) Manual Page", "DESCRIPTION", "git reset [<mode>] [<commit>]")
