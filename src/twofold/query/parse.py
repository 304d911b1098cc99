"""Take a typed question apart: words to search for, and what a passage must or must not hold.

    "exact phrase"     the passage holds the phrase word for word; “ ” „ “ « » are quotes too, apostrophes are not
    "two words"~5      the passage holds these words in any order, at most five others among them
    +word +"a phrase"  the passage holds it
    -word -"a phrase"  the passage does not hold it
    retriev* col?r     the passage holds a word like this, as `twofold.query.parts` says
    cat OR dog         the passage holds one of them; with brackets one may be several words: (big cat OR dog)

    type:.sql -path:old after:2025-01-01    only documents that pass, as `twofold.query.operators` says
    author:Ada                              only documents with this field, where the index has such a field

A sign or a name stands at the start of a word: `git-reset` is a word, and `--hard` and `-x` are options: all are
searched for. A quote without its partner is no quote. How words become terms is not known
here: an analyzer's functions are handed in.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import reduce

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, And, Condition, Filter, Not, Or
from twofold.domain.types import MAX_QUESTION_LENGTH, Clause, GroupMember, TermQuery
from twofold.domain.warning import StageWarning, WarningCode
from twofold.query.fiscal_years import notes_on, with_years
from twofold.query.instructions import weighed
from twofold.query.operators import OPERATOR
from twofold.query.parts import (
    MAX_WORDS,
    OPTION,
    Expand,
    Part,
    both,
    either,
    is_words_alone,
    parts_of,
    pattern_in,
    plain,
    says_something,
)

_QUOTES = str.maketrans(dict.fromkeys('"\uff02\u201c\u201d\u201e\xab\xbb', " "))
_SIGN = re.compile(rf"(?<!\S)(?:\+|-(?!{OPTION.pattern}))(?=[^\s+-])")
_NAMED = re.compile(rf"(?<!\S){OPERATOR.pattern}")
_SLOP_OF_PHRASE = re.compile(r"(?<=[\"\uff02\u201c\u201d\xab\xbb])~\d{1,3}(?=\W|$)")


def as_prose(question: str) -> str:
    """Take the operators out of a question and leave its words.

    >>> as_prose('what "barks at midnight" -loudly')
    'what  barks at midnight  loudly'
    >>> as_prose("the type:token ratio")
    'the type: token ratio'
    """
    return _NAMED.sub(r"\g<0> ", _SIGN.sub("", _SLOP_OF_PHRASE.sub("", question).translate(_QUOTES)))


_INNER = frozenset("_-.'+#/&@:,")  # what codes, options, paths and addresses hold
_CORE = re.compile(r"(?:--|\.)?\w.*")
_TRAILING = "-.'/&@:,"


def normalize(text: str, fold: Callable[[str], str]) -> str:
    """Fold a question and drop special characters, with one space between words; codes keep what is inside them.

    `fold` folds case and encoding. `"  What is dbt?  "` gives `"what is dbt"`, and `"Fix ERR-12345!"`
    gives `"fix err-12345"`. Idempotent where `fold` is.
    """
    spaced = "".join(character if _is_word_character(character) else " " for character in fold(text))
    cores = (_CORE.search(run) for run in spaced.split())
    return " ".join(core[0].rstrip(_TRAILING) for core in cores if core)


def _is_word_character(character: str) -> bool:
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
        raise InvalidInputError("A filter compares with a number that is not finite.", "Give a number.")
    if max(len(test.field), len(value) if isinstance(value, str) else 0) > MAX_VALUE_LENGTH:
        raise InvalidInputError(
            f"A filter's field or value has more than {MAX_VALUE_LENGTH:,} characters.", "Compare with less."
        )


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

Weigh = Callable[[str], Mapping[str, float]]
Terms = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What parsing asks of an analyzer.

    `fold` folds case and encoding; `query` weighs terms; `phrase_terms` gives terms that are wherever a phrase is,
    `clause_terms` those that stand for a required or excluded word. `is_field` says whether the index has a field of
    this name, and `expand` which of its words a folded pattern stands for; without it patterns are words. `each` are
    the ways to analyze a word where an index holds several languages: a passage must hold what one of them says.
    """

    fold: Callable[[str], str]
    query: Weigh
    phrase_terms: Terms
    clause_terms: Terms
    is_field: Callable[[str], bool] = lambda _: False
    expand: Expand | None = None
    each: tuple["Analysis", ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A question, taken apart.

    `original` is for display, `read` is it without what says where to look; `normalized` shows what was read;
    `words` is for the embedder: without operators and without what is excluded. `terms` is the query for BM25; what
    is required counts in it, what is excluded does not. `filter` is what the question says of where to look; its
    operators are in none of the others but `original`. `notes` say what patterns and fiscal years stand for, `warnings`
    what of it could not be followed.
    """

    original: str
    read: str
    words: str
    terms: TermQuery
    required: tuple[Clause, ...] = ()
    excluded: tuple[Clause, ...] = ()
    filter: Filter = MATCH_ALL
    fold: Callable[[str], str] = field(default=str.casefold, compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    warnings: tuple[StageWarning, ...] = field(default=(), compare=False)

    @property
    def normalized(self) -> str:
        """What was read, folded, operators and special characters dropped; no key to keep answers under."""
        return normalize(self.read, self.fold)


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
    return _words_alone(original, read, analysis) if is_words_alone(read) else _with_operators(original, read, analysis)


def _words_alone(original: str, read: str, analysis: Analysis) -> ParsedQuery:
    """Take a question apart that has no operators, as nearly all: what `_with_operators` makes of it, in less time."""
    words = " ".join(read.split())
    if not any(map(says_something, words)):
        raise InvalidInputError(*_nothing_to_find([Part("", word, quoted=False) for word in read.split()]))
    terms = TermQuery(weighed(words, with_years(analysis.query)))
    return ParsedQuery(original, read, words, terms, fold=analysis.fold, notes=tuple(notes_on(words)))


def _with_operators(original: str, read: str, analysis: Analysis) -> ParsedQuery:
    everything = parts_of(read, analysis.is_field)
    asked = [part for part in everything if part.filter is not None]
    parts = [part for part in everything if part.filter is None]
    patterns = _Patterns(analysis)
    wanted = [leaf for part in parts if part.operator != "-" for leaf in part.leaves]
    words = " ".join(patterns.words_of(leaf) for leaf in wanted)
    if not any(map(says_something, words)):
        raise InvalidInputError(*_nothing_to_find(everything))
    required = [part for part in parts if part.operator == "+" or (not part.operator and _demands(part, patterns))]
    excluded = [part for part in parts if part.operator == "-"]
    return ParsedQuery(
        original=original,
        read=_without(read, asked),
        words=words,
        terms=patterns.query(wanted),
        required=_clauses(required, analysis, patterns),
        excluded=_clauses(excluded, analysis, patterns),
        filter=_joined(asked),
        fold=analysis.fold,
        notes=(*patterns.notes, *notes_on(words)),
        warnings=tuple(patterns.warnings),
    )


def _demands(part: Part, patterns: "_Patterns") -> bool:
    return part.quoted or bool(part.any_of) or bool(patterns.pattern_of(part))


class _Patterns:
    """The patterns of one question, each looked up once."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._weigh = with_years(analysis.query)
        self._found: dict[str, tuple[str, ...]] = {}
        self.notes: list[str] = []
        self.warnings: list[StageWarning] = []

    def pattern_of(self, part: Part) -> str:
        """Return a part's pattern, folded; empty for a word or a phrase."""
        if "*" not in part.text and "?" not in part.text:  # asked of every word, several times
            return ""
        found = "" if self._analysis.expand is None or part.quoted else pattern_in(part.text)
        return self._analysis.fold(found) if found else ""

    def words_of(self, part: Part) -> str:
        """Return a part as words for the embedder: of a pattern its most frequent word."""
        pattern = self.pattern_of(part)
        if not pattern:
            return part.text
        return next(iter(self.expanded(pattern)), plain(pattern))

    def expanded(self, pattern: str) -> tuple[str, ...]:
        """Return the words that a pattern stands for, and note them."""
        if pattern in self._found or self._analysis.expand is None:
            return self._found.get(pattern, ())
        words, cut = self._analysis.expand(pattern)
        self._found[pattern] = words
        self.notes.append(f"{pattern} stands for {', '.join(words)}{', …' * cut}" if words else f"no word is {pattern}")
        if cut:
            says = f"More than {MAX_WORDS} words are {pattern}; the {MAX_WORDS} most frequent are searched for."
            self.warnings.append(StageWarning("parse", WarningCode.LIMITED, says))
        elif not words:
            self.warnings.append(StageWarning("parse", WarningCode.NO_MATCH, f"No word of the index is {pattern}."))
        return words

    def query(self, parts: Sequence[Part]) -> TermQuery:
        """Return the query for BM25, in which a pattern is a group of its words' terms."""
        patterns = dict.fromkeys(pattern for part in parts if (pattern := self.pattern_of(part)))
        typed = " ".join(part.text for part in parts if not self.pattern_of(part))
        if not patterns:
            return TermQuery(weighed(typed, self._weigh))
        groups = {pattern: made for pattern in patterns if (made := tuple(self._members(pattern)))}
        return TermQuery({**self._weigh(typed), **dict.fromkeys(groups, 1.0)}, groups=groups)

    def _members(self, pattern: str) -> Iterator[GroupMember]:
        for clause in self.clauses(pattern):
            yield GroupMember(clause.terms, phrase="" if len(clause.terms) == 1 else clause.verbatim)

    def clauses(self, pattern: str) -> tuple[Clause, ...]:
        """Return a clause for each of a pattern's words that has terms, none twice."""
        words = [Part("", word, quoted=False) for word in self.expanded(pattern)]
        made = (_clause(word, one) for word in words for one in self._analysis.each or (self._analysis,))
        return tuple(dict.fromkeys(one for one in made if one.terms))


def loosened(text: str, is_field: Callable[[str], bool] = lambda _: False) -> tuple[str, ...]:
    """Return a question with one of its operators taken back, in turn; then with all of them, if there are several.

    What was required is still asked for, what was excluded and what said where to look is gone.

    >>> loosened('undo +commit -merge "soft reset"')[:3]
    ('undo commit -merge "soft reset"', 'undo +commit "soft reset"', 'undo +commit -merge soft reset')
    """
    read = _CONTROL.sub(" ", _SURROGATE.sub("\ufffd", text))
    parts = parts_of(read, is_field)
    bound = [part for part in parts if part.operator or part.quoted or part.any_of or part.filter is not None]
    bound += [part for part in parts if part not in bound and pattern_in(part.text)]
    bound.sort(key=lambda part: part.span)
    singly = tuple(_without_operators(read, [part]) for part in bound)
    return (*singly, _without_operators(read, bound)) if len(bound) > 1 else singly


def _without_operators(text: str, parts: Iterable[Part]) -> str:
    kept, at = [], 0
    for part in parts:
        stays = part.filter is None and part.operator != "-"
        words = " ".join(as_prose(leaf.text) if leaf.quoted else _prose_of_word(leaf.text) for leaf in part.leaves)
        kept += [text[at : part.span[0]], f" {words} " if stays else ""]
        at = part.span[1]
    return " ".join("".join([*kept, text[at:]]).split())


def _prose_of_word(text: str) -> str:
    return plain(text) if pattern_in(text) else as_prose(text)


def _length(text: str) -> int:
    """Count characters as they are read: some that are one to write, such as ligatures, are many when written out."""
    if text.isascii() or len(text) > MAX_QUESTION_LENGTH:
        return len(text)
    return max(len(text), len(unicodedata.normalize("NFKC", text)))


def _without(text: str, asked: Iterable[Part]) -> str:
    """Return the text without the parts that say where to look."""
    kept, at = [], 0
    for part in asked:
        kept.append(text[at : part.span[0]])
        at = part.span[1]
    return "".join([*kept, text[at:]])


def _joined(asked: Iterable[Part]) -> Filter:
    conditions = tuple(dict.fromkeys(part.filter for part in asked if part.filter is not None))
    return checked(conditions[0] if len(conditions) == 1 else And(conditions))


def _clauses(parts: Iterable[Part], analysis: Analysis, patterns: _Patterns) -> tuple[Clause, ...]:
    return tuple(dict.fromkeys(_whole_clause(part, analysis, patterns) for part in parts))


def _whole_clause(part: Part, analysis: Analysis, patterns: _Patterns) -> Clause:
    """Return what a part demands; patterns and alternatives are clauses of which one must hold."""
    if part.any_of:
        each = (reduce(both, [_whole_clause(one, analysis, patterns) for one in some]) for some in part.any_of)
        return either(tuple(each), part.text)
    pattern = patterns.pattern_of(part)
    if pattern:
        return either(patterns.clauses(pattern), pattern)
    ways = tuple(dict.fromkeys(_clause(part, one) for one in analysis.each or (analysis,)))
    return ways[0] if len(ways) == 1 else either(ways, ways[0].label)


def _clause(part: Part, analysis: Analysis) -> Clause:
    if part.quoted:
        label = f'"{part.text}"~{part.slop}' if part.slop else f'"{part.text}"'
        return Clause(tuple(analysis.phrase_terms(part.text)), part.text, part.slop, label=label)
    terms = tuple(analysis.clause_terms(part.text))
    if len(terms) == 1:
        return Clause(terms, label=part.text)
    # Several terms that stand apart would be another thing than the word asked for.
    start = next(place for place, character in enumerate(part.text) if says_something(character))
    end = next(place for place, character in enumerate(reversed(part.text)) if says_something(character))
    return Clause(terms, part.text[start : len(part.text) - end], label=part.text)


def _nothing_to_find(parts: Sequence[Part]) -> tuple[str, str]:
    if parts and all(part.filter is not None for part in parts):
        return "The question only says where to look.", "Add a word to look for."
    if any(part.operator == "-" for part in parts):
        return "The question only says what not to find.", "Add a word to look for."
    if parts:
        return "The question holds no word.", "Ask with at least one letter or digit."
    return "The question is empty.", "Type at least one word."
