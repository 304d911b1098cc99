"""Lines of a page become paragraphs, lists and tables; and a document's paragraphs are separated from its headings.

What the text of a page *is* depends on that page alone, so a place in it can be found again from the page; only which
paragraphs are headings depends on the rest of the document.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from twofold.domain.dataclass import dataclass
from twofold.domain.types import BlockKind
from twofold.ingest.readers.pdf.lines import Line
from twofold.ingest.readers.pdf.tables import Table, caption_lines, cells_of, has_figure, tables_of

_OPTION = r"-{1,2}[A-Za-z][\w#-]*"
_BULLET = re.compile(
    r"(?:[•●▪■◦‣∙·○❖➢✓–—-]|\*{1,3}|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)]"
    rf"|{_OPTION}(?:[, ]+{_OPTION}){{0,3}}\s*:)\s+\S"  # `-c, --connected: …` of a command's help
)
_SENTENCE_END = (".", "!", "?", ":", ";", "。")
_VALUE = r"[$€£(]*[-+]?\d[\d,.]*[)%]*|[—–-]|[$€£]|n/?a|NM"
_VALUES = re.compile(rf"(?:^|\s)(?:{_VALUE})(?:\s+(?:{_VALUE})){{1,40}}$")
_FIGURE_ENDS = (*"0123456789)%—–",)
_HYPHENS = ("-", "\u00ad", "\u2010")
_UNSPACED = re.compile("[\u3001-\u30ff\u3400-\u9fff\uff00-\uff60]")  # Chinese and Japanese write no blanks
_WORD = re.compile(r"[^\W\d_]+")
_ADDRESS = re.compile(r"\S@\S|https?://|\bwww\.")
_ROW = re.compile(rf"(?:\s(?:{_VALUE})){{3,40}}$")
_INTRODUCES = re.compile(r"\bfollowing\b|\bas follows\b|\w{3}\. \w|(?:\S+ ){16}", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()]*\)")

_MAX_LEVELS = 4
_TEXT_ROWS = 2  # with gaps, that lines without figures need more of to be a table
_LARGER = 1.12  # than the body: a heading by size
_SMALL_CAPITALS = 0.75  # of what a bold heading's size is at least: titles of statements in small print
_MAX_HEADING_LENGTH = 160
_WORD_IN_CAPITALS = 4  # letters of the longest word
_HEADER_GAP = 3.2  # times a line's height between a header line and what is below it


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A stretch of a page. `chars[i]` is the pdfium index of `text[i]`, or -1 where it was put in by us."""

    kind: BlockKind
    text: str
    chars: tuple[int, ...]
    size: float
    bold: bool
    header: str = ""


def paragraphs_of(lines: Sequence[Line]) -> list[Paragraph]:
    """Group a page's lines. A gap, a jump, a new font, a bullet or a short last line parts two paragraphs."""
    pitches = [one.bottom - two.bottom for one, two in pairwise(lines) if _follows(one, two)]
    pitch = median(pitches) if pitches else 0.0
    words = _vocabulary(lines)
    groups: list[list[Line]] = []
    for line in lines:
        if groups and _belongs(groups[-1], line, pitch):
            groups[-1].append(line)
        else:
            groups.append([line])
    return _parts(groups, words)


def _parts(groups: Sequence[list[Line]], words: frozenset[str]) -> list[Paragraph]:
    """Make paragraphs and tables; the last lines of a paragraph right above a table may be its header."""
    found: list[Paragraph] = []
    waiting: list[Line] = []
    table: Table | None = None
    for whole in groups:
        group = whole
        if not _is_table(group) and not _goes_on(table, group):
            found += _flow(waiting, words)
            waiting = group
            continue
        caption = caption_lines(group)
        if caption:
            found += _flow(waiting, words)
            waiting, group = group[:caption], group[caption:]
        above = _near(waiting, group[0])
        taken, tables = tables_of(group, above)
        found += _flow(waiting[: len(waiting) - taken], words)
        waiting = []
        for one in tables:
            header = one.header or (table.header if table and _same_columns(table, one) else "")
            found.append(Paragraph(BlockKind.TABLE, one.text, one.chars, _size(group), False, header))
            table = replace(one, header=header)
    return found + _flow(waiting, words)


def _flow(lines: Sequence[Line], words: frozenset[str]) -> list[Paragraph]:
    return [_paragraph(lines, words)] if lines else []


def _is_table(group: Sequence[Line]) -> bool:
    """Return whether lines are a table: two or more, half of them rows, and one of these with figures in cells."""
    group = group[caption_lines(group) :]
    return (
        len(group) > 1
        and sum(map(is_row, group)) * 2 >= len(group)
        and (any(has_figure(cells_of(line)) for line in group) or sum(line.columns > 0 for line in group) > _TEXT_ROWS)
    )


def _goes_on(table: Table | None, group: Sequence[Line]) -> bool:
    """Return whether a line alone is one more row of the table above it: a figure under each of its columns or most."""
    row = cells_of(group[0])
    if table is None or len(group) > 1 or not has_figure(row):
        return False
    return len(row) > 1 and all(any(cell.over(column) for column in table.columns) for cell in row[1:])


def _near(lines: Sequence[Line], below: Line) -> Sequence[Line]:
    """Return the last of some lines that stand right above another one, each above the next."""
    count = 0
    for line in reversed(lines):
        if line.turn != below.turn or not 0 < line.bottom - below.bottom < _HEADER_GAP * max(line.size, below.size):
            break
        count, below = count + 1, line
    return lines[len(lines) - count :]


def _same_columns(one: Table, other: Table) -> bool:
    """Return whether a table goes on below another: as many columns, each over its like."""
    return len(one.columns) == len(other.columns) > 0 and all(
        left < far and near < right for (left, right), (near, far) in zip(one.columns, other.columns, strict=True)
    )


def _size(group: Sequence[Line]) -> float:
    return median(line.size for line in group)


def _vocabulary(lines: Sequence[Line]) -> frozenset[str]:
    """Return the words of a page that are surely whole: halves next to a hyphen at the end of a line are not."""
    words: set[str] = set()
    broken = False
    for line in lines:
        found = [word.casefold() for word in _WORD.findall(line.text)]
        ends = line.text.endswith(_HYPHENS)
        words.update(found[1 if broken else 0 : -1 if ends else None])
        broken = ends
    return frozenset(words)


def _follows(one: Line, two: Line) -> bool:
    return one.turn == two.turn and 0 < one.bottom - two.bottom < 2.5 * max(one.size, two.size)


def is_row(line: Line) -> bool:
    """Return whether a line looks like a row of a table: wide gaps, or figures at its end."""
    if line.columns >= 1 and line.text.endswith(_FIGURE_ENDS):
        return True
    return line.columns > 1 or _VALUES.search(line.text) is not None


def _belongs(group: Sequence[Line], line: Line, pitch: float) -> bool:
    last = group[-1]
    if not _follows(last, line) or _BULLET.match(line.text):
        return False
    rows = is_row(last) or is_row(line)
    usual = max(pitch, 0.9 * last.size)
    if last.bottom - line.bottom > (1.9 if is_row(last) and is_row(line) else 1.3) * usual:
        return False
    if rows:
        return True
    if last.text.endswith(_HYPHENS) and line.text[0].islower():
        return True
    same_font = last.bold == line.bold and abs(last.size - line.size) < 0.1 * last.size
    return same_font and not _ended(group, line)


def _ended(group: Sequence[Line], line: Line) -> bool:
    """Return whether the last line closed its paragraph: a sentence ended early, or the next line is indented."""
    last = group[-1]
    if not last.text.endswith(_SENTENCE_END):
        return False
    width = max(other.right for other in (*group, line)) - min(other.left for other in (*group, line))
    indented = line.left - min(other.left for other in group) > 0.8 * line.size and len(group) > 1
    return indented or (last.right - last.left) < 0.7 * width


def _paragraph(group: Sequence[Line], words: frozenset[str]) -> Paragraph:
    size, bold = _size(group), all(line.bold for line in group)
    text, chars = _flowed(group, words)
    kind = BlockKind.LIST if _BULLET.match(text) else BlockKind.PARAGRAPH
    return Paragraph(kind, text, chars, size, bold)


def _flowed(group: Sequence[Line], words: frozenset[str]) -> tuple[str, tuple[int, ...]]:
    text = group[0].text
    chars = list(group[0].chars)
    for line in group[1:]:
        cut, glue = _seam(text, line.text, words)
        text = text[: len(text) - cut] + glue + line.text
        chars = [*chars[: len(chars) - cut], *([-1] * len(glue)), *line.chars]
    return text, tuple(chars)


def _seam(before: str, after: str, words: frozenset[str]) -> tuple[int, str]:
    """Return how many characters go from the end of a line and what comes instead, before the next line.

    A hyphen between two lower-case halves goes when the page has the whole word elsewhere, or has not both halves as
    words of their own: `repre-` + `sentation` is one word, `long-` + `term` keeps its hyphen where both occur.
    """
    if _UNSPACED.match(before[-1]) and _UNSPACED.match(after):
        return 0, ""
    if not before.endswith(_HYPHENS) or not before[-2:-1].isalnum() or not after[:1].isalnum():
        return 0, " "
    if before.endswith("\u00ad"):
        return 1, ""
    left, right = _last_word(before[:-1]), _first_word(after)
    if not left or not after[0].islower() or not left[-1].islower():
        return 0, ""
    whole = (left + right).casefold() in words
    halves = len(right) > 2 and left.casefold() in words and right.casefold() in words  # noqa: PLR2004
    compound = before[: -len(left) - 1].endswith(_HYPHENS)
    return (1, "") if whole or not (_stands_alone(halves, left) or compound) else (0, "")


def _stands_alone(halves: bool, left: str) -> bool:  # noqa: FBT001
    return halves or left.casefold() in ("self", "non", "well", "long", "short", "high", "low")


def _last_word(text: str) -> str:
    found = re.search(r"[^\W\d_]+$", text[-64:])
    return found.group() if found else ""


def _first_word(text: str) -> str:
    found = _WORD.match(text[:64])
    return found.group() if found else ""


def heading_levels(pages: Iterable[Sequence[Paragraph]]) -> dict[tuple[int, int], int]:
    """Return the headings: (page from 0, index on it) to level from 1, the largest font highest.

    The body's size is the one of most characters outside of tables, whose small print would make headings of prose. A
    heading is short, no sentence, and larger than the body; or alone on its line, bold and as large as most characters,
    those of tables too, or in capitals. What stands on many pages (a running title) is not a heading.
    """
    every = [(page, index, part) for page, parts in enumerate(pages) for index, part in enumerate(parts)]
    body = _usual_size([part for _, _, part in every if part.kind is not BlockKind.TABLE])
    least = 0.9 * min(body, _usual_size([part for _, _, part in every]))
    candidates = [(page, index, part) for page, index, part in every if _may_be_heading(part, body, least)]
    repeated = Counter(_without_figures(part.text) for _, _, part in candidates)
    count = 1 + max((page for page, _, _ in every), default=0)
    kept = [entry for entry in candidates if repeated[_without_figures(entry[2].text)] <= max(3, 0.1 * count)]
    sizes = sorted({_rounded(part.size) for _, _, part in kept if part.size >= _LARGER * body}, reverse=True)
    level_of = {size: min(rank, _MAX_LEVELS) for rank, size in enumerate(sizes, start=1)}
    lowest = max(level_of.values(), default=0) + 1
    return {(page, index): level_of.get(_rounded(part.size), lowest) for page, index, part in kept}


def _usual_size(parts: Iterable[Paragraph]) -> float:
    weights: Counter[float] = Counter()
    for part in parts:
        weights[_rounded(part.size)] += len(part.text)
    return weights.most_common(1)[0][0] if weights else 0.0


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _without_figures(text: str) -> str:
    return re.sub(r"\d+", "0", text).casefold()


def _may_be_heading(part: Paragraph, body: float, least: float) -> bool:
    if part.kind is BlockKind.TABLE or len(part.text) > _MAX_HEADING_LENGTH or not _names_something(part.text):
        return False
    numbered_or_plain = part.kind is BlockKind.PARAGRAPH or part.text[0].isdigit()
    if not numbered_or_plain:
        return False
    if part.size >= _LARGER * body or (part.bold and part.size >= least):
        return True
    return part.size >= _SMALL_CAPITALS * least and _in_capitals(part.text)


def _names_something(text: str) -> bool:
    """Return whether a line may be a name: no sentence or part of one, no address, no row of figures.

    What introduces a list or table, "The following table shows key figures of the regions:", names only what comes
    next, and as a heading it would stand above all that follows.
    """
    if not re.search(r"[^\W\d_]{2}", text) or text.endswith((".", ",", ";")) or text[0].islower():
        return False
    return not (_ADDRESS.search(text) or _ROW.search(text) or (text.endswith(":") and _INTRODUCES.search(text)))


def _in_capitals(text: str) -> bool:
    """Return whether several words are in capitals, but for what is in brackets: "BALANCE SHEETS (In thousands)"."""
    words = _WORD.findall(_BRACKETS.sub("", text))
    long = max(map(len, words), default=0) >= _WORD_IN_CAPITALS
    return long and len(words) > 1 and all(map(str.isupper, words)) and "_" not in text
