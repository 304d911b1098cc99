"""Mentions of entities by their looks: names, abbreviations, numbers, codes; and the few worth finding a passage by."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from twofold.ingest.enrich.shape import CLOSING, PARAGRAPH, Shape, is_sign

MAX_KEYWORDS = 5
MAX_KEYWORD_LENGTH = 64  # characters
MAX_ABBREVIATION_LENGTH = 8
MAX_SHOUTED = 0.5
FIRST_YEAR, LAST_YEAR = 1500, 2099
DIGITS_OF_A_YEAR = 4

_SECTIONS = frozenset((
    "article", "articles", "art", "section", "sections", "sec", "sect", "clause", "chapter", "chap", "schedule",
    "amendment", "annex", "appendix", "paragraph", "para", "artikel", "abschnitt", "absatz", "kapitel",
    "anhang", "paragraf", "chapitre", "annexe", "artículo", "articulo", "sección", "seccion", "artigo",
    "capítulo", "seção", "articolo", "sezione", "capitolo", "статья", "раздел", "глава", "rfc", "iso", "din",
))  # fmt: skip
_OPENS = frozenset((*CLOSING, PARAGRAPH))
_ROMAN = frozenset("IVX")


class Sort(IntEnum):
    """What a mention is; the sorts before `YEAR`, and it, make keywords, in this order."""

    SECTION = 0
    CODE = 1
    ABBREVIATION = 2
    YEAR = 3
    NUMBER = 4
    NAME = 5


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
    shouts = sum(map(str.isupper, shape.words)) > MAX_SHOUTED * len(shape.words)
    found = list(_in_tokens(shape.tokens, shouts=shouts))
    if not shape.text.isascii():
        found += _by_signs(shape.text)
    return tuple(found)


def _in_tokens(tokens: Sequence[str], *, shouts: bool) -> Iterator[Mention]:
    run: list[str] = []
    opens = True  # whether the run, or what follows, begins a sentence
    last = -1
    for at in [at for at, token in enumerate(tokens) if not token.islower() or not token.isalpha()]:
        token = tokens[at]
        sort = None if is_sign(token) else _sort_of(token, shouts=shouts)
        if at > last + 1 or sort is not Sort.NAME:
            section = at > 0 and sort is not None and sort < Sort.NAME and tokens[at - 1].lower() in _SECTIONS
            yield from _name(run[:-1] if section and at == last + 1 else run, opens=opens)
            run = []
            opens = token in _OPENS or (at == 0 and opens)
            if sort is not None and sort is not Sort.NAME:
                yield Mention(Sort.SECTION, f"{tokens[at - 1]} {token}") if section else Mention(sort, token)
        if sort is Sort.NAME:
            opens = opens if run else at == 0 or tokens[at - 1] in _OPENS
            run.append(token)
        last = at
    yield from _name(run, opens=opens)


def _name(run: Sequence[str], *, opens: bool) -> Iterator[Mention]:
    """Return a run's name; the first word of a sentence makes none by itself, nor does a single letter."""
    if len(run) > 1 or (run and not opens and len(run[0]) > 1):
        yield Mention(Sort.NAME, " ".join(run))


def _sort_of(word: str, *, shouts: bool) -> Sort | None:
    if word.isalpha():
        if 1 < len(word) <= MAX_ABBREVIATION_LENGTH and word.isupper() and not shouts:
            return Sort.NUMBER if _ROMAN.issuperset(word) else Sort.ABBREVIATION
        return Sort.NAME if word[0].isupper() else None
    if word.isdecimal():
        is_year = len(word) == DIGITS_OF_A_YEAR and FIRST_YEAR <= int(word) <= LAST_YEAR
        return Sort.YEAR if is_year else Sort.NUMBER
    if any(map(str.isdecimal, word)):
        return Sort.CODE if any(map(str.isalpha, word)) else Sort.NUMBER
    return Sort.NAME if word[0].isupper() else None


def _by_signs(text: str) -> Iterator[Mention]:
    for signs, pattern, sort in _BY_SIGNS:
        if any(map(text.__contains__, signs)):
            for found in pattern.findall(text):
                yield Mention(sort, found)


def entity_density(mentions: Sequence[Mention], shape: Shape) -> float:
    """Return mentions per word, at most 1, to four digits: 4 mentions in 11 words are 0.3636; 0.0 without words."""
    return round(min(len(mentions) / len(shape.words), 1.0), 4) if shape.words else 0.0


def focused_keywords(mentions: Sequence[Mention]) -> tuple[str, ...]:
    """Return at most five: sections before codes, abbreviations and years, then by frequency, then by position.

    "20 keywords per chunk" drew in what only touched on a word. Of `GDP`, `1949`, `GDP` and
    `Article 370` it gives Article 370, GDP, 1949.
    """
    counts = Counter((mention.sort, mention.text) for mention in mentions if mention.sort <= Sort.YEAR)
    ranked = sorted(counts, key=lambda named: (named[0], -counts[named]))
    different = dict.fromkeys(text for _, text in ranked if len(text) <= MAX_KEYWORD_LENGTH)
    return tuple(different)[:MAX_KEYWORDS]
