"""Chosen sentences made complete: a row with its header row, an item with what introduces its list, code as a whole.

A passage holds no marks of what its lines are, so this goes by how they are written: cells parted by bars, bullets
below a line that ends in a colon, lines that begin with a prompt or are indented between blank ones, and entries: a
name on a line of its own (`deadlock_timeout (integer)`, `-n`, `--dry-run`) with indented lines below it. A sentence
within an entry ("The default is one second.") says something only with the name and the sentence that explains it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from twofold.answer.sentences import SentenceUnit
from twofold.answer.types import Part, Source
from twofold.domain.dataclass import dataclass
from twofold.ingest.chunking.sentences import sentence_ends

Span = tuple[int, int]

QUESTION_MARKS = ("?", "\uff1f", "\u061f")
CLOSING = " \t*_#`\"')\u201d\u2019"
_BAR = " | "
_LONGEST_INTRODUCTION = 320
_LONGEST_ENTRY = 400
_LONGEST_QUESTION = 200
_LEAST_INDENT = 2
_LEAST_WORDS = 5  # of what introduces something without a colon: headings are shorter or have a mark
_LONGEST_CODE = 1_200
_LONGEST_LIST = 500
_LONGEST_NAME = 48
_LONGEST_SETTING = 80
_LEAST_WRAPPED = 50  # characters of a line that goes on in the next one
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[^`\n]*$", re.MULTILINE)
_CODE_SHARE = 0.5
_ITEM = re.compile(r"[ \t]*(?:[-*+\u2022\u2013]|\(?\d{1,3}[.)])[ \t]+")
_CODE = re.compile(
    r"[ \t]*(?:[$>#%] |\w+@|[\w./-]+ -{1,2}\w|[\w.]+ ?= ?\S|set \w|(?:sudo|git|borg|SELECT|INSERT|CREATE) )|[ \t]{4,}\S"
)
_REFERS = re.compile(
    r"(?:(?:if|when|while|since|because|in|for|with|after|before|then|so|thus|however|but|also|and|by|to)\b,? "
    r"(?:(?:the|a|an) )?(?:\w+ ){0,3}?)?(?:this|these|those|it|they|such|that|he|she|its|their|them)\b",
    re.IGNORECASE,
)
"""A sentence that begins with a pronoun, perhaps within its first clause: "If the script exits with this code"."""

_EXPLETIVE = re.compile(r"it(?: is|'s|\u2019s| was| can be| may be| seems)\b[^.]{0,60}?\b(?:to|that)\b", re.IGNORECASE)
_FIELD = re.compile(r"[ \t]+(?!Default)[A-Z][\w ]{1,20}: [^\n]*(?<![.!?:])\n")
_RULE = re.compile(r"[\s|:-]+")
_LEADS_ON = re.compile(r"(?::|\be\.g\.|\bi\.e\.)$")
_FIGURE = re.compile(r"\d")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}(?=,)")


@dataclass(frozen=True, slots=True)
class Complete:
    """Something to show: stretches of a source's document.

    `table` names the table that rows are of, by its place; `header` is its header row where that is in another passage.
    `keeps_lines` is for code and lists, which are shown line by line.
    """

    source: int
    spans: tuple[Span, ...]
    table: tuple[int, int] | None = None
    header: str = ""
    keeps_lines: bool = False


def completed(
    units: Sequence[SentenceUnit],
    sources: Mapping[int, Source],
    led: frozenset[int] = frozenset(),
    *,
    lists: bool = False,
) -> tuple[Complete, ...]:
    """Make chosen sentences complete; rows of one table become one, and nothing is shown twice.

    `led` are those, by their place in the sources, that come with the sentence before them. With `lists` an item of a
    short list comes with the others.
    """
    made: list[Complete] = []
    for unit in units:
        whole = _whole(unit, sources[unit.source], led=unit.order in led, lists=lists)
        shown = [span for one in made if _same_document(one, unit, sources) for span in one.spans]
        if any(start <= unit.start < end for start, end in shown):
            continue
        same = next((at for at, one in enumerate(made) if one.table == whole.table is not None), None)
        if same is None:
            made.append(replace(whole, spans=tuple(_unseen(whole.spans, shown))))
        else:
            made[same] = replace(made[same], spans=(*made[same].spans, whole.spans[-1]))
    return tuple(made)


def _same_document(one: Complete, unit: SentenceUnit, sources: Mapping[int, Source]) -> bool:
    here, there = sources[one.source], sources[unit.source]
    return (here.collection, here.document) == (there.collection, there.document)


def _unseen(spans: Sequence[Span], shown: Sequence[Span]) -> Iterator[Span]:
    """Return what of some stretches is not shown yet; passages that overlap show the same text only once."""
    for start, end in spans:
        first, last = start, end
        for before, after in sorted(shown):
            if before <= first < after:
                first = after
            elif first < before < last <= after:
                last = before
        if first < last:
            yield first, last


@dataclass(frozen=True, slots=True)
class Lead:
    """What leads a sentence: its words, and whether it is the sentence before it and no more, or a question above."""

    text: str = ""
    is_neighbor: bool = False
    is_question: bool = False


def lead_of(unit: SentenceUnit, source: Source) -> Lead:
    r"""Return what a sentence is read with: its header row, its entry's name, its list's introduction, or its neighbor.

    >>> text = "fsync (boolean)\n  Flushes to disk. It costs time. The default is on."
    >>> from twofold.answer.types import Part
    >>> source = Source(1, text, (Part(0, len(text), 0, "a_0"),), "a", "a.html")
    >>> lead_of(SentenceUnit(1, 2, 48, 66, text[48:66]), source)
    Lead(text='fsync (boolean) Flushes to disk.', is_neighbor=False)
    """
    part, text, start, end = _placed(unit, source)
    if part is None:
        return Lead()
    if _BAR in text[start:end]:
        _, header = _header_of(text, start)
        return Lead(" ".join(text[one:two] for one, two in header) or part.header)
    spans = _entry(text, start) or _introduction(text, start)
    above = [] if spans else _question_above(text, start)
    near = [] if spans or above else _sentence_before(text, start)
    words = " ".join(" ".join(text[one:two].split()) for one, two in (*spans, *above, *near))
    return Lead(words, bool(near), bool(above))


def asks(unit: SentenceUnit, source: Source) -> bool:
    """Return whether a sentence is part of a question: its paragraph, if that is short, ends in a question mark.

    "It did not get any smaller. Is this a bug?" asks, all of it.
    """
    part, text, start, end = _placed(unit, source)
    if part is None:
        return unit.text.rstrip(CLOSING).endswith(QUESTION_MARKS)
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    line = text[first : last if last >= 0 else len(text)].rstrip(CLOSING)
    return (line if len(line) <= _LONGEST_QUESTION else text[start:end].rstrip(CLOSING)).endswith(QUESTION_MARKS)


def _question_above(text: str, start: int) -> list[Span]:
    """Return where the question stands that the paragraph of a sentence follows, as in a list of questions."""
    begin = text.rfind("\n\n", 0, start)
    if begin < 0:
        return []
    first = max(text.rfind("\n", 0, begin) + 1, 0)
    line = text[first:begin].rstrip()
    is_question = line.endswith(QUESTION_MARKS) and len(line) <= _LONGEST_QUESTION
    return [(first, first + len(line))] if is_question else []


def _placed(unit: SentenceUnit, source: Source) -> tuple[Part | None, str, int, int]:
    """Return the part of a source that holds a unit, its text, and where in that the unit stands."""
    part = next((one for one in source.parts if one.start <= unit.start and unit.end <= one.end), None)
    if part is None:
        return None, "", 0, 0
    text = source.text[part.at : part.at + part.end - part.start]
    return part, text, unit.start - part.start, unit.end - part.start


def _whole(unit: SentenceUnit, source: Source, *, led: bool, lists: bool) -> Complete:
    own = (unit.start, unit.end)
    part, text, start, end = _placed(unit, source)
    if part is None:
        return Complete(unit.source, (own,))
    if _BAR in text[start:end]:
        top, header = _header_of(text, start)
        spans = (*_offset_spans(header, part), own)
        return Complete(unit.source, spans, (unit.source, part.start + top), "" if header else part.header)
    code = _code_around(text, start, end)
    if code:
        above = _introduction_of_code(text, code)
        return Complete(unit.source, _offset_spans([*above, code], part), keeps_lines=True)
    above = _introduction(text, start)
    items = _short_list(text, above[0][1], end) if lists and above else []
    if items:
        return Complete(unit.source, _offset_spans([*above, *items], part), keeps_lines=True)
    before = _entry(text, start) or above or _antecedent(text, start, end, led=led)
    below = _introduced(text, start, end)
    spans = (*_offset_spans(before, part), own, *_offset_spans(below, part))
    return Complete(unit.source, spans, keeps_lines=bool(below))


def heads_table(unit: SentenceUnit, source: Source) -> bool:
    """Return whether a unit is a table's header row, which says nothing without a row."""
    part = next((one for one in source.parts if one.start <= unit.start and unit.end <= one.end), None)
    if part is None or _BAR not in unit.text:
        return False
    text = source.text[part.at : part.at + part.end - part.start]
    below = text.find("\n", unit.end - part.start) + 1
    if not below or _BAR not in text[below:].partition("\n")[0]:
        return False
    _, header = _header_of(text, below)
    return bool(header) and header[0][0] <= unit.start - part.start < header[0][1]


def _antecedent(text: str, start: int, end: int, *, led: bool) -> list[Span]:
    """Return where the sentence before stands, of the same paragraph, where this one begins with what it speaks of.

    With `led` it is wanted in any case.
    """
    return _sentence_before(text, start) if led or _refers(text, start, end) else []


def _sentence_before(text: str, start: int) -> list[Span]:
    """Return where the sentence before stands, and the one before that where it speaks of that one."""
    before = text[:start].rstrip()
    paragraph = _paragraph(text, start)
    if not before.endswith((".", "!", "?")) or len(before) <= paragraph:
        return []
    starts = _sentence_starts(text, paragraph, len(before))
    first = starts[-1]
    if len(starts) > 1 and _refers(text, first, len(before)):
        first = starts[-2]
    first += _bullet(before, first)
    return [(first, len(before))] if 0 < len(before) - first <= _LONGEST_INTRODUCTION else []


def _sentence_starts(text: str, start: int, end: int) -> list[int]:
    """Return where the sentences begin of a stretch that begins with one."""
    piece = text[start:end]
    starts = (_past_blanks(piece, at) for at in sentence_ends(piece))
    return [start, *(start + at for at in starts if at < len(piece))]


def _past_blanks(text: str, at: int) -> int:
    return len(text) - len(text[at:].lstrip())


def _paragraph(text: str, at: int) -> int:
    """Return where the paragraph of a place begins: with its line, or the first of some that were wrapped at a width.

    Those are long, indented alike, and are neither rows nor what introduces a list.
    """
    first = text.rfind("\n", 0, at) + 1
    while first > 0 and not _ITEM.match(text, first):
        above = text.rfind("\n", 0, first - 1) + 1
        line, depth = text[above : first - 1].rstrip(), _indent(text, first)
        is_wrapped = len(line.strip()) >= _LEAST_WRAPPED and _BAR not in line and not line.endswith(":")
        if not is_wrapped or depth not in (_indent(text, above), _bullet(text, above)):
            break
        first = above
    return first


def _refers(text: str, start: int, end: int) -> bool:
    return _REFERS.match(text, start, end) is not None and not _EXPLETIVE.match(text, start, end)


def _entry(text: str, start: int) -> list[Span]:
    """Return where the name stands of the entry whose indented lines hold a sentence, with its first sentence."""
    line = text.rfind("\n", 0, start) + 1
    depth = _indent(text, line)
    if depth < _LEAST_INDENT:
        return []
    while line > 0 and _indent(text, line) >= depth:
        line = text.rfind("\n", 0, line - 1) + 1
    name = text[line : text.find("\n", line)]
    if not _names_entry(name):
        return []
    fields = _past_fields(text, line + len(name), start)
    starts = _sentence_starts(text, fields, start)
    end = len(text[: starts[1] if len(starts) > 1 else start].rstrip())
    above = text.rfind("\n\n", 0, line)
    several = above >= 0 and all(map(_names_entry, text[above + 2 : line].splitlines()))  # -n, --dry-run
    first = above + 2 if several else line
    first += _indent(text, first)
    if first >= start or end - first > _LONGEST_ENTRY:
        return []
    if fields == line + len(name):
        return [(first, end)]
    return [(first, line + len(name)), *([(fields, end)] if fields < end else [])]


def _past_fields(text: str, at: int, stop: int) -> int:
    """Return where the description of an entry begins, behind lines that only say of what kind it is.

    "Syntax: …", "Context: …" below a name; what holds by default is no such line.
    """
    lines = text[at + 1 : stop].splitlines(keepends=True)
    length = sum(map(len, takewhile(_FIELD.match, lines)))
    past = at + 1 + length
    return past + _indent(text, past) if length else at


def _indent(text: str, line: int) -> int:
    return len(text) - line - len(text[line:].lstrip(" ")) if text.startswith(" ", line) else 0


def _names_entry(line: str) -> bool:
    bare = line.strip()
    if not bare or len(bare) > _LONGEST_NAME * (1 if bare.endswith(":") else 2):
        return False
    says = bare.endswith((".", "!", "?")) and any(map(str.isalpha, bare))  # "%?" and "$!" are names
    return not says and not _ITEM.match(line) and _BAR not in line


def _bullet(text: str, at: int) -> int:
    found = _ITEM.match(text, at)
    return found.end() - at if found else 0


def _offset_spans(spans: Sequence[Span], part: Part) -> tuple[Span, ...]:
    return tuple((part.start + start, part.start + end) for start, end in spans)


def _header_of(text: str, start: int) -> tuple[int, list[Span]]:
    """Return where the table begins that a row is part of, and where its header row stands: the first line, if any."""
    first = text.rfind("\n", 0, start) + 1
    top = first
    while top > 0:
        above = text.rfind("\n", 0, top - 1) + 1
        if not text[above : top - 1].strip():
            break
        top = above
    end = text.find("\n", top)
    line = text[top:end]
    names = _BAR in line and not _RULE.fullmatch(line) and all(map(_names_column, line.split("|")))
    lead = len(line) - len(line.lstrip())
    length = len(line.rstrip(" " if line.startswith("|") else " |"))  # a row of Markdown has bars at both ends
    return top, [(top + lead, top + length)] if top < first and end > 0 and names else []


def _names_column(cell: str) -> bool:
    """Return whether a cell may head a column: it is short, no figure but a year or a day, and no option or command."""
    bare = cell.strip()
    return (
        len(bare) <= _LONGEST_NAME and not bare.startswith(("-", "$", "<")) and not _FIGURE.search(_YEAR.sub("", bare))
    )


def _introduction(text: str, start: int) -> list[Span]:
    """Return where the line stands that introduces the list of an item, and ends in a colon."""
    first = text.rfind("\n", 0, start) + 1
    if not _ITEM.match(text, first):
        return []
    before = text[:first].rstrip()
    while before:
        above = before.rfind("\n") + 1
        line = before[above:]
        if not _ITEM.match(line) and not line[:1].isspace():
            is_short = len(line) <= _LONGEST_INTRODUCTION and line.rstrip().endswith(":")
            return [(above, above + len(line))] if is_short else []
        before = before[:above].rstrip()
    return []


def _code_around(text: str, start: int, end: int) -> Span | None:
    """Return where the block of code stands that holds a line: between fences, or lines that mostly look like code.

    Those stand between blank lines; one line by itself is a block where it follows what introduces it.
    """
    fenced = _fenced(text, start, end)
    if fenced:
        return fenced
    begin = text.rfind("\n\n", 0, start)
    begin = begin + 2 if begin >= 0 else 0
    stop = text.find("\n\n", end)
    stop = stop if stop >= 0 else len(text)
    if not _is_code(text[begin:stop]):
        return None
    is_block = "\n" in text[begin:stop].strip() or bool(_introduction_of_code(text, (begin, stop)))
    return (begin, stop) if is_block else None


def _fenced(text: str, start: int, end: int) -> Span | None:
    """Return where the block stands that has fences of Markdown above and below this stretch; None without both."""
    marks = list(_FENCE.finditer(text))
    pairs = zip(marks[::2], marks[1::2], strict=True) if len(marks) % 2 == 0 else ()
    found = ((first.start(), last.end()) for first, last in pairs if first.start() <= start and end <= last.end())
    return next((one for one in found if one[1] - one[0] <= _LONGEST_CODE), None)


def _is_code(block: str) -> bool:
    lines = [line for line in block.splitlines() if line.strip()]
    looks = sum(_CODE.match(line) is not None and not line.rstrip().endswith(".") for line in lines)
    return looks > _CODE_SHARE * len(lines) and len(block) <= _LONGEST_CODE


def _is_block(text: str) -> bool:
    """Return whether lines are settings or the like: none is an item or a row, long, or ends as a sentence does."""
    lines = text.splitlines()
    return len(text) <= _LONGEST_ENTRY and not any(
        len(line) > _LONGEST_SETTING or _BAR in line or _ITEM.match(line) or line.rstrip().endswith((".", ":", "?"))
        for line in lines
    )


def _introduction_of_code(text: str, code: Span) -> list[Span]:
    """Return where the sentence stands that introduces a block of code: the last one above it, if it has no full stop.

    "To list its files run the command", "Then mount it:".
    """
    above = text[: code[0]].rstrip()
    line = above.rfind("\n") + 1
    first = _sentence_starts(above, line, len(above))[-1]
    return [(first, len(above))] if _introduces(above[first:]) and not _is_code(above[line:]) else []


def _introduces(sentence: str) -> bool:
    """Return whether a sentence leads to what stands below it: it ends in a colon, in "e.g." or in no mark at all."""
    bare = sentence.rstrip(CLOSING)
    several = len(bare.split()) >= _LEAST_WORDS
    return len(bare) <= _LONGEST_INTRODUCTION and (
        _LEADS_ON.search(bare) is not None or (several and bare[-1:].isalnum())
    )


def _introduced(text: str, start: int, end: int) -> list[Span]:
    """Return where the code or the list stands that a sentence, the last of its paragraph, introduces."""
    at = _past_blanks(text, end)
    first = text.rfind("\n", 0, at) + 1
    if first <= end or not _introduces(text[start:end]):
        return []
    fenced = _fenced(text, at, at)
    if fenced:
        return [fenced]
    stop = text.find("\n\n", at)
    stop = stop if stop >= 0 else len(text)
    if _is_code(text[first:stop]) or (text[start:end].endswith(":") and _is_block(text[first:stop])):
        return [(first, stop)]
    return [(at, _end_of_list(text, first))] if text[start:end].endswith(":") and _ITEM.match(text, first) else []


def _short_list(text: str, introduced: int, end: int) -> list[Span]:
    """Return where the list stands behind its introduction, if it reaches a place and is short enough to be shown."""
    first = _past_blanks(text, introduced)
    last = first + len(text[first : _end_of_list(text, first)].rstrip())
    return [(first, last)] if end <= last <= first + _LONGEST_LIST else []


def _end_of_list(text: str, first: int) -> int:
    """Return where a list ends, or its last item that is not too far from its first."""
    end = at = first
    for line in text[first : first + _LONGEST_CODE].splitlines(keepends=True):
        goes_on = at == end and line.strip()  # an item that goes on in the next line
        if line.strip() and not goes_on and not _ITEM.match(line) and not line[:1].isspace():
            break
        at += len(line)
        end = at if line.strip() else end
    return end
