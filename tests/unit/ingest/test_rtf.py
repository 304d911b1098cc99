"""RTF: paragraphs, headings, tables, code pages and Unicode escapes, in one pass whatever the input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.documents import RTF_SAMPLE
from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind
from twofold.ingest.readers.rtf import read_rtf
from twofold.ingest.readers.types import Extract, Source


def read(data: bytes) -> Extract:
    return read_rtf(Source("file.rtf", data))


def texts(extract: Extract) -> list[str]:
    return [extract.text[block.start : block.end] for block in extract.blocks]


def test_a_document_is_read_whole() -> None:
    extract = read(RTF_SAMPLE)

    assert texts(extract) == [
        "First",
        "Price: €5, \U0001f600 \u041f\u0440.",
        "1. one\n- two",
        "A | B\n1 | 2 3",
        "link",
    ]
    assert [block.kind for block in extract.blocks][:4] == [
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
        BlockKind.LIST,
        BlockKind.TABLE,
    ]
    assert extract.blocks[3].header == "A | B"
    assert extract.blocks[1].heading == ("First",)
    assert extract.title == "Grüße"
    assert extract.metadata == {"author": "Ada"}


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (rb"a\~b\_c", "a b\u2011c".replace(" ", "\u00a0")),
        (rb"\{x\} \\", "{x} \\"),
        (rb"\uc2\u228aeb", "\xe4b"),
        (rb"\uc0\u228 b", "\xe4b"),
        (rb"{\uc3\u228xyz}\u228?", "\xe4\xe4"),
        (rb"\u-10179?\u-8704?", "\U0001f600"),
        (rb"\u-10179?x", "\ufffdx"),
        (rb"a\line b\tab c", "a\nb\tc"),
        (rb"\ldblquote x\rdblquote\emdash", "\u201cx\u201d\u2014"),
        (b"{\\pict\\bin7 }}}}}}}}after", "after"),
        (rb"{\*\generator Riched20;}x", "x"),
        (rb"\deleted gone\deleted0 here", "here"),
        (rb"{\header top}x{\footer bottom}", "x"),
        (rb"\ansicpg1250 \'b9", "ą"),
        (b"x\\\ny", "x\n\ny"),
        (rb"\ansicpg99999 \'e4", "\xe4"),
        (rb"{\upr{a}{\*\ud{b}}}", "a"),
    ],
)
def test_control_words_mean_what_the_format_says(markup: bytes, text: str) -> None:
    assert read(b"{\\rtf1\\ansi " + markup + b"}").text == text


def test_a_letter_may_lie_across_two_escapes() -> None:
    assert read(rb"{\rtf1\ansi{\fonttbl{\f0\fcharset128 M;}}\f0 \'82\'a0}").text == "あ"


def test_a_note_follows_its_paragraph() -> None:
    assert texts(read(rb"{\rtf1 Text{\footnote The note.} goes on.\par Next.}")) == [
        "Text goes on.",
        "The note.",
        "Next.",
    ]


def test_headings_are_told_by_outline_level() -> None:
    extract = read(rb"{\rtf1\pard\outlinelevel0 A\par\pard\outlinelevel1 B\par\pard text\par}")

    assert [block.heading for block in extract.blocks] == [(), ("A",), ("A", "B")]


def test_what_is_no_rtf_is_malformed() -> None:
    with pytest.raises(ReadError, match="not RTF") as caught:
        read(b"<html>")
    assert caught.value.kind == "malformed"


def test_groups_nested_beyond_all_reason_are_refused() -> None:
    with pytest.raises(ReadError, match="nested deeper") as caught:
        read(b"{\\rtf1 " + b"{" * 2000)
    assert caught.value.kind == "limit"


WORDS = [
    b"\\par ",
    b"\\u-10179 ",
    b"\\uc9 ",
    b"{",
    b"}",
    b"\\'e4",
    b"\\cell",
    b"\\row ",
    b"\\pard ",
    b"\\bin3 ",
    b"x",
    b"\\*",
]
WORDS += [
    b"{\\fonttbl{\\f0\\fcharset128;}}",
    b"\\f0 ",
    b"{\\stylesheet{\\s1 heading 1;}}",
    b"\\s1 ",
    b"\\listtext ",
    b";",
]
WORDS += [b"\\outlinelevel99 ", b"\\ansicpg-1 ", b"\\intbl ", b"\\title ", b"{\\info", b"{\\footnote ", b"\\", b"\xff"]


@given(st.lists(st.sampled_from(WORDS), max_size=40))
def test_any_order_of_control_words_is_read(words: list[bytes]) -> None:
    extract = read(b"{\\rtf1 " + b"".join(words))

    assert "\n\n".join(texts(extract)) == extract.text


@given(st.text(st.characters(codec="utf-16", exclude_categories=("Cc", "Cs")), max_size=30))
def test_text_written_as_escapes_comes_back(text: str) -> None:
    units = text.encode("utf-16-le")
    pairs = [int.from_bytes(units[at : at + 2], "little", signed=True) for at in range(0, len(units), 2)]
    markup = "".join(f"\\u{unit}?" for unit in pairs)

    assert read(f"{{\\rtf1 x{markup}x}}".encode()).text == f"x{text}x"
