"""Mentions of entities by their looks: names, abbreviations, numbers, codes; and the few worth finding a passage by."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from twofold.ingest.enrich.shape import (
    ABBREVIATION,
    BLANK_LINE,
    CLOSES,
    CODE,
    MIXED_ABBREVIATION,
    NAME,
    NAME_LETTER,
    NUMBER,
    PLAIN,
    ROMAN,
    YEAR,
    Shape,
)

MAX_KEYWORDS = 5
MAX_KEYWORD_LENGTH = 64  # characters
MAX_SHOUTED = 0.5

_SECTIONS = frozenset((
    "article", "articles", "art", "section", "sections", "sec", "sect", "clause", "chapter", "chap", "schedule",
    "amendment", "annex", "appendix", "paragraph", "para", "artikel", "abschnitt", "absatz", "kapitel",
    "anhang", "paragraf", "chapitre", "annexe", "artículo", "articulo", "sección", "seccion", "artigo",
    "capítulo", "seção", "articolo", "sezione", "capitolo", "статья", "раздел", "глава", "rfc", "iso", "din",
))  # fmt: skip
_OPENS = frozenset((CLOSES, BLANK_LINE))
_NAMES = frozenset((NAME, NAME_LETTER))
_CAPITALS = frozenset((ABBREVIATION, MIXED_ABBREVIATION, ROMAN))
_SHOUTED = str.maketrans({ABBREVIATION: NAME, ROMAN: NAME, MIXED_ABBREVIATION: PLAIN})
_NUMBERED = _CAPITALS | {CODE, YEAR, NUMBER}
_MENTIONS = re.compile(f"[{''.join(sorted(_NAMES))}]+|[{''.join(sorted(_NUMBERED))}]")


class Sort(IntEnum):
    """What a mention is; the sorts before `YEAR`, and it, make keywords, in this order."""

    SECTION = 0
    CODE = 1
    ABBREVIATION = 2
    YEAR = 3
    NUMBER = 4
    NAME = 5


_SORTS = {
    CODE: Sort.CODE, ABBREVIATION: Sort.ABBREVIATION, MIXED_ABBREVIATION: Sort.ABBREVIATION, YEAR: Sort.YEAR,
    NUMBER: Sort.NUMBER, ROMAN: Sort.NUMBER,
}  # fmt: skip


class Mention(NamedTuple):
    """One mention: its sort and its text."""

    sort: Sort
    text: str


_BY_SIGNS = (
    ("第", re.compile(r"第[0-9零一二三四五六七八九十百千]{1,12}[条條章节節款编編项項]"), Sort.SECTION),
    ("§", re.compile(r"§{1,2} {0,2}[0-9]{1,9}[a-z]?"), Sort.SECTION),
    ("·・", re.compile(r"\w{1,16}[·・]\w{1,16}"), Sort.NAME),
    ("《〈『", re.compile(r"[《〈『][^《〈『》〉』]{1,32}[》〉』]"), Sort.NAME),
)


def mentions_of(shape: Shape) -> tuple[Mention, ...]:
    """Find mentions in reading order; a mention never reaches over a sign.

    - A word with a digit is a year from 1500 to 2099, another number, or, with a letter too, a code (`ERR-12345`).
    - A number behind a word such as Article, Section or Kapitel is a section with it: `Article 370`, `§ 5`, `第370条`.
    - A word of two to eight capitals is an abbreviation, unless more than 0.5 of the words are in capitals.
    - A run of other words with a first capital is a name. The first word of a sentence makes none by itself.
    - In scripts without capitals names show by a point (`卡万·肖特`) or by title marks (`《红楼梦》`) alone: their
      density is lower for it.
    """
    found = list(_in_tokens(shape, shouts=_shouts(shape)))
    if not shape.text.isascii():
        found += _by_signs(shape.text)
    return tuple(found)


def _shouts(shape: Shape) -> bool:
    """Return whether most words are in capitals, where any might be an abbreviation."""
    if _CAPITALS.isdisjoint(shape.codes):
        return False
    return sum(map(str.isupper, shape.words)) > MAX_SHOUTED * shape.count


def _in_tokens(shape: Shape, *, shouts: bool) -> Iterator[Mention]:
    tokens, codes = shape.tokens, shape.codes.translate(_SHOUTED) if shouts else shape.codes
    for found in _MENTIONS.finditer(codes):
        first, end = found.span()
        if codes[first] in _NAMES:
            stop = end - 1 if codes[end : end + 1] in _NUMBERED and tokens[end - 1].lower() in _SECTIONS else end
            opens = first == 0 or codes[first - 1] in _OPENS  # a sentence
            if stop - first > 1 or (stop - first == 1 and not opens and len(tokens[first]) > 1):
                yield Mention(Sort.NAME, " ".join(tokens[first:stop]))
        elif first and tokens[first - 1].lower() in _SECTIONS:
            yield Mention(Sort.SECTION, f"{tokens[first - 1]} {tokens[first]}")
        else:
            yield Mention(_SORTS[codes[first]], tokens[first])


def _by_signs(text: str) -> Iterator[Mention]:
    for signs, pattern, sort in _BY_SIGNS:
        if any(map(text.__contains__, signs)):
            for found in pattern.findall(text):
                yield Mention(sort, found)


def entity_density(mentions: Sequence[Mention], shape: Shape) -> float:
    """Return mentions per word, at most 1, to four digits: 4 mentions in 11 words are 0.3636; 0.0 without words."""
    return round(min(len(mentions) / shape.count, 1.0), 4) if shape.count else 0.0


def focused_keywords(mentions: Sequence[Mention]) -> tuple[str, ...]:
    """Return at most five: sections before codes, abbreviations and years, then by frequency, then by position.

    "20 keywords per chunk" drew in what only touched on a word. Of `GDP`, `1949`, `GDP` and
    `Article 370` it gives Article 370, GDP, 1949.
    """
    counts = Counter((mention.sort, mention.text) for mention in mentions if mention.sort <= Sort.YEAR)
    ranked = sorted(counts, key=lambda named: (named[0], -counts[named]))
    different = dict.fromkeys(text for _, text in ranked if len(text) <= MAX_KEYWORD_LENGTH)
    return tuple(different)[:MAX_KEYWORDS]
