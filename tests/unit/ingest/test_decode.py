"""Encodings: marks first, UTF-8 next, what the file declares, then a guess."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import ReadError
from twofold.ingest.decode import decode

LEGACY = (
    ("cp1252", "Die Größe des Gerätes ändert sich über die Jahre; für jeden Käufer schön – sagte er über Österreich."),
    ("cp1251", "Привет, мир. Это довольно обычный русский текст для проверки кодировки."),
    ("koi8_r", "Привет, мир. Это довольно обычный русский текст для проверки кодировки."),
    ("cp1253", "Αυτό είναι ένα κείμενο στα ελληνικά για δοκιμή."),  # noqa: RUF001 other alphabets
    ("shift_jis", "これは日本語の文章です。文字コードの判定を試します。"),
    ("gb18030", "这是一个中文文本，用于测试编码检测。我们希望它能正确识别。"),  # noqa: RUF001 other alphabets
    ("big5", "這是一個中文文本，用於測試編碼檢測。我們希望它能正確識別。"),  # noqa: RUF001 other alphabets
    ("euc_kr", "이것은 한국어 문장입니다. 문자 인코딩을 시험합니다."),
)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_utf_8_is_read_as_it_is(text: str) -> None:
    if text[0] != "\ufeff":
        assert decode(text.encode()).text == text


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_decides_and_is_no_part_of_the_text(mark: bytes, encoding: str) -> None:
    assert decode(mark + "Žluť".encode(encoding)).text == "Žluť"


def test_utf_16_without_a_mark_is_recognized() -> None:
    assert decode("plain words".encode("utf-16-be")).encoding == "utf-16-be"


@pytest.mark.parametrize(("encoding", "text"), LEGACY)
def test_old_encodings_are_recognized_and_recorded(encoding: str, text: str) -> None:
    decoded = decode(text.encode(encoding))

    assert decoded.text == text
    assert decoded.metadata == {"encoding": decoded.encoding}


def test_a_short_text_with_one_accent_is_taken_as_western() -> None:
    assert decode("café".encode("cp1252")).text == "café"


def test_a_declared_encoding_is_used_when_the_bytes_are_not_utf_8() -> None:
    assert decode("žluť".encode("iso8859-2"), "ISO-8859-2").text == "žluť"
    assert decode("žluť".encode(), "ISO-8859-2").text == "žluť"


@pytest.mark.parametrize("declared", ["", "utf-16", "no such thing", "rot13", "hex", "idna", "\0", "x" * 1000])
def test_a_declaration_that_is_no_text_encoding_is_ignored(declared: str) -> None:
    assert decode("café".encode("cp1252"), declared).text == "café"


def test_a_few_broken_bytes_do_not_turn_utf_8_into_something_else() -> None:
    decoded = decode("größer ".encode() * 20 + b"\xff")

    assert decoded.text == "größer " * 20 + "\ufffd"
    assert decoded.encoding == "utf-8 with damaged bytes"


def test_bytes_that_are_not_text_are_refused() -> None:
    with pytest.raises(ReadError) as caught:
        decode(bytes(range(32)) * 40)

    assert caught.value.kind == "unsupported"
