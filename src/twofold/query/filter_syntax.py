"""Filters as people write them: `type in [".sql", ".md"] and modified >= 2025-01-01 and not source contains "draft"`.

    filter  = all { "or" all }                  all = part { "and" part }
    part    = "not" part | "(" [ filter ] ")" | test
    test    = field [ "exists" ] | field sign value | field [ "not" ] word
    word    = "in" "[" [ value { "," value } ] "]" | "contains" value | "starts with" value | "exists"
    sign    = "==" "=" "!=" "<" "<=" ">" ">=" "^=" "~=" "is"

Fields and values may stand in quotes; a bare value goes on to `and`, `or`, `)` or the end. Read by recursive descent in
time linear in the text, which knows no document and no store. `docs/filters.md` says what each test means.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Condition, Filter, Floor, Not, Operator, Or
from twofold.domain.types import Scalar
from twofold.query.parse import MAX_DEPTH, MAX_FILTER_LENGTH, MAX_TESTS, checked
from twofold.query.value_parsing import Sign, Written, equal_to, is_year, read_bare, test_of

ALIASES: Mapping[str, str] = MappingProxyType(
    {"path": "source", "file": "source", "suffix": "type", "file_type": "type", "mime": "media_type"}
)
FLOORS: Mapping[str, str] = MappingProxyType({"min_entity_density": "entity_density"})
"""Names of lower bounds that replace a profile's own, and the fields that they bound."""
KEYWORDS = frozenset({"and", "or", "not", "in", "is", "contains", "starts", "exists"})
_SIGNS = {
    "=": Sign.EQUAL,
    "==": Sign.EQUAL,
    "!=": Sign.UNEQUAL,
    "<": Sign.LESS,
    "<=": Sign.AT_MOST,
    ">": Sign.MORE,
    ">=": Sign.AT_LEAST,
    "^=": Sign.PREFIX,
    "~=": Sign.CONTAINS,
}
_SPACE = re.compile(r"\s*")
_SIGN = re.compile(r"==|!=|<=|>=|\^=|~=|=|<|>")
_FIELD = re.compile(r"""[^\s=<>!^~()\[\],"']+""")
_QUOTED = re.compile(
    r"""
    "( [^"\\]*+ (?: \\. [^"\\]*+ )* )" |
    '( [^'\\]*+ (?: \\. [^'\\]*+ )* )'
    """,
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\(["'\\])""")
_BARE = re.compile(r"[^\s)]+")
_LISTED = re.compile(r"[^\s\],]+")
_REMEDY = 'Write such as: type in [".md"] and not title contains "draft".'


def parse_filter(text: str) -> Filter:
    """Read a filter; `()` lets everything through.

    `year >= 2020 and not draft` passes where `year` is 2020 or more, as a number or as text, and there is no field
    `draft`. Raises InvalidInputError, with the place, for what cannot be read and for what is too long or too deep.
    """
    if len(text) > MAX_FILTER_LENGTH:
        raise InvalidInputError(
            f"The filter has {len(text):,} characters; {MAX_FILTER_LENGTH:,} is the most.", "Ask with less."
        )
    reader = _Reader(text)
    condition = reader.either()
    if not reader.ended():
        raise reader.error("cannot go on here", "Join tests with `and` or `or`; put odd values in quotes.")
    return checked(condition)


class _Reader:
    """A text, and how far it has been read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._tests = 0

    def ended(self) -> bool:
        self._at = self._spaced(self._at)
        return self._at == len(self._text)

    def either(self) -> Filter:
        parts = [self._all()]
        while self._takes("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def error(self, said: str, hint: str = _REMEDY, at: int | None = None) -> InvalidInputError:
        place = self._spaced(self._at) if at is None else at
        rest = self._text[place : place + 20]
        near = f"at {rest!r}" if rest else "at its end"
        return InvalidInputError(f"The filter {said}: character {place + 1}, {near}.", hint)

    def _all(self) -> Filter:
        parts = [self._part()]
        while self._takes("and"):
            parts.append(self._part())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _part(self) -> Filter:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.error(f"is nested more than {MAX_DEPTH} levels deep", "Ask with fewer parentheses.")
        part = self._nested()
        self._depth -= 1
        return part

    def _nested(self) -> Filter:
        if self._takes("not"):
            return Not(self._part())
        if not self._takes_mark("("):
            return self._test()
        opened = self._at - 1
        part = And() if self._next() == ")" else self.either()
        if not self._takes_mark(")"):
            raise self.error("opens a parenthesis that is not closed", "Close it with `)`.", opened)
        return part

    def _test(self) -> Filter:
        self._count(1)
        at, field = self._at, self._field()
        if field in FLOORS:
            return self._floor(field, at)
        found = _SIGN.match(self._text, self._spaced(self._at))
        if found:
            self._at = found.end()
            return test_of(field, _SIGNS[found[0]], self._value())
        if self._takes("is"):
            return test_of(field, Sign.IS, self._value())
        return Not(self._word_operator(field)) if self._takes_negation() else self._word_operator(field)

    def _floor(self, name: str, at: int) -> Filter:
        found = _SIGN.match(self._text, self._spaced(self._at))
        if found is None or found[0] not in {"=", "==", ">="}:
            raise self.error(f"sets {name} to nothing", f"Write: {name} >= 0.05", at)
        self._at = found.end()
        value = read_bare(self._value().text)
        if isinstance(value, str | bool):
            raise self.error(f"sets {name} to what is no number", f"Write: {name} >= 0.05", at)
        return Floor(FLOORS[name], Operator.GE, value)

    def _word_operator(self, field: str) -> Filter:
        if self._takes("in"):
            return self._one_of(field)
        if self._takes("contains"):
            return test_of(field, Sign.CONTAINS, self._value())
        if self._takes("starts"):
            if not self._takes("with"):
                raise self.error("says `starts` without `with`", "Write: source starts with docs/")
            return test_of(field, Sign.PREFIX, self._value())
        self._takes("exists")
        return Condition(field, Operator.EXISTS)

    def _one_of(self, field: str) -> Filter:
        if not self._takes_mark("["):
            raise self.error("has no list after `in`", 'Write the values in brackets: type in [".md", ".txt"].')
        tests: list[Condition] = []
        while not self._takes_mark("]"):
            if tests and not self._takes_mark(","):
                raise self.error("has a list that does not go on", "Part its values with `,` and close it with `]`.")
            tests += equal_to(field, self._value(_LISTED))
            self._count(1)
        return tests[0] if len(tests) == 1 else Or(tuple(tests))

    def _field(self) -> str:
        at = self._spaced(self._at)
        quoted = self._quoted(at)
        if quoted is not None:
            return quoted
        found = _FIELD.match(self._text, at)
        if found is None or found[0].lower() in KEYWORDS:
            raise self.error("wants a field", "Name one; in quotes if it is a word of the language such as `in`.", at)
        self._at = found.end()
        return ALIASES.get(found[0], found[0])

    def _value(self, bare: re.Pattern[str] = _BARE) -> Written:
        start = self._spaced(self._at)
        quoted = self._quoted(start)
        if quoted is not None:
            return Written(quoted, quoted=True)
        end = start
        while found := bare.match(self._text, self._spaced(end)):
            if found[0].lower() in {"and", "or"}:
                break
            if found[0][0] == '"':
                raise self.error("has a quote within a value", "Put the whole value in quotes.", found.start())
            end = found.end()
        if end == start:
            raise self.error("wants a value", 'Give one; "" is the empty text.', start)
        self._at = end
        return Written(self._text[start:end], quoted=False)

    def _quoted(self, at: int) -> str | None:
        if self._text[at : at + 1] not in {'"', "'"}:
            return None
        found = _QUOTED.match(self._text, at)
        if found is None:
            raise self.error("opens a quote that is not closed", 'Close it; within quotes write \\" for a quote.', at)
        self._at = found.end()
        return _ESCAPE.sub(r"\1", found[1] if found[2] is None else found[2])

    def _takes(self, keyword: str) -> bool:
        """Step over a keyword, if it stands here as a word of its own."""
        found = _FIELD.match(self._text, self._spaced(self._at))
        if found is None or found[0].lower() != keyword:
            return False
        self._at = found.end()
        return True

    def _takes_negation(self) -> bool:
        """Step over the `not` of `not in`, `not contains`, `not starts with`, `not exists`."""
        before = self._at
        if not self._takes("not"):
            return False
        following = _FIELD.match(self._text, self._spaced(self._at))
        if following and following[0].lower() in {"in", "contains", "starts", "exists"}:
            return True
        self._at = before
        return False

    def _takes_mark(self, mark: str) -> bool:
        if self._next() != mark:
            return False
        self._at = self._spaced(self._at) + 1
        return True

    def _next(self) -> str:
        at = self._spaced(self._at)
        return self._text[at : at + 1]

    def _spaced(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def _count(self, tests: int) -> None:
        self._tests += tests
        if self._tests > MAX_TESTS + 1:  # a list is one, and so is each of its values
            raise self.error(f"has more than {MAX_TESTS:,} conditions", "Ask with fewer.")


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_SIGNS_render = {
    Operator.LT: "<",
    Operator.LE: "<=",
    Operator.GT: ">",
    Operator.GE: ">=",
    Operator.PREFIX: "starts with",
    Operator.CONTAINS: "contains",
}
_FLOORS = {field: name for name, field in FLOORS.items()}
_QUOTE = re.compile(r'["\\]')


def render(condition: Filter) -> str:
    r"""Write a filter as text: `parse_filter(render(f)) == f`.

    An And or Or of a single part is written as that part, which means the same. `Condition("year", Operator.GE, 2020)`
    is `year >= +2020`. Raises InvalidInputError for what the language cannot say: a `contains` of a number, an infinite
    number, or more than `limits.checked` lets through.
    """
    return _rendered(checked(condition))


def _rendered(condition: Filter) -> str:
    match condition:
        case And(parts):
            return " and ".join(map(_within, parts)) if parts else "()"
        case Or(parts):
            return " or ".join(map(_within, parts)) if parts else '"" in []'
        case Not(part):
            return f"not {_within(part)}"
        case Condition():
            return _test(condition)


def _within(part: Filter) -> str:
    """Put what joins several parts in parentheses."""
    while isinstance(part, And | Or) and len(part.parts) == 1:
        (part,) = part.parts
    joins = isinstance(part, And | Or) and part.parts
    return f"({_rendered(part)})" if joins else _rendered(part)


def _test(test: Condition) -> str:
    if isinstance(test, Floor) and test.field in _FLOORS:
        return f"{_FLOORS[test.field]} >= {_value(test.value)}"
    field = _field(test.field)
    if test.op is Operator.EXISTS:
        return f"{field} exists"
    if test.op is Operator.EQ:
        return f"{field} {'==' if isinstance(test.value, str) else 'is'} {_value(test.value)}"
    if test.op in {Operator.PREFIX, Operator.CONTAINS} and not isinstance(test.value, str):
        raise InvalidInputError(f"A filter looks for a {type(test.value).__name__} within text.", "Look for text.")
    value = _value(test.value)
    return f"{field} {_SIGNS_render[test.op]} {f'+{value}' if is_year(value) else value}"


def _field(name: str) -> str:
    plain = _PLAIN.fullmatch(name) and name.lower() not in KEYWORDS and name not in ALIASES
    return name if plain else _quoted(name)


def _value(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _quoted(value)
    return repr(value)


def _quoted(text: str) -> str:
    return '"' + _QUOTE.sub(r"\\\g<0>", text) + '"'
