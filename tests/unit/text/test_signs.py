"""Runs of ASCII with the signs that print uses: analyzed in C, and the same as Python analyzes them."""

import unicodedata
from itertools import product

import numpy as np
import pytest

from twofold.kernels import Runs
from twofold.text.analyzer import Analyzer, Token
from twofold.text.languages import language_of
from twofold.text.phrases import squeeze, squeeze_all
from twofold.text.tokenizer import Kind
from twofold.text.unicode_normalization import fold

WORDS = ("Developer", "today's", "U.S.A.", "ERR-12345", "1,000", "C++", "TCP/IP")
SIGNS = "\u201c\u201d\u2013\u2014\u2026\u2010\u2022\u2212\u2265\xab\xb7\xd7"
RANGES = (
    range(0x80, 0x100),
    range(0x2010, 0x2040),
    range(0x2190, 0x2195),
    range(0x2210, 0x2214),
    range(0x2260, 0x2268),
)
BEYOND_ASCII = [chr(code) for some in RANGES for code in some if unicodedata.category(chr(code))[0] in "PSC"]


def folded(text: str) -> str:
    return " ".join(" ".join(map(fold, text.split())).split())


@pytest.mark.parametrize("word", WORDS)
def test_a_sign_beside_a_word_is_analyzed_as_python_does(word: str) -> None:
    native, oracle = (
        Analyzer("english", language_of("english")),
        Analyzer("english", language_of("english"), native=False),
    )
    for sign, shape in product(BEYOND_ASCII, ("{1}{0}", "{0}{1} 370", "{0}{1}{0}", "{1}{0}{1}{1}")):
        text = shape.format(word, sign)
        found, expected = native.counts(text), oracle.counts(text)

        assert (dict(found.counts), found.length) == (dict(expected.counts), expected.length), ascii(text)
        assert squeeze(text) == folded(text), ascii(text)


def test_typographic_words_are_the_words_that_they_spell() -> None:
    counts = (
        Analyzer("english", language_of("english"))
        .counts("\u201cDeveloper\u2019s\u201d dogs\u2014and cats\u2026")
        .counts
    )

    assert counts == {"develop": 1, "dog": 1, "=and": 1, "cat": 1}


def test_python_is_asked_for_letters_only() -> None:
    assert Runs is not None
    asked: list[str] = []

    def count(run: str) -> tuple[list[str], list[str], None, None]:
        asked.append(run)
        return [run], [], None, None

    runs = Runs(str.lower, count, count, Token, tuple(Kind), False, False)  # as the analyzer makes it
    counts, length = runs.count(" ".join(f"{sign}word{sign}s" for sign in SIGNS) + " na\xefve \u201c\u03b2\u201d")

    assert asked == ["na\xefve", "\u201c\u03b2\u201d"]
    assert counts["word"] == len(SIGNS)
    assert length == 2 * len(SIGNS) + 2


@pytest.mark.parametrize("other", ["", "\u65e5\u672c \u00c9t\u00e9", "half a pair \ud800"])
def test_texts_are_folded_together_as_one_by_one(other: str) -> None:
    texts = [
        "",
        " A  b\u2026 ",
        "",
        f"x {other}  Y",
        other,
        "\u201cStra\u00dfe\u201d \u00a0 I\u0130",
        "caf\u00e9 " * 50,
    ]
    if "\ud800" in other:
        with pytest.raises(UnicodeEncodeError):
            squeeze_all(texts)
        return

    joined, lengths = squeeze_all(texts)

    each = [squeeze(text).encode() for text in texts]
    assert joined == b"".join(each)
    assert np.frombuffer(lengths, dtype=np.int64).tolist() == [len(one) for one in each]
