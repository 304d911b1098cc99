r"""Where sentences end, in any script that marks it, in time linear in the text.

The rule is small and knows no language:

- The full stop of Chinese and Japanese, with its exclamation and question marks, and the like of Devanagari, Arabic,
  Urdu, Armenian, Ethiopic, Burmese and Khmer end a sentence wherever they stand.
- `.`, `!`, `?` and `…` end one where white space follows, after closing quotes and brackets.
- A single `.` does not end one after a known abbreviation ("Dr.", "vgl."; "No.", "Fig." before a number), after a
  single letter ("J. Smith", "e.g.", "U.S.") or after a number that opens a line ("1. First").
- None of these end one before a small letter ("approx. five"), unless the text's first 2000 mostly begin small.

It does not know where a paragraph or a line ends; blocks are for that.
"""

import re
from collections.abc import Sequence

_CLOSING = r"[\"'”’»›)\]}」』）】》〉]"  # noqa: RUF001
_ANYWHERE = "。！？｡।॥؟۔።։။។"  # noqa: RUF001
_SPACED = ".!?…"
# It begins with one set of characters, which `re` skips to at once; every quantifier is possessive, so that no
# character is looked at twice.
_END = re.compile(
    rf"[{_ANYWHERE}{_SPACED}](?:(?<=[{_ANYWHERE}])[{_ANYWHERE}]*+|(?<=[{_SPACED}])[{_SPACED}]*+){_CLOSING}*+"
)

_MAX_ABBREVIATION_LENGTH = 10
_SAMPLE = 2000
_OPENING = "\"'“‘«‹([{¿¡—–-*_"  # noqa: RUF001

# English; German; French, Spanish, Italian, Portuguese, Dutch. No word that is as likely to end a sentence.
_NEVER_LAST = """
    mr mrs ms dr prof rev hon gen col capt lt sgt jr sr st mt messrs vs eg ie cf viz al approx ca dept univ ph.d
    bzw evtl ggf inkl exkl zzgl hrsg vgl dipl
    mme mlle env sra srta dra dott avv exmo bijv
"""
_BEFORE_NUMBERS = """
    no nos nr fig figs eq eqs sec secs ch chap chs vol vols pp pt pts art arts p par ex
    abb bd kap abs str tel
    pág págs núm ud blz
"""
_ABBREVIATIONS = frozenset(_NEVER_LAST.split())
_NUMBERED = frozenset(_BEFORE_NUMBERS.split())


def sentence_ends(text: str) -> list[int]:
    """Return the offset right behind each sentence's last character, rising; the end of the text itself is not in it.

    `"Dr. No came. He left."` gives [12]: the text's own end at 21 needs no mark.
    """
    ends: list[int] = []
    spaced: list[tuple[re.Match[str], str]] = []
    letters: list[str] = []
    for number, found in enumerate(_END.finditer(text)):
        end = found.end()
        if end == len(text):
            break
        letter = _next_letter(text, end) if text[end].isspace() else None
        if letter is not None and number < _SAMPLE:
            letters.append(letter)
        if text[found.start()] in _ANYWHERE:
            ends.append(end)
        elif letter is not None:
            spaced.append((found, letter))
    starts_small = _starts_small(letters)
    for found, letter in spaced:
        if (starts_small or not letter.islower()) and not (found[0] == "." and _is_abbreviated(text, found.start())):
            ends.append(found.end())
    return sorted(ends)


def _is_abbreviated(text: str, stop: int) -> bool:
    """Return whether the full stop at `stop` belongs to the word before it."""
    before = text[max(0, stop - _MAX_ABBREVIATION_LENGTH - 1) : stop]
    word = next(iter(reversed(before.split())), "").lstrip(_OPENING)
    if not word or before[-1:].isspace():
        return False
    if word.isdecimal():
        return _opens_line(text, stop - len(word))
    if word.lower() in _NUMBERED:
        return _next_letter(text, stop + 1).isdecimal()
    return word.lower() in _ABBREVIATIONS or (len(word.rsplit(".", 1)[-1]) == 1 and word[-1].isalpha())


def _opens_line(text: str, start: int) -> bool:
    """Return whether only a little white space stands between the start of a line and `start`."""
    before = text[max(0, start - _MAX_ABBREVIATION_LENGTH) : start].rstrip(" \t")
    return start == 0 or before.endswith("\n") or (not before and start <= _MAX_ABBREVIATION_LENGTH)


def _next_letter(text: str, start: int) -> str:
    """Return the first character of the next sentence, past white space and opening marks; '' when none is near."""
    return text[start : start + 16].lstrip().lstrip(_OPENING)[:1]


def _starts_small(letters: Sequence[str]) -> bool:
    """Return whether more of a text's first sentences start with a small letter than with a capital, as in chats."""
    return sum(map(str.islower, letters)) > sum(map(str.isupper, letters))
