"""What a passage is, by rule: a definition, a procedure, a table, ..., else a narrative."""

import re
from enum import StrEnum

from twofold.domain.types import Chunk
from twofold.ingest.enrich.shape import Shape

MIN_LINES = 2
DEFINED_WITHIN = 200  # characters

_TABLE_LINE = re.compile(r"^[^|\t\n]*(?:[|\t][^|\t\n]*[|\t]| \| )", re.MULTILINE)
_CODE_LINE = re.compile(
    r"^[ \t]*+(?:(?:def|class|import|from|return|func|fn|public|private|static|const|let|var|#include|package|SELECT|"
    r"INSERT|CREATE|UPDATE|WITH)\b[^.\n]*$|[^\n]*[;{}]|@\w+.*|\$ .*|//.*|/\*.*|</?\w[^\n]*>)[ \t]*$",
    re.MULTILINE,
)
_STEP = re.compile(
    r"^[ \t]*(?:\d{1,3}[.)]|step \d|schritt \d|étape \d|paso \d|第[一二三四五六七八九十\d]{1,3}步)[ \t:]",
    re.MULTILINE | re.IGNORECASE,
)
_BULLET = re.compile(r"^[ \t]*(?:[-*+•·‣▪◦–]|\d{1,3}[.)]|[a-z][.)])[ \t]+\S", re.MULTILINE)
_SOURCE_LINE = re.compile(r"https?://|\bdoi\b|\bpp\. ?\d|\bet al\b|\bISBN\b", re.IGNORECASE)
_DEFINES = (
    " is a ", " is an ", " is the ", " is any ", " is one ", " are the ", " are a ", " is defined ", " are defined ",
    " is known as ", " was a ", " was the ", " means ", " refer to ", " refers to ", " denotes ", " stands for ",
    " ist ein", " ist der ", " ist die ", " ist das ", " sind die ", " bezeichnet", " est un", " est le ", " est la ",
    " es un", " es el ", " es la ", "是指", "指的是", "定义为", "是一种", "是一個", "是一个", "とは", "이란",
)  # fmt: skip
_EXAMPLES = (
    "for example", "for instance", "e.g.", "zum beispiel", "z. b.", "z.b.", "par exemple",
    "por ejemplo", "例如", "比如", "たとえば", "например",
)  # fmt: skip
_HEADINGS = re.compile(
    r"(?P<reference>references|bibliography|literature|further reading|sources|works cited|literatur|quellen"
    r"|参考文献)"
    r"|(?P<procedure>how to\b.*|steps?\b.*|procedure|instructions|installation|installing\b.*|getting started)"
    r"|(?P<definition>definitions?|glossary|terminology|what (?:is|are)\b.*|glossar|definition\b.*|术语)"
    r"|(?P<example>examples?\b.*|beispiele?\b.*|exemples?\b.*|例子?)",
    re.IGNORECASE,
)


class Kind(StrEnum):
    """What a passage is."""

    CODE = "code"
    TABLE = "table"
    REFERENCE = "reference"
    PROCEDURE = "procedure"
    LIST = "list"
    DEFINITION = "definition"
    EXAMPLE = "example"
    NARRATIVE = "narrative"


def kind_of_passage(chunk: Chunk, shape: Shape) -> Kind:
    """Return what a passage is; the first rule that fits decides.

    1. code: it stands in fences. Table: it continues one, or half of its lines (two at least) have two bars or tabs,
       or one bar between blanks.
    2. code: half of its lines (two at least) begin or end as statements do.
    3. reference, procedure, definition, example: its last heading says so ("References", "How to ...", "Glossary").
    4. reference: half of its lines (two at least) name a DOI, an address, pages or "et al".
    5. procedure: two of its lines are numbered steps; list: half of its lines (two at least) have bullets.
    6. definition: its first 200 characters say what something is, means or refers to.
    7. example: it says "for example", "e.g.", or the like. Else it is a narrative.

    `"GDP is the value of all goods."` is a definition; below the heading "Examples" it is an example.
    """
    text = shape.text
    kind = _by_lines(chunk, text, shape.lines) or _by_heading(chunk) or _by_marks(text, shape.lines)
    return kind or _by_words(text)


def _by_lines(chunk: Chunk, text: str, lines: int) -> Kind | None:
    if text.lstrip().startswith(("```", "~~~")):
        return Kind.CODE
    if chunk.header or _half(_TABLE_LINE, text, lines):
        return Kind.TABLE
    return Kind.CODE if _half(_CODE_LINE, text, lines) else None


def _by_heading(chunk: Chunk) -> Kind | None:
    found = _HEADINGS.fullmatch(chunk.heading[-1].strip()) if chunk.heading else None
    return Kind(found.lastgroup) if found and found.lastgroup else None


def _by_marks(text: str, lines: int) -> Kind | None:
    if lines >= MIN_LINES and _is_reference([line for line in text.split("\n") if line.strip()]):
        return Kind.REFERENCE
    if lines >= MIN_LINES and len(_STEP.findall(text)) >= MIN_LINES:
        return Kind.PROCEDURE
    return Kind.LIST if _half(_BULLET, text, lines) else None


def _is_reference(lines: list[str]) -> bool:
    found = sum(_SOURCE_LINE.search(line) is not None for line in lines)
    return found >= MIN_LINES and 2 * found >= len(lines)


def _by_words(text: str) -> Kind:
    opening = " ".join(text[:DEFINED_WITHIN].lower().split())
    if any(map(opening.__contains__, _DEFINES)):
        return Kind.DEFINITION
    return Kind.EXAMPLE if any(map(text.lower().__contains__, _EXAMPLES)) else Kind.NARRATIVE


def _half(pattern: re.Pattern[str], text: str, lines: int) -> bool:
    if lines < MIN_LINES:
        return False
    found = sum(1 for _ in pattern.finditer(text))
    return found >= MIN_LINES and 2 * found >= lines
