"""Cut one run of non-space text into words and exact forms. Regular expressions here take linear time on any input.

A *word* is a run of letters, digits and marks, apostrophes within it included (as in Unicode Standard Annex 29, but a
full stop, a hyphen or an underscore parts words, initials excepted). Scripts written without spaces give overlapping
pairs of characters.
An *exact form* is something that readers look for whole: a code, an option, a file's name, an acronym.

It works on normalized text (`twofold.text.unicode_normalization`) with its case kept, and knows nothing of stems and
stop words.
"""

import re
import unicodedata
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

MAX_WORD_LENGTH = 255  # characters; what is longer is no word, and is cut there
MAX_ACRONYM_LENGTH = 10
MAX_CODE_LENGTH = 128  # characters; what is longer is no name that anybody types
# Only sets of characters are repeated possessively below, never groups: until 3.11.5 Python matched those wrongly.


class Kind(IntEnum):
    """What a piece of text is to the analyzer."""

    WORD = 0
    STOP = 1  # a stop word, kept apart for questions that hold nothing else
    ACRONYM = 2  # GDP
    COMPOUND = 3  # git-reset, TCP/IP
    CODE = 4  # ERR-12345, v1.2.3, C++, .NET, foo_bar, git-reset.html, --hard
    PAIR = 5  # Article 370
    CHARACTER = 6  # an ideograph among others, kept so that a question of one character finds it
    LONE = 7  # an ideograph by itself
    BIGRAM = 8  # two characters of a script without spaces, or one of them by itself: what such a script has for words
    NGRAM = 9  # soft reset, where word n-grams are wanted


class Piece(NamedTuple):
    """A piece of text, before folding, and where it stands."""

    text: str
    start: int
    end: int
    kind: Kind


class Segments(NamedTuple):
    """What one run of text holds, and what it lends to a pair with its neighbor: `Article` on its left, `370` here."""

    pieces: tuple[Piece, ...]
    tail: Piece | None
    head: Piece | None


_CODES = re.compile(
    r"""
      (?<![\w-]) -- [^\W_]++ (?: [-_] [^\W_]++ )*                  # --hard, --no-verify
    | (?<![\w.]) \. [^\W\d_]++ (?![\w.])                           # .NET, .gitignore
    | (?<!\w) _*+ [^\W_]++ (?:
          (?: \+\+ | \# ) (?![+\#]) \d*+ (?!\w)                    # C++, C#, C++11
        | (?: (?: (?: _++ | [-.@&] ) (?=[^\W_])                    # ERR-12345, v1.2.3, foo_bar, AT&T, name@example.org
                | [,:] (?<=\d.) (?=\d) ) [^\W_]++ )+ _*+           # 1,000 and 10:30
        | _++ )                                                    # __init__
    | (?<![\w/]) [^\W_]{1,4}+ (?: / [^\W_]{1,4}+ )+ (?![\w/.-])    # TCP/IP, 24/7
    """,
    re.VERBOSE,
)
_ASCII_WORDS = re.compile(
    r"(?<![A-Za-z]\.)[A-Za-z](?:\.[A-Za-z])+(?![A-Za-z0-9]|\.[A-Za-z])|[A-Za-z0-9]++(?:'[A-Za-z0-9]++)*"
)
_RUNS = re.compile(r"(?<!wp)w(?:pw)+(?![wnm]|pw)|[wn][wnm]*+(?:a[wn][wnm]*+)*|[hc][hcm]*+")  # over kinds, not over text
_HEAD = re.compile(r"\d++(?:[.,:\-]\d++)*(?:[A-Za-z](?!\w)|(?!\w|[.,:\-]\d))")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_PUNCTUATION = {"'": "a", ".": "p"}
# Written without spaces between words: ideographs, kana, South-East Asia's scripts; and hangul, whose particles stick.
_IDEOGRAPHS = ((0x3005, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1100, 0x11FF),
    (0x1780, 0x17FF),
    (0x3040, 0x312F),
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0xAC00, 0xD7FB),
)


class CharacterKinds(dict[int, str]):
    """What each character is, as `character_kind` says, worked out once."""

    def __missing__(self, code: int) -> str:
        self[code] = kind = character_kind(code)
        return kind


def segment(text: str, kinds: CharacterKinds) -> Segments:
    """Cut a run of normalized text. Pieces come words first, then exact forms, each by rising place.

    `"ERR-12345"` gives the words `ERR` and `12345`, the acronym `ERR` and the code `ERR-12345`.
    """
    if text.isascii():
        words = [_word(text, *found.span()) for found in _ASCII_WORDS.finditer(text)]
        spaced = text
    else:
        words, spaced = _words(text, kinds)
    acronyms = [word._replace(kind=Kind.ACRONYM) for word in words if word.kind is Kind.WORD and _is_acronym(word)]
    pieces = (*words, *acronyms, *codes(spaced))
    return Segments(pieces, _tail(words, text), _head(text))


def codes(text: str) -> list[Piece]:
    """Find codes and compounds, which stay whole in addition to their parts."""
    if text.isalpha():
        return []
    found = (Piece(match[0], *match.span(), Kind.CODE) for match in _CODES.finditer(text))
    return [_compound(piece) for piece in found if len(piece.text) <= MAX_CODE_LENGTH]


def camel_parts(word: Piece) -> list[Piece]:
    """Cut an identifier at its humps; a word without any gives nothing.

    `parseHTTPResponse2` gives `parse`, `HTTP`, `Response2`.
    """
    humps = [found.start() for found in _HUMP.finditer(word.text)]
    bounds = [0, *humps, len(word.text)] if humps else []
    return [Piece(word.text[a:b], word.start + a, word.start + b, Kind.WORD) for a, b in pairwise(bounds)]


def _words(text: str, kinds: CharacterKinds) -> tuple[list[Piece], str]:
    """Return words, and the text with unspaced scripts blanked, where codes are looked for."""
    of_text = text.translate(kinds)
    pieces: list[Piece] = []
    for found in _RUNS.finditer(of_text):
        start, end = found.span()
        if of_text[start] in "hc":
            pieces += _bigrams(text, of_text, start, end)
        else:
            pieces.append(_word(text, start, end))
    if "h" not in of_text and "c" not in of_text:
        return pieces, text
    return pieces, "".join(" " if kind in "hc" else character for character, kind in zip(text, of_text, strict=True))


def _word(text: str, start: int, end: int) -> Piece:
    """Return a word; initials close up, so that `U.S.A.` is the word and the acronym `USA`."""
    return Piece(text[start:end].replace(".", ""), start, end, Kind.WORD)


def _bigrams(text: str, kinds: str, start: int, end: int) -> list[Piece]:
    if end - start == 1:
        return [Piece(text[start], start, end, Kind.LONE if kinds[start] == "h" else Kind.BIGRAM)]
    pairs = [Piece(text[at : at + 2], at, at + 2, Kind.BIGRAM) for at in range(start, end - 1)]
    return pairs + [Piece(text[at], at, at + 1, Kind.CHARACTER) for at in range(start, end) if kinds[at] == "h"]


def _is_acronym(word: Piece) -> bool:
    text = word.text
    return 2 <= len(text) <= MAX_ACRONYM_LENGTH and text.isupper() and sum(map(str.isalpha, text)) > 1  # noqa: PLR2004


def _compound(piece: Piece) -> Piece:
    plain = piece.text.replace("-", "").replace("/", "").isalpha() and not piece.text.startswith("-")
    return piece._replace(kind=Kind.COMPOUND) if plain else piece


def _tail(words: list[Piece], text: str) -> Piece | None:
    """Return the word that ends the run, as `Article` or `Art.` do; none after a comma or a bracket."""
    if not words or not 2 <= len(words[-1].text) <= MAX_CODE_LENGTH or not words[-1].text.isalpha():  # noqa: PLR2004
        return None
    return words[-1] if text[words[-1].end :] in ("", ".") else None


def _head(text: str) -> Piece | None:
    found = _HEAD.match(text)
    return Piece(found[0], 0, found.end(), Kind.PAIR) if found and found.end() <= MAX_CODE_LENGTH else None


def character_kind(code: int) -> str:
    """Return what a character is, in one letter.

    w letter, n number, m mark, h ideograph, c of another script without spaces, a apostrophe, p full stop, `.` other.
    """
    if chr(code) in _PUNCTUATION:
        return _PUNCTUATION[chr(code)]
    category = unicodedata.category(chr(code))
    if category[0] not in "LNM":
        return "."
    if _within(code, _IDEOGRAPHS):
        return "h"
    if category != "Nd" and _within(code, _UNSPACED):
        return "c"
    return {"M": "m", "N": "n", "L": "w"}[category[0]]


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)
