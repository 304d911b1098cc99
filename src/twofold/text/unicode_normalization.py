"""Unicode normalization that remembers where every character came from.

Knows nothing of words. `normalize` is NFKC (Unicode Standard Annex 15) after dropping characters that only steer
layout, with typographic apostrophes made plain. `fold` adds case folding. Both leave ASCII text of the same length.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

MARKS_IN_A_ROW = 30  # Unicode's stream-safe limit; a longer run would make canonical ordering quadratic

_LAYOUT = [0xAD, 0x34F, 0x61C, 0x180E, 0x200C, 0x200D, 0x200E, 0x200F, 0xFEFF]
_LAYOUT_RANGES = [(0x202A, 0x202E), (0x2060, 0x2064), (0x2066, 0x206F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF)]
_DROPPED = dict.fromkeys([*_LAYOUT, *(code for first, last in _LAYOUT_RANGES for code in range(first, last + 1))])
_APOSTROPHES = dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02bc"), "'")

# ASCII, kana, ideographs and Hangul syllables: each is its own NFKC and does not compose with another of them.
_SETTLED = "[\\x00-\\x7f\\u3041-\\u3096\\u30a1-\\u30fa\\u4e00-\\u9fff\\uac00-\\ud7a3]*"

Change = Callable[[str], str]


@cache
def _settled() -> re.Pattern[str]:
    """Compile it when a text that is not ASCII is first met: that takes 1 ms."""
    return re.compile(_SETTLED)


class Normal(NamedTuple):
    """Normalized text; character i came from `original[starts[i]:ends[i]]`."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def normalize(text: str) -> str:
    r"""Return NFKC text without soft hyphens, joiners and direction marks, apostrophes as `'`. Idempotent, linear.

    `"ex\u00adample \ufb01le"` gives `"example file"`.
    """
    if text.isascii() or _settled().fullmatch(text):
        return text
    kept = _tame(text.translate(_DROPPED))
    return unicodedata.normalize("NFKC", kept).translate(_APOSTROPHES)


def fold(text: str) -> str:
    """Normalize and fold case, so that texts which differ in case or in encoding alone become equal. Idempotent.

    `"STRASSE"` and `"Straße"` both give `"strasse"`.
    """
    if text.isascii():
        return text.lower()
    # Folding can undo composition and composition can undo folding; twice is enough for every code point.
    normal = normalize(text)
    folded = _fold_once(normal)
    return folded if folded == normal else _fold_once(folded)


def normalize_with_places(text: str) -> Normal:
    """Return the same text as `normalize`, and where in the original each of its characters stands."""
    return _with_places(normalize, text)


def fold_with_places(text: str) -> Normal:
    """Return the same text as `fold`, and where in the original each of its characters stands."""
    return _with_places(fold, text)


def _with_places(change: Change, text: str) -> Normal:
    if text.isascii() or _settled().fullmatch(text):
        return Normal(change(text), tuple(range(len(text))), tuple(range(1, len(text) + 1)))
    kept = [(place, character) for place, character in enumerate(text) if ord(character) not in _DROPPED]
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for unit in _units(change, _tame("".join(character for _, character in kept))):
        changed = change(unit)
        parts.append(changed)
        starts += [kept[at][0]] * len(changed)
        at += len(unit)
        ends += [kept[at - 1][0] + 1] * len(changed)
    return Normal("".join(parts), tuple(starts), tuple(ends))


def _fold_once(text: str) -> str:
    return unicodedata.normalize("NFKC", text.casefold()).translate(_APOSTROPHES)


def _tame(text: str) -> str:
    """Replace the marks of a run beyond the limit, which no language writes, one for one."""
    if len(text) <= MARKS_IN_A_ROW:
        return text
    defuse_tags: list[str] = []
    run = 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        defuse_tags.append(character if run <= MARKS_IN_A_ROW else "\ufffd")
    return "".join(defuse_tags)


def _units(change: Change, text: str) -> list[str]:
    """Cut text where changing the parts is changing the whole."""
    units: list[str] = []
    for character in text:
        if units and _touch(change, units[-1], character):
            units[-1] += character
        else:
            units.append(character)
    return units


def _touch(change: Change, left: str, right: str) -> bool:
    """Return whether two neighbors compose, as a letter and its accent do, or the letters of a Hangul syllable."""
    if right.isascii():
        return False
    alone = change(right)
    return unicodedata.combining(alone[0]) > 0 or change(left + right) != change(left) + alone
