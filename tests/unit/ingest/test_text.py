"""Plain text and the markups whose headings are found by simple rules."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from twofold.ingest.readers.text import read_asciidoc, read_latex, read_rest, read_text
from twofold.ingest.readers.text_blocks import lines_of, paragraph_spans, trim_span
from twofold.ingest.readers.types import Extract, Source, clean


def shown(extract: Extract) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(block.kind.value, extract.text[block.start : block.end], block.heading) for block in extract.blocks]


def test_plain_text_is_kept_as_it_is_and_cut_at_blank_lines() -> None:
    extract = read_text(Source("a.txt", b"one\r\ntwo\r\n\r\n  three\n\n\n"))

    assert extract.text == "one\ntwo\n\n  three\n\n\n"
    assert shown(extract) == [("paragraph", "one\ntwo", ()), ("paragraph", "  three", ())]


@given(st.text("ab \t\n\x0b\u2003", max_size=80))
def test_paragraphs_hold_all_that_is_not_white_space_and_no_blank_line(text: str) -> None:
    spans = list(paragraph_spans(text))

    found = [text[start:end] for start, end in spans]
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(line.strip() for paragraph in found for line in paragraph.split("\n"))
    assert all(first.end < second.start for first, second in itertools.pairwise(spans))


@given(st.text("ab\n", max_size=60))
def test_lines_are_those_of_split(text: str) -> None:
    assert [text[start:end] for start, end in lines_of(text)] == (text.removesuffix("\n").split("\n") if text else [])


def test_trimming_a_blank_span_gives_an_empty_one() -> None:
    start, end = trim_span(" \n ", 0, 3)

    assert start == end


def test_asciidoc_headings_attributes_and_listings() -> None:
    source = "= Title\n:author: Ann\n:toc:\n\nLead.\n\n== One ==\nText\n\n----\n== no heading\n----\n\n=== Deep\nMore"
    extract = read_asciidoc(Source("a.adoc", source.encode()))

    assert extract.title == "Title"
    assert extract.metadata == {"author": "Ann"}
    headings = [(text, path) for kind, text, path in shown(extract) if kind == "heading"]
    assert headings == [("= Title", ()), ("== One ==", ("Title",)), ("=== Deep", ("Title", "One"))]
    assert shown(extract)[-1][2] == ("Title", "One", "Deep")


def test_rest_levels_follow_the_order_of_first_use() -> None:
    source = "=====\nTitle\n=====\n\nIntro\n\nOne\n===\na\n\nSub\n---\nb\n\nTwo\n===\nc\n"
    extract = read_rest(Source("a.rst", source.encode()))

    assert extract.title == "Title"
    assert [path for kind, _, path in shown(extract) if kind == "paragraph"] == [
        ("Title",),
        ("Title", "One"),
        ("Title", "One", "Sub"),
        ("Title", "Two"),
    ]


def test_an_underline_is_no_overline_for_the_next_heading() -> None:
    extract = read_rest(Source("a.rst", b"A\n===\nB\n===\ntext"))

    assert [text for kind, text, _ in shown(extract) if kind == "heading"] == ["A\n===", "B\n==="]


def test_latex_sections_make_the_outline() -> None:
    source = "\\title{On \\emph{Ducks}}\n\\section*{One}\\label{x}\nText\n\\subsection[short]{Two {\\bf b}}\nMore"
    extract = read_latex(Source("a.tex", source.encode()))

    assert extract.title == "On Ducks"
    assert shown(extract)[-1] == ("paragraph", "More", ("One", "Two b"))


@given(st.text("=-~AB \n", max_size=80))
def test_headings_of_rest_never_overlap(text: str) -> None:
    extract = read_rest(Source("a.rst", text.encode()))

    assert all(first.end <= second.start for first, second in zip(extract.blocks, extract.blocks[1:], strict=False))
    assert extract.text == clean(text)
