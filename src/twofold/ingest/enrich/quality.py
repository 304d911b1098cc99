"""How good a passage is to find: what nobody looks for is left out, garbage is poor, whole sentences are high."""

import re
from enum import StrEnum

from twofold.domain.types import Chunk
from twofold.ingest.enrich.content_type import Kind
from twofold.ingest.enrich.entities import MAX_KEYWORDS
from twofold.ingest.enrich.shape import NAME_LETTER, PLAIN_LETTER, Shape

MIN_WORDS = 3
MIN_LINES = 3
MAX_IN_NAVIGATION = 60  # words
MAX_IN_NOTICE = 80
MIN_LETTERS = 0.5  # of the characters that are no spaces
MIN_LETTERS_OF_HIGH = 0.8
MIN_WORDS_OF_HIGH = 20
MAX_REPLACED = 0.01
MAX_SINGLE_LETTERS = 0.4
WORDS_TO_JUDGE = 10
WORDS_TO_REPEAT = 50
MIN_DIFFERENT = 10

_PAGE_NUMBER = re.compile(
    r"\W{0,8}(?:page|seite|página|pagina|p\.|pp\.|s\.|第)?\s{0,4}(?:\d{1,6}|[ivxlcdm]{1,8})\s{0,4}"
    r"(?:(?:of|von|de|di|/|-|–)\s{0,4}\d{1,6})?\s{0,4}[页頁]?\W{0,8}",
    re.IGNORECASE,
)
_CONTENTS_LINE = re.compile(
    r"(?:[.·…_]{3}[ \t]{0,8}|(?:[.·] ){3}|\t|[ ]{3})(?:\d{1,5}|[ivxlc]{1,8})[ \t]{0,8}$",
    re.MULTILINE | re.IGNORECASE,
)
_NUMBER_AT_END = re.compile(r"[^\d\n]\d{1,5}[ \t]{0,8}$", re.MULTILINE)
_CONTENTS_HEADING = re.compile(
    r"(?:table of )?contents|list of (?:figures|tables)|index|inhalt(?:sverzeichnis)?|sommaire|table des matières"
    r"|índice|indice|содержание|目录|目錄|目次",
    re.IGNORECASE,
)
_NAVIGATION = frozenset((
    "home", "about", "contact", "login", "logout", "register", "search", "menu", "next", "previous", "prev",
    "back", "top", "skip", "share", "print", "help", "faq", "news", "sitemap", "blog", "products", "services",
    "support", "privacy", "terms", "account", "cart", "download", "downloads", "subscribe", "more", "sign",
    "navigation", "startseite", "kontakt", "impressum", "datenschutz", "anmelden", "suche", "weiter", "zurück",
    "accueil", "recherche", "connexion", "suivant",
))  # fmt: skip
_NOTICES = (
    "all rights reserved", "alle rechte vorbehalten", "tous droits réservés", "todos los derechos reservados",
    "版权所有", "保留所有权利", "uses cookies", "use cookies", "accept cookies", "accept all cookies", "cookie policy",
    "cookie settings", "privacy policy", "terms of use", "terms of service", "subscribe to our newsletter",
    "intentionally left blank", "click here to",
)  # fmt: skip


class Quality(StrEnum):
    """How good a passage is to find."""

    POOR = "poor"
    OK = "ok"
    HIGH = "high"


def is_excluded(chunk: Chunk, shape: Shape) -> bool:
    """Return whether nobody would want to find a passage.

    - Fewer than 3 words, or nothing but a page number ("Page 3 of 12").
    - Contents: half of its lines (3 at least) end in dots, tabs or wide spaces and a page number; below a heading such
      as "Contents", in a number of any kind.
    - Navigation: at most 60 words without a whole sentence, of which half or more are such as Home, Login, Next.
    - Boilerplate: at most 80 words with "all rights reserved", a cookie notice, "left blank" or the like.
    """
    words = shape.count
    if words < MIN_WORDS or (words <= 2 * MIN_WORDS and _PAGE_NUMBER.fullmatch(shape.text.strip())):
        return True
    if words <= MAX_IN_NOTICE and any(map(shape.text.lower().__contains__, _NOTICES)):
        return True
    return _is_contents(chunk, shape) or _is_navigation(shape)


def _is_contents(chunk: Chunk, shape: Shape) -> bool:
    if shape.lines < MIN_LINES:
        return False
    headed = bool(chunk.heading) and _CONTENTS_HEADING.fullmatch(chunk.heading[-1].strip()) is not None
    pattern = _NUMBER_AT_END if headed else _CONTENTS_LINE
    found = len(pattern.findall(shape.text))
    return found >= MIN_LINES and 2 * found >= shape.lines


def _is_navigation(shape: Shape) -> bool:
    if shape.count > MAX_IN_NAVIGATION or shape.sentences:
        return False
    words = shape.words
    return 2 * sum(word.lower() in _NAVIGATION for word in words) >= len(words)


def quality_of(shape: Shape, kind: Kind, *, left_out: bool) -> Quality:
    """Judge a text by its looks, alike in every script.

    Poor: what is left out; less than half of its characters in words, unless it is code or a table; more than 0.01 of
    them U+FFFD; of 10 words or more over 0.4 single letters ("t h i s"); of 50 or more fewer than 10 different ones.
    High: 20 words or more, 10 of them different, with a whole sentence, and 0.8 of the characters in words. Else ok.
    A page of 200 words in sentences, 970 of its 1,000 characters in words, is high.
    """
    if left_out or _is_garbage(shape, kind):
        return Quality.POOR
    written = shape.letters + shape.signs
    whole = shape.sentences > 0 and shape.count >= MIN_WORDS_OF_HIGH and len(shape.different) >= MIN_DIFFERENT
    return Quality.HIGH if whole and shape.letters >= MIN_LETTERS_OF_HIGH * written else Quality.OK


def retrieval_score(quality: Quality, density: float, keywords: int, *, left_out: bool) -> float:
    """Return how much a passage is worth finding before any question: in [0, 1], to four digits.

    It is the mean of its quality (0, 0.5 or 1), of twice its entity density, at most 1, and of its keywords over 5; 0
    for what is left out. Of quality ok, density 0.3636 and 2 keywords: (0.5 + 0.7272 + 0.4) / 3 = 0.5424.
    """
    if left_out:
        return 0.0
    worth = {Quality.POOR: 0.0, Quality.OK: 0.5, Quality.HIGH: 1.0}[quality]
    return round((worth + min(1.0, 2 * density) + min(1.0, keywords / MAX_KEYWORDS)) / 3, 4)


def _is_garbage(shape: Shape, kind: Kind) -> bool:
    written = shape.letters + shape.signs
    is_prose = kind not in (Kind.CODE, Kind.TABLE)
    if is_prose and shape.letters < MIN_LETTERS * written:
        return True
    if shape.text.count("\ufffd") > MAX_REPLACED * written:
        return True
    singles = shape.codes.count(PLAIN_LETTER) + shape.codes.count(NAME_LETTER)
    if is_prose and shape.count >= WORDS_TO_JUDGE and singles > MAX_SINGLE_LETTERS * shape.count:
        return True
    return shape.count >= WORDS_TO_REPEAT and len(shape.different) < MIN_DIFFERENT
