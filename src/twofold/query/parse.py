"""Take a typed question apart: words to search for, and what a passage must or must not hold.

    "exact phrase"     the passage holds the phrase word for word; “ ” „ “ « » are quotes too, apostrophes are not
    +word +"a phrase"  the passage holds it
    -word -"a phrase"  the passage does not hold it

    type:.sql -path:old after:2025-01-01    only documents that pass, as `twofold.query.operators` says

A sign or a name stands at the start of a word: `git-reset` is a word and `--hard` an option, both searched for. A quote
without its partner is no quote. How words become terms is not known here: an analyzer's functions are handed in.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, And, Condition, Filter, Not, Or
from twofold.domain.types import MAX_QUESTION_LENGTH, Clause, TermQuery
from twofold.query.operators import OPERATOR, read_operator

_QUOTES = str.maketrans(dict.fromkeys('"\uff02\u201c\u201d\u201e\xab\xbb', " "))
_SIGN = re.compile(r"(?<!\S)[+-](?=[^\s+-])")
_NAMED = re.compile(rf"(?<!\S){OPERATOR.pattern}")


def as_prose(question: str) -> str:
    """Take the operators out of a question and leave its words.

    >>> as_prose('what "barks at midnight" -loudly')
    'what  barks at midnight  loudly'
    >>> as_prose("the type:token ratio")
    'the type: token ratio'
    """
    return _NAMED.sub(r"\g<0> ", _SIGN.sub("", question.translate(_QUOTES)))


_INNER = frozenset("_-.'+#/&@:,")  # what codes, options, paths and addresses hold
_CORE = re.compile(r"(?:--|\.)?\w.*")
_TRAILING = "-.'/&@:,"


def normalize(text: str, fold: Callable[[str], str]) -> str:
    """Fold a question and drop special characters, with one space between words; codes keep what is inside them.

    `fold` folds case and encoding. `"  What is dbt?  "` gives `"what is dbt"`, and `"Fix ERR-12345!"`
    gives `"fix err-12345"`. Idempotent where `fold` is.
    """
    spaced = "".join(character if _is_kept(character) else " " for character in fold(text))
    cores = (_CORE.search(run) for run in spaced.split())
    return " ".join(core[0].rstrip(_TRAILING) for core in cores if core)


def _is_kept(character: str) -> bool:
    return character.isalnum() or character in _INNER or unicodedata.category(character)[0] == "M"


MAX_FILTER_LENGTH = 65_536  # characters
MAX_TESTS = 1_000
MAX_PARTS = 4_000
MAX_DEPTH = 64
MAX_VALUE_LENGTH = 16_384  # characters
_SMALLER = "Ask with fewer conditions."


def checked(condition: Filter) -> Filter:
    """Return the filter back; raise InvalidInputError where it is too large, too deep, or holds what is no number.

    At most 1,000 tests, 4,000 parts in all, 64 levels, and values of 16,384 characters. A bare number makes two tests.
    """
    waiting: list[tuple[Filter, int]] = [(condition, 1)]
    parts = tests = 0
    while waiting:
        part, depth = waiting.pop()
        parts += 1
        tests += isinstance(part, Condition)
        if depth > MAX_DEPTH:
            raise InvalidInputError(f"The filter is nested more than {MAX_DEPTH} levels deep.", _SMALLER)
        if tests > MAX_TESTS or parts > MAX_PARTS:
            raise InvalidInputError(f"The filter has more than {MAX_TESTS:,} conditions.", _SMALLER)
        match part:
            case And(inner) | Or(inner):
                waiting += [(one, depth + 1) for one in inner]
            case Not(one):
                waiting.append((one, depth + 1))
            case Condition():
                _check_test(part)
    return condition


def _check_test(test: Condition) -> None:
    value = test.value
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInputError("A filter compares with what is no finite number.", "Give a number.")
    if max(len(test.field), len(value) if isinstance(value, str) else 0) > MAX_VALUE_LENGTH:
        raise InvalidInputError(
            f"A filter's field or value has more than {MAX_VALUE_LENGTH:,} characters.", "Compare with less."
        )


_CLOSING = {'"': '"', "\uff02": "\uff02", "\u201c": "\u201d", "\u201e": "\u201c\u201d", "\xab": "\xbb", "\xbb": "\xab"}
_START = re.compile(r"([+-]?)(?=\S)")
_SPACE = re.compile(r"\s")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

Weigh = Callable[[str], Mapping[str, float]]
Terms = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What parsing asks of an analyzer.

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

    `original` is for display, `read` is it without what says where to look; `normalized` shows what was read;
    `words` is for the embedder: without operators and without what is excluded. `terms` is the query for BM25; what
    is required counts in it, what is excluded does not. `filter` is what the question says of where to look; its
    operators are in none of the others but `original`.
    """

    original: str
    read: str
    words: str
    terms: TermQuery
    required: tuple[Clause, ...] = ()
    excluded: tuple[Clause, ...] = ()
    filter: Filter = MATCH_ALL
    fold: Callable[[str], str] = field(default=str.casefold, compare=False, repr=False)

    @property
    def normalized(self) -> str:
        """What was read, folded, operators and special characters dropped; no key to keep answers under."""
        return normalize(self.read, self.fold)


class _Part(NamedTuple):
    """A word or a phrase with its operator: `+`, `-` or none. `span` is where it stands; `filter` is what it asks."""

    operator: str
    text: str
    quoted: bool
    span: tuple[int, int] = (0, 0)
    filter: Filter | None = None


def parse(text: str, analysis: Analysis) -> ParsedQuery:
    """Take a question apart, in time linear in its length.

    `undo +commit -merge "soft reset"` searches for the words `undo commit soft reset`, in passages that hold `commit`
    and the phrase, and do not hold `merge`. `joins type:.sql` searches for `joins` in SQL files. Raises
    InvalidInputError for a question that is empty, too long, or says only what not to find or where to look.
    """
    length = _length(text)
    if length > MAX_QUESTION_LENGTH:
        raise InvalidInputError(
            f"The question has {length:,} characters; {MAX_QUESTION_LENGTH:,} is the most.",
            "Ask for less at a time.",
        )
    original = _SURROGATE.sub("\ufffd", text)
    read = _CONTROL.sub(" ", original)
    everything = list(_parts(read))
    asked = [part for part in everything if part.filter is not None]
    parts = [part for part in everything if part.filter is None]
    words = " ".join(part.text for part in parts if part.operator != "-")
    if not any(map(_says_something, words)):
        raise InvalidInputError(*_nothing_to_find(everything))
    required = [part for part in parts if part.operator == "+" or (part.quoted and not part.operator)]
    excluded = [part for part in parts if part.operator == "-"]
    return ParsedQuery(
        original=original,
        read=_without(read, asked),
        words=words,
        terms=TermQuery(analysis.query(words)),
        required=_clauses(required, analysis),
        excluded=_clauses(excluded, analysis),
        filter=_joined(asked),
        fold=analysis.fold,
    )


def loosened(text: str) -> tuple[str, ...]:
    """Return a question with one of its operators taken back, in turn; then with all of them, if there are several.

    What was required is still asked for, what was excluded and what said where to look is gone.

    >>> loosened('undo +commit -merge "soft reset"')[:3]
    ('undo commit -merge "soft reset"', 'undo +commit "soft reset"', 'undo +commit -merge soft reset')
    """
    read = _CONTROL.sub(" ", _SURROGATE.sub("\ufffd", text))
    bound = [part for part in _parts(read) if part.operator or part.quoted or part.filter is not None]
    singly = tuple(_taken_back(read, [part]) for part in bound)
    return (*singly, _taken_back(read, bound)) if len(bound) > 1 else singly


def _taken_back(text: str, parts: Iterable[_Part]) -> str:
    kept, at = [], 0
    for part in parts:
        stays = part.filter is None and part.operator != "-"
        kept += [text[at : part.span[0]], f" {as_prose(part.text)} " if stays else ""]
        at = part.span[1]
    return " ".join("".join([*kept, text[at:]]).split())


def _length(text: str) -> int:
    """Count characters as they are read: some that are one to write, such as ligatures, are many when written out."""
    if text.isascii() or len(text) > MAX_QUESTION_LENGTH:
        return len(text)
    return max(len(text), len(unicodedata.normalize("NFKC", text)))


def _parts(text: str) -> Iterator[_Part]:
    last = {closing: text.rfind(closing) for closing in "".join(_CLOSING.values())}
    at = 0
    while found := _START.search(text, at):
        operator, opened = found[1], found.end()
        named = OPERATOR.match(text, opened)
        if named and (asked := _asked(text, found, named, last)):
            at = asked.span[1]
            yield asked
            continue
        end = _closing(text, opened, last)
        if end < 0:
            at = _word_end(text, opened)
            yield _word(operator, text[opened:at])._replace(span=(found.start(), at))
            continue
        at = end + 1
        phrase = text[opened + 1 : end].strip()
        if any(unicodedata.category(character)[0] in "LNSP" for character in phrase):
            yield _Part(operator, phrase, quoted=True, span=(found.start(), at))


def _asked(text: str, found: re.Match[str], named: re.Match[str], last: Mapping[str, int]) -> _Part | None:
    """Read a named operator with its value, quoted or not; None if it is but a word."""
    opened = named.end()
    closing = _closing(text, opened, last)
    quoted = closing >= 0
    end = closing + 1 if quoted else _word_end(text, opened)
    value = text[opened + 1 : closing].strip() if quoted else text[opened:end]
    condition = read_operator(named[1], value, quoted=quoted)
    if condition is None:
        return None
    asked = Not(condition) if found[1] == "-" else condition
    return _Part("", text[named.start() : end], quoted=quoted, span=(found.start(), end), filter=asked)


def _word_end(text: str, start: int) -> int:
    space = _SPACE.search(text, start)
    return space.start() if space else len(text)


def _without(text: str, asked: Iterable[_Part]) -> str:
    """Return the text without the parts that say where to look."""
    kept, at = [], 0
    for part in asked:
        kept.append(text[at : part.span[0]])
        at = part.span[1]
    return "".join([*kept, text[at:]])


def _joined(asked: Iterable[_Part]) -> Filter:
    conditions = tuple(dict.fromkeys(part.filter for part in asked if part.filter is not None))
    return checked(conditions[0] if len(conditions) == 1 else And(conditions))


def _closing(text: str, opened: int, last: Mapping[str, int]) -> int:
    """Find where the quote at `opened` closes; -1 if it does not."""
    closings = [closing for closing in _CLOSING.get(text[opened], "") if last[closing] > opened]
    return min((text.index(closing, opened + 1) for closing in closings), default=-1)


def _word(operator: str, rest: str) -> _Part:
    """Return whether it is an operator, not a word that begins with its sign, such as `--hard`, `->` or a lone `-`."""
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
    if parts and all(part.filter is not None for part in parts):
        return "The question only says where to look.", "Add a word to look for."
    if any(part.operator == "-" for part in parts):
        return "The question only says what not to find.", "Add a word to look for."
    if parts:
        return "The question holds no word.", "Ask with at least one letter or digit."
    return "The question is empty.", "Type at least one word."
