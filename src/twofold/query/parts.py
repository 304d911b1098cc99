"""The parts of a typed question: words, phrases, signs, names with values, alternatives and words typed in part.

`retriev*` stands for every word that begins so, `col?r` for one with any letter in the gap. A pattern begins with two
letters or digits at least. `*` stands for any characters, also for none, and `?` within a word for one. A question mark
behind a word is punctuation, and `**bold**`, `*args`, `a*b` and `*.py` are no patterns. What parts demand is the
parser's business.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Filter, Not, Or
from twofold.domain.types import Clause
from twofold.query.operators import OPERATOR, field_condition, read_operator

_SLOP = re.compile(r"~(\d{1,3})(?=\W|$)")
_FIELD = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]{0,63}):(?=[^\s:/])")
_BRACKETS = re.compile(r"(?<!\S)([+-]?)\(([^()]*)\)(?=\W|$)")
OR = "OR"
SHOUTED = 4  # this many other words, none with a small letter, and OR is no operator
_CLOSING = {'"': '"', "\uff02": "\uff02", "\u201c": "\u201d", "\u201e": "\u201c\u201d", "\xab": "\xbb", "\xbb": "\xab"}
_START = re.compile(r"([+-]?)(?=\S)")
_SPACE = re.compile(r"\s")
_WORDS = re.compile(r"\S+")
_SIGNS = re.compile(f"(?<!\\S)[+-]|[:*{''.join(_CLOSING)}]")
_PATTERN = re.compile(r"\w{2}[\w.'-]*(?:[*?](?!\*)[\w.'-]*)+")
_TRAILING = ".,;:!?)"
OPTION = re.compile(r"[A-Za-z0-9][.,;:!?)]*(?!\S)")
"""An option of a command behind its sign: nobody leaves out all that holds one letter."""
MAX_WORDS = 64
"""How many words a pattern may stand for; the most frequent ones are taken."""


class Expansion(NamedTuple):
    """The words that a pattern stands for, the most frequent first, and whether there are more of them."""

    words: tuple[str, ...]
    cut: bool = False


Expand = Callable[[str], Expansion]


def pattern_in(word: str) -> str:
    """Return the pattern that a typed word is; empty for a word.

    >>> pattern_in("retriev*,"), pattern_in("col?r"), pattern_in("dbt?"), pattern_in("a*b"), pattern_in("***a*")
    ('retriev*', 'col?r', '', '', '')
    """
    found = word.rstrip(_TRAILING)
    return found if ("*" in found or "?" in found) and _PATTERN.fullmatch(found) else ""


def plain(pattern: str) -> str:
    """Return a pattern's own letters, for what cannot look words up."""
    return pattern.replace("*", "").replace("?", "")


def both(first: Clause, second: Clause) -> Clause:
    """Return a clause that holds where both do."""
    if not first.any_of:
        return Clause(first.terms, first.verbatim, first.slop, (second,), f"{first.label} {second.label}")
    together = tuple(both(one, second) for one in first.any_of)
    return Clause(first.terms, first.verbatim, first.slop, together, f"{first.label} {second.label}")


def either(clauses: tuple[Clause, ...], label: str) -> Clause:
    """Return a clause that holds where one of these does; of none, one that never does."""
    return Clause((), any_of=clauses, label=label) if clauses else Clause((label,), label=label)


class Part(NamedTuple):
    """A word or a phrase with its operator: `+`, `-` or none. `span` is where it stands; `filter` is what it asks.

    `slop` is how many words may stand among those of a phrase, `any_of` are alternatives, of several words each.
    """

    operator: str
    text: str
    quoted: bool
    span: tuple[int, int] = (0, 0)
    filter: Filter | None = None
    slop: int = 0
    any_of: "tuple[tuple[Part, ...], ...]" = ()

    @property
    def leaves(self) -> "Iterator[Part]":
        """The words and phrases that it is made of."""
        if not self.any_of:
            yield self
        for parts in self.any_of:
            yield from parts


def is_words_alone(text: str) -> bool:
    """Return whether a question has no signs, quotes, names, patterns or alternatives: its parts are its words.

    >>> [is_words_alone(text) for text in ("What is dbt?", "wom?n now", "retriev*", "-a b", "a-b c")]
    [True, False, False, False, True]
    """
    return not _SIGNS.search(text) and OR not in text and "?" not in text.rstrip("? ")


def parts_of(text: str, is_field: Callable[[str], bool]) -> list[Part]:
    """Return the parts of a question, those joined by `OR` as one."""
    words = text.split()
    if OR not in words or (text.isupper() and len(words) - words.count(OR) >= SHOUTED):
        return list(_parts(text, is_field))
    brackets = [found for found in _BRACKETS.finditer(text) if OR in found[2].split()]
    for found in brackets:  # blanks in their place, so that spans stay what they are
        text = f"{text[: found.start()]}{' ' * (found.start(2) - found.start())}{found[2]} {text[found.end() :]}"
    parts = list(_parts(text, is_field))
    for found in brackets:
        inside = [part for part in parts if found.start() <= part.span[0] < found.end()]
        made = _alternatives(_split(inside), (found.start(), found.end()), found[1])
        if made is not None:
            at = parts.index(inside[0])
            parts[at : at + len(inside)] = [made]
    return _chained(parts)


def _split(parts: Iterable[Part]) -> tuple[tuple[Part, ...], ...]:
    """Part a list at each `OR`."""
    found: list[list[Part]] = [[]]
    for part in parts:
        if _is_or(part):
            found.append([])
        else:
            found[-1].append(part)
    return tuple(map(tuple, found))


def _chained(parts: list[Part]) -> list[Part]:
    """Join what stands at either side of an `OR`; one at an end, or next to a sign, is a word."""
    made: list[Part] = []
    at = 0
    while at < len(parts):
        operands = [parts[at]]
        while at + 2 < len(parts) and _is_or(parts[at + 1]) and not _is_or(parts[at + 2]) and not _is_or(parts[at]):
            operands.append(parts[at + 2])
            at += 2
        at += 1
        joined = None
        if len(operands) > 1 and not any(part.operator for part in operands):
            span = operands[0].span[0], operands[-1].span[1]
            joined = _alternatives(tuple((part,) for part in operands), span, "")
        if joined is None:
            joins = len(operands) > 1
            for number, part in enumerate(operands):
                made += [*([Part("", OR, quoted=False)] if joins and number else []), part]
        else:
            made.append(joined)
    return made


def _is_or(part: Part) -> bool:
    return part.text == OR and not part.quoted and not part.operator and part.filter is None


def _alternatives(parts: tuple[tuple[Part, ...], ...], span: tuple[int, int], sign: str) -> Part | None:
    """Make one part of alternatives; None where one has no word or a sign. Raises InvalidInputError for a mixture."""
    flat = [part for some in parts for part in some]
    wordless = any(part.filter is None and not any(map(says_something, part.text)) for part in flat)
    if wordless or not all(parts) or any(part.operator for part in flat):
        return None
    label = " OR ".join(" ".join(part.text for part in some) for some in parts)
    conditions = [part.filter for part in flat if part.filter is not None]
    if not conditions:
        return Part(sign, label, quoted=False, span=span, any_of=parts)
    if len(conditions) != len(flat):
        raise InvalidInputError(
            "OR joins words with words, and fields with fields, not one with the other.", "Ask two questions."
        )
    each = tuple(And(tuple(part.filter for part in some if part.filter is not None)) for some in parts)
    asked = Or(tuple(one.parts[0] if len(one.parts) == 1 else one for one in each))
    return Part("", label, quoted=False, span=span, filter=Not(asked) if sign == "-" else asked)


def _parts(text: str, is_field: Callable[[str], bool]) -> Iterator[Part]:
    last = {closing: text.rfind(closing) for closing in "".join(_CLOSING.values())}
    at = 0
    while found := _START.search(text, at):
        operator, opened = found[1], found.end()
        named = OPERATOR.match(text, opened) or _FIELD.match(text, opened)
        if named and (asked := _named_operator(text, found, named, last, is_field)):
            at = asked.span[1]
            yield asked
            continue
        end = _closing(text, opened, last)
        if end < 0:
            at = _word_end(text, opened)
            yield _word(operator, text[opened:at])._replace(span=(found.start(), at))
            continue
        loose = _SLOP.match(text, end + 1)
        at = loose.end() if loose else end + 1
        phrase = text[opened + 1 : end].strip()
        if any(unicodedata.category(character)[0] in "LNSP" for character in phrase):
            slop = int(loose[1]) if loose else 0
            yield Part(operator, phrase, quoted=True, span=(found.start(), at), slop=slop)


def _named_operator(
    text: str,
    found: re.Match[str],
    named: re.Match[str],
    last: Mapping[str, int],
    is_field: Callable[[str], bool],
) -> Part | None:
    """Read a named operator with its value, quoted or not; None if it is but a word."""
    opened = named.end()
    closing = _closing(text, opened, last)
    quoted = closing >= 0
    end = closing + 1 if quoted else _word_end(text, opened)
    value = text[opened + 1 : closing].strip() if quoted else text[opened:end]
    if named.re is OPERATOR:
        condition = read_operator(named[1], value, quoted=quoted)
    else:
        condition = field_condition(named[1], value, quoted=quoted) if is_field(named[1]) else None
    if condition is None:
        return None
    asked = Not(condition) if found[1] == "-" else condition
    return Part("", text[named.start() : end], quoted=quoted, span=(found.start(), end), filter=asked)


def _word_end(text: str, start: int) -> int:
    space = _SPACE.search(text, start)
    return space.start() if space else len(text)


def _closing(text: str, opened: int, last: Mapping[str, int]) -> int:
    """Find where the quote at `opened` closes; -1 if it does not."""
    closings = [closing for closing in _CLOSING.get(text[opened], "") if last[closing] > opened]
    return min((text.index(closing, opened + 1) for closing in closings), default=-1)


def _word(operator: str, rest: str) -> Part:
    """Return whether it is an operator, not a word that begins with its sign, such as `--hard`, `-x`, `->` or `-`."""
    is_option = operator == "-" and OPTION.fullmatch(rest) is not None
    if is_option or rest[0] in "+-" or not any(map(says_something, rest)):
        return Part("", operator + rest, quoted=False)
    return Part(operator, rest, quoted=False)


def says_something(character: str) -> bool:
    """Return whether a character is a letter, a digit, or a sign that is no ASCII, such as an emoji."""
    category = unicodedata.category(character)[0]
    return category in "LN" or (category == "S" and not character.isascii())
