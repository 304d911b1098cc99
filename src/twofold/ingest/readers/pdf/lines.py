"""What stands on a PDF page: lines of characters, each with its place on the page and its index in pdfium.

pdfium gives the characters in the order of the page's content, with line ends where the baseline moves. Here each
line gets its text, its box and its font, and lines that stand side by side on one baseline, such as the cells of a
table row, become one. Nothing here knows of paragraphs or documents. pdfium serves one thread at a time.
"""

import ctypes
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Any

from twofold.domain.dataclass import dataclass

_BOLD = re.compile(rb"bold|black|heavy|semibd|demi|-bd", re.IGNORECASE)
_SWAPPED_LAM_ALEF = re.compile("[\u0622\u0623\u0625\u0627]\u0644")
_BOLD_WEIGHT = 600
_HYPHEN = 0x02  # what pdfium says for a hyphen at the end of a line; no line end follows it
_LINE_FEED = 0x0A
_FIRST_HALF, _SECOND_HALF = 0xD800 >> 10, 0xDC00 >> 10  # of a UTF-16 pair, by their upper six bits
_SIDE_BY_SIDE = 0.6  # of the lower line's height that two lines must share to be one row
_NEAR = 2.5  # times the line's height: lines this near follow each other
WIDE = 1.3  # times the line's height: a gap this wide parts columns, not words
_NOTED = 0.5  # times the line's height: wider than blanks between words mostly are


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap before `text[at]`: from where to where it reaches, and its width in times the line's height."""

    at: int
    left: float
    right: float
    width: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it stands. `chars[i]` is the pdfium index of `text[i]`, or -1 where it was put in by us.

    The box is in PDF points, turned so that text runs to the right. `size` is the height of its letters' boxes,
    about 1.15 times the font's size; `gaps` are those wider than blanks mostly are.
    """

    text: str
    chars: tuple[int, ...]
    left: float
    bottom: float
    right: float
    top: float
    size: float
    turn: int
    bold: bool
    gaps: tuple[Gap, ...]

    @property
    def columns(self) -> int:
        """How many gaps are wide enough to part columns."""
        return sum(gap.width > WIDE for gap in self.gaps)


def noted(width: float) -> bool:
    """Return whether a gap, in times its line's height, is wider than blanks mostly are."""
    return width > _NOTED


def rotated(box: tuple[float, float, float, float], turn: int) -> tuple[float, float, float, float]:
    """Return a box (left, bottom, right, top) turned back by quarters, so that its text runs to the right."""
    left, bottom, right, top = box
    match turn:
        case 1:
            return (-top, left, -bottom, right)
        case 2:
            return (-right, -top, -left, -bottom)
        case 3:
            return (bottom, -right, top, -left)
        case _:
            return box


class PageText:
    """An open text page: pdfium's raw calls, behind the few questions that are asked here."""

    def __init__(self, raw: Any, handle: Any) -> None:  # noqa: ANN401 pdfium has no types
        self._raw = raw
        self._handle = handle
        self._rectangle = raw.FS_RECTF()
        self._pointer = ctypes.byref(self._rectangle)

    def units(self) -> list[int]:
        """Return every character's UTF-16 unit, by pdfium's index."""
        unicode_of, handle = self._raw.FPDFText_GetUnicode, self._handle
        return [unicode_of(handle, index) for index in range(max(self._raw.FPDFText_CountChars(handle), 0))]

    def box(self, index: int) -> tuple[float, float, float, float]:
        """Return a character's box as left, bottom, right, top in PDF points, as high as its font."""
        if not self._raw.FPDFText_GetLooseCharBox(self._handle, index, self._pointer):
            return (0.0, 0.0, 0.0, 0.0)
        found = self._rectangle
        left, right = sorted((found.left, found.right))
        bottom, top = sorted((found.bottom, found.top))
        return (left, bottom, right, top)

    def rotated_box(self, index: int, turn: int) -> tuple[float, float, float, float]:
        """Return a character's box on the page turned back by `turn` quarters, so that its text runs to the right."""
        return rotated(self.box(index), turn)

    def turn(self, index: int) -> int:
        """Return how many quarters a character is turned clockwise on the page."""
        angle = self._raw.FPDFText_GetCharAngle(self._handle, index)
        return round(angle / 1.5707963) % 4 if angle >= 0 else 0

    def is_bold(self, index: int) -> bool:
        """Return whether a character's font is a bold one, by its weight or its name."""
        if self._raw.FPDFText_GetFontWeight(self._handle, index) >= _BOLD_WEIGHT:
            return True
        name = ctypes.create_string_buffer(128)
        self._raw.FPDFText_GetFontInfo(self._handle, index, name, 128, None)
        return _BOLD.search(name.value) is not None


def lines_of(page: PageText) -> list[Line]:
    """Return a page's lines in reading order, those on one baseline as one."""
    lines: list[Line] = []
    for text, chars in _split(page.units()):
        line = _placed(page, text, chars)
        if line is None:
            continue
        if lines and _beside(lines[-1], line):
            lines[-1] = joined(lines[-1], line)
        else:
            lines.append(line)
    return lines if _run_down(lines) else lines[::-1]


def _run_down(lines: Sequence[Line]) -> bool:
    """Return whether lines mostly follow each other down the page: pdfium gives text turned clockwise backwards."""
    steps = [
        one.bottom - two.bottom
        for one, two in pairwise(lines)
        if one.turn == two.turn and abs(one.bottom - two.bottom) < _NEAR * max(one.size, two.size)
    ]
    return sum(step > 0 for step in steps) >= sum(step < 0 for step in steps)


def _split(units: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """Cut pdfium's characters at its line ends. The hyphen that it marks is a hyphen and a line end."""
    text: list[str] = []
    chars: list[int] = []
    for index, unit in enumerate(units):
        if unit in (_LINE_FEED, _HYPHEN):
            if unit == _HYPHEN:
                text.append("-")
                chars.append(index)
            yield "".join(text), chars
            text, chars = [], []
            continue
        shown = _shown(units, index, unit)
        text.append(shown)
        chars.extend([index] * len(shown))
    yield "".join(text), chars


def _shown(units: Sequence[int], index: int, unit: int) -> str:
    """Return the characters that stand for one UTF-16 unit: none for NUL, CR and the second half of a pair."""
    if 0x20 <= unit < 0x7F or 0xA0 < unit < 0xD800:  # noqa: PLR2004 by far the most
        return chr(unit)
    if unit in (0, 0x0D):
        return ""
    if 0xD800 <= unit < 0xE000:  # noqa: PLR2004
        return _surrogate(units, index, unit)
    if unit <= 0x7F or unit in (0xA0, 0xFFFE, 0xFFFF) or unit > sys.maxunicode:  # noqa: PLR2004
        return " "
    if unit < 0xA0 or 0xF000 <= unit <= 0xF0FF:  # noqa: PLR2004 a sign of a symbol font, nearly always a bullet
        return "•"
    return unicodedata.normalize("NFKC", chr(unit)) if 0xFB00 <= unit <= 0xFB06 else chr(unit)  # noqa: PLR2004


def _surrogate(units: Sequence[int], index: int, unit: int) -> str:
    """Return the character of a pair at its first half; a half alone is U+FFFD."""
    if unit >> 10 == _FIRST_HALF:
        following = units[index + 1] if index + 1 < len(units) else 0
        whole = 0x10000 + ((unit & 0x3FF) << 10) + (following & 0x3FF)
        return chr(whole) if following >> 10 == _SECOND_HALF else "\ufffd"
    return "" if index and units[index - 1] >> 10 == _FIRST_HALF else "\ufffd"


def _placed(page: PageText, text: str, chars: Sequence[int]) -> Line | None:
    """Trim a line and find its place; None for one of white space alone."""
    start = len(text) - len(text.lstrip())
    body = text.strip()
    if not body:
        return None
    kept = tuple(chars[start : start + len(body)])
    body = _with_ligatures_in_order(page, body, kept)
    turn = page.turn(kept[0])
    samples = [page.rotated_box(kept[len(kept) * part // 4], turn) for part in range(4)]
    samples.append(page.rotated_box(kept[-1], turn))
    lefts, bottoms, rights, tops = zip(*samples, strict=True)
    size = median(top - bottom for _, bottom, _, top in samples)
    bold = page.is_bold(kept[len(kept) // 2]) and page.is_bold(kept[-1])
    gaps = tuple(_gaps(page, body, kept, turn))
    return Line(body, kept, min(lefts), median(bottoms), max(rights), median(tops), size, turn, bold, gaps)


def _with_ligatures_in_order(page: PageText, text: str, chars: Sequence[int]) -> str:
    """Put the two letters of an Arabic lam-alef ligature in order: pdfium gives them swapped, in the same box."""
    for found in _SWAPPED_LAM_ALEF.finditer(text):
        at = found.start()
        if page.box(chars[at]) == page.box(chars[at + 1]):
            text = f"{text[:at]}{text[at + 1]}{text[at]}{text[at + 2 :]}"
    return text


def _gaps(page: PageText, text: str, chars: Sequence[int], turn: int) -> Iterator[Gap]:
    for blank in re.finditer(r"\s+", text):
        before = page.rotated_box(chars[blank.start() - 1], turn)
        after = page.rotated_box(chars[blank.end()], turn)
        height = before[3] - before[1]
        if after[0] - before[2] > _NOTED * height > 0:
            yield Gap(blank.end(), before[2], after[0], (after[0] - before[2]) / height)


def _beside(one: Line, other: Line) -> bool:
    """Return whether `other` stands to the right of `one` in the same row."""
    shared = min(one.top, other.top) - max(one.bottom, other.bottom)
    return (
        one.turn == other.turn
        and other.left >= one.right - 0.3 * one.size
        and shared > _SIDE_BY_SIDE * min(one.size, other.size)
    )


def joined(one: Line, other: Line) -> Line:
    """Make one line of two that stand side by side."""
    width = (other.left - one.right) / one.size if one.size > 0 else 0.0
    shift = len(one.text) + 1
    seam = [Gap(shift, one.right, other.left, width)] if width > _NOTED else []
    moved = [replace(gap, at=gap.at + shift) for gap in other.gaps]
    return Line(
        f"{one.text} {other.text}",
        (*one.chars, -1, *other.chars),
        one.left,
        min(one.bottom, other.bottom),
        other.right,
        max(one.top, other.top),
        max(one.size, other.size),
        one.turn,
        one.bold and other.bold,
        (*one.gaps, *seam, *moved),
    )
