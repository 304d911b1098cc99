"""From what was recognized on a picture to lines in reading order, as those of a PDF, and the places of its words.

Text that stands in columns is read column by column; cells side by side become rows. Lines that run up or down the page
are turned, so that their text runs to the right.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from twofold.domain.dataclass import dataclass
from twofold.domain.types import PageWords
from twofold.ingest.readers.ocr.engine import Box, FoundLine
from twofold.ingest.readers.pdf.lines import Gap, Line, noted, rotated
from twofold.ingest.readers.pdf.stacked import by_baseline

SCALE = 10_000
"""Boxes of words are counted in ten-thousandths of the page's width and height."""
_TALL = 1.5  # times its width: a line of more than two characters that runs up or down
_SAME_SIZE = 1.25  # times the usual height of lines: the letters are as large as the others, as far as boxes tell
_SAME_ROW = 0.45  # of a line's height
_COLUMN_LINES = 4  # that each of two columns has at least
_COLUMN_CHARACTERS = 20  # that half of the lines of each column have at least; shorter ones are cells


@dataclass(frozen=True, slots=True)
class Scale:
    """A picture's size in pixels, and its page's in points."""

    pixels: tuple[int, int]
    points: tuple[float, float]

    def in_points(self, box: Box) -> Box:
        """Return a box as left, bottom, right and top in points from the lower left corner."""
        across, down = self.points[0] / self.pixels[0], self.points[1] / self.pixels[1]
        left, top, right, bottom = box
        return (left * across, (self.pixels[1] - bottom) * down, right * across, (self.pixels[1] - top) * down)


def words_of(number: int, found: Sequence[FoundLine], scale: Scale) -> PageWords:
    """Return the words of page `number`, counted from 1, and where each stands on it."""
    turn = next(iter(_turns(found)), 0)
    if turn % 2:
        found = sorted(found, key=lambda line: -rotated(scale.in_points(line.box), turn)[1])
    words = [one for line in found for one in (line.words or ((line.text, line.box),))]
    wide, high = scale.pixels
    boxes = tuple(
        (_part(left, wide), _part(top, high), _part(right, wide), _part(bottom, high))
        for _, (left, top, right, bottom) in words
    )
    return PageWords(number, tuple(word for word, _ in words), boxes)


def _part(at: float, whole: int) -> int:
    return round(min(max(at / whole, 0.0), 1.0) * SCALE)


def lines_on(found: Sequence[FoundLine], scale: Scale) -> list[Line]:
    """Return lines in reading order: those that run to the right first, unless most of the text runs otherwise."""
    made: list[Line] = []
    for turn in _turns(found):
        made += in_order(_sized([_line(line, turn, scale) for line in found if _turn_of(line) == turn]))
    return made


def _turns(found: Sequence[FoundLine]) -> list[int]:
    """Return the turns of a picture's lines, the one of most characters first."""
    weights: Counter[int] = Counter()
    for line in found:
        weights[_turn_of(line)] += len(line.text)
    return [turn for turn, _ in weights.most_common()]


def _turn_of(line: FoundLine) -> int:
    """Return how many quarters a line is turned clockwise; the recognizer takes text that runs down, not up."""
    left, top, right, bottom = line.box
    down = len(line.text) > 2 and bottom - top >= _TALL * (right - left)  # noqa: PLR2004
    return down + 2 * line.upside_down


def _line(found: FoundLine, turn: int, scale: Scale) -> Line:
    left, bottom, right, top = rotated(scale.in_points(found.box), turn)
    size = top - bottom
    gaps = tuple(_gaps(found, turn, scale, size))
    return Line(found.text, (-1,) * len(found.text), left, bottom, right, top, size, turn, bold=False, gaps=gaps)


def _gaps(found: FoundLine, turn: int, scale: Scale, size: float) -> Iterator[Gap]:
    """Yield the wide gaps between the words of a line; words are found in its text one after the other."""
    at, before = 0, None
    for word, box in found.words:
        start = found.text.find(word, at)
        if start < 0:
            return
        left, _, right, _ = rotated(scale.in_points(box), turn)
        if before is not None and size > 0 and noted(width := (left - before) / size):
            yield Gap(start, before, left, width)
        at, before = start + len(word), right


def _sized(lines: Sequence[Line]) -> list[Line]:
    """Return lines, those of about the usual height with the usual size: a box is as high as the letters in it."""
    usual = median(line.size for line in lines) if lines else 0.0
    return [
        replace(line, size=usual) if usual / _SAME_SIZE <= line.size <= usual * _SAME_SIZE else line for line in lines
    ]


def in_order(lines: Sequence[Line]) -> list[Line]:
    """Return lines in reading order: what is above two columns, the left one, the right one, what is below."""
    down = sorted(lines, key=lambda line: (-(line.bottom + line.top), line.left))
    columns = _columns(down)
    if columns is None:
        return by_baseline(down)
    first, last, edge = columns
    left = [line for line in down[first:last] if line.right <= edge]
    right = [line for line in down[first:last] if line.right > edge]
    return [*in_order(down[:first]), *in_order(left), *in_order(right), *in_order(down[last:])]


def _columns(down: Sequence[Line]) -> tuple[int, int, float] | None:
    """Return the longest run of lines that stand in two columns, and the edge between them; None without any."""
    best: tuple[int, int, float] | None = None
    for edge in _edges(down):
        for first, last in _runs(down, edge):
            longer = best is None or last - first > best[1] - best[0]
            if longer and all(_is_column(side) for side in _sides(down[first:last], edge)):
                best = (first, last, edge)
    return best


def _edges(lines: Sequence[Line]) -> list[float]:
    """Return where a right column may begin: just left of where several lines begin."""
    starts = Counter(round(line.left / max(line.size, 1.0)) for line in lines)
    near = {start for start, count in starts.items() if count >= _COLUMN_LINES}
    lefts = [line.left for line in lines if round(line.left / max(line.size, 1.0)) in near]
    return sorted({round(left - 0.3 * median(line.size for line in lines), 1) for left in lefts})[1:]


def _runs(down: Sequence[Line], edge: float) -> Iterator[tuple[int, int]]:
    """Yield the stretches of lines that do not cross an edge, and are no cells side by side on one side of it."""
    first = 0
    for at, line in enumerate(down):
        if line.left < edge < line.right or any(
            _are_cells(line, other, edge) for other in down[max(at - 1, 0) : at + 2] if other is not line
        ):
            yield first, at
            first = at + 1
    yield first, len(down)


def _are_cells(one: Line, other: Line, edge: float) -> bool:
    same_row = abs(one.bottom - other.bottom) <= _SAME_ROW * one.size
    return same_row and (one.right <= edge) == (other.right <= edge)


def _sides(lines: Sequence[Line], edge: float) -> tuple[list[Line], list[Line]]:
    return [line for line in lines if line.right <= edge], [line for line in lines if line.right > edge]


def _is_column(lines: Sequence[Line]) -> bool:
    return len(lines) >= _COLUMN_LINES and median(len(line.text) for line in lines) >= _COLUMN_CHARACTERS
