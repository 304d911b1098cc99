"""Take a typed question apart: words to search for, and what a passage must or must not hold.

    "exact phrase"     the passage holds the phrase word for word; “ ” „ “ « » are quotes too, apostrophes are not
    +word +"a phrase"  the passage holds it
    -word -"a phrase"  the passage does not hold it

An operator stands at the start of a word: `git-reset` is a word and `--hard` an option, both searched for. A quote
without its partner is no quote. How words become terms is not known here: an analyser's functions are handed in.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Clause, TermQuery
from twofold.query.normalise import normalise

LONGEST_QUESTION = 32_768  # characters
_CLOSING = {'"': '"', "\uff02": "\uff02", "\u201c": "\u201d", "\u201e": "\u201c\u201d", "\xab": "\xbb", "\xbb": "\xab"}
_START = re.compile(r"([+-]?)(?=\S)")
_SPACE = re.compile(r"\s")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

Weigh = Callable[[str], Mapping[str, float]]
Terms = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What parsing asks of an analyser.

    `fold` folds case and encoding; `query` weighs terms; `phrase_terms` gives terms that are wherever a phrase is,
    `clause_terms` those that stand for a required or excluded word.
    """

    fold: Callable[[str], str]
    query: Weigh
    phrase_terms: Terms
    clause_terms: Terms


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A question, taken apart.

    `original` is for display; `normalised` shows what was read, operators dropped, and is no key to keep answers under;
    `words` is for the embedder: without operators and without what is excluded. `terms` is the lexical question; what
    is required counts in it, what is excluded does not.
    """

    original: str
    normalised: str
    words: str
    terms: TermQuery
    required: tuple[Clause, ...] = ()
    excluded: tuple[Clause, ...] = ()


class _Part(NamedTuple):
    """A word or a phrase with its operator: `+`, `-` or none."""

    operator: str
    text: str
    quoted: bool


def parse(text: str, analysis: Analysis) -> ParsedQuery:
    """Take a question apart, in time linear in its length.

    `undo +commit -merge "soft reset"` searches for the words `undo commit soft reset`, in passages that hold `commit`
    and the phrase, and do not hold `merge`. Raises InvalidInputError for a question that is empty, too long, or says
    only what not to find.
    """
    if len(text) > LONGEST_QUESTION:
        raise InvalidInputError(
            f"The question has {len(text):,} characters; {LONGEST_QUESTION:,} is the most.",
            "Ask for less at a time.",
        )
    original = _SURROGATE.sub("\ufffd", text)
    parts = list(_parts(_CONTROL.sub(" ", original)))
    words = " ".join(part.text for part in parts if part.operator != "-")
    if not any(map(_says_something, words)):
        raise InvalidInputError(*_nothing_to_find(parts))
    required = [part for part in parts if part.operator == "+" or (part.quoted and not part.operator)]
    excluded = [part for part in parts if part.operator == "-"]
    return ParsedQuery(
        original=original,
        normalised=normalise(original, analysis.fold),
        words=words,
        terms=TermQuery(analysis.query(words)),
        required=_clauses(required, analysis),
        excluded=_clauses(excluded, analysis),
    )


def _parts(text: str) -> Iterator[_Part]:
    last = {closing: text.rfind(closing) for closing in "".join(_CLOSING.values())}
    at = 0
    while found := _START.search(text, at):
        operator, opened = found[1], found.end()
        end = _closing(text, opened, last)
        if end < 0:
            space = _SPACE.search(text, opened)
            at = space.start() if space else len(text)
            yield _word(operator, text[opened:at])
            continue
        at = end + 1
        phrase = text[opened + 1 : end].strip()
        if any(unicodedata.category(character)[0] in "LNSP" for character in phrase):
            yield _Part(operator, phrase, quoted=True)


def _closing(text: str, opened: int, last: Mapping[str, int]) -> int:
    """Find where the quote at `opened` closes; -1 if there is none, or it never does."""
    closings = [closing for closing in _CLOSING.get(text[opened], "") if last[closing] > opened]
    return min((text.index(closing, opened + 1) for closing in closings), default=-1)


def _word(operator: str, rest: str) -> _Part:
    """Tell an operator from a word that begins with its sign, such as `--hard`, `->` or a lone `-`."""
    if rest[0] in "+-" or not any(map(_says_something, rest)):
        return _Part("", operator + rest, quoted=False)
    return _Part(operator, rest, quoted=False)


def _clauses(parts: Iterable[_Part], analysis: Analysis) -> tuple[Clause, ...]:
    return tuple(dict.fromkeys(_clause(part, analysis) for part in parts))


def _clause(part: _Part, analysis: Analysis) -> Clause:
    if part.quoted:
        return Clause(tuple(analysis.phrase_terms(part.text)), part.text)
    terms = tuple(analysis.clause_terms(part.text))
    if len(terms) == 1:
        return Clause(terms)
    # Several terms that stand apart would be another thing than the word asked for.
    start = next(place for place, character in enumerate(part.text) if _says_something(character))
    end = next(place for place, character in enumerate(reversed(part.text)) if _says_something(character))
    return Clause(terms, part.text[start : len(part.text) - end])


def _says_something(character: str) -> bool:
    category = unicodedata.category(character)[0]
    return category in "LN" or (category == "S" and not character.isascii())


def _nothing_to_find(parts: Sequence[_Part]) -> tuple[str, str]:
    if any(part.operator == "-" for part in parts):
        return "The question only says what not to find.", "Add a word to look for."
    if parts:
        return "The question holds no word.", "Ask with at least one letter or digit."
    return "The question is empty.", "Type at least one word."
