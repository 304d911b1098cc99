"""The lines of a manual page as its macros see them: conditions decided, strings put in, macros of its own expanded.

What is needed to lay out a page is left out. Other files are never read, and what a page may expand to is limited.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from twofold.domain.errors import ReadError
from twofold.ingest.readers.roff.escapes import interpolated, plain, without_comment

MAX_EXPANDED = 5_000_000
"""Characters that strings and macros of one page may expand to."""
_MAX_STRING = 10_000
_CONTROL = re.compile(r"[.'][ \t]*([^\s\\{}\"]*)[ \t]*")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|[^\s\\])+|\\$)', re.DOTALL)
_BOOL = re.compile(r"[ntoe](?=\s|\\\{|$)")
_DEFINED = re.compile(r"([drcFmS])\s*(\S+)")
_SAME = re.compile(r"([^\w\s(\-+!.\\])(.*?)\1(.*?)\1")
_NUMERIC = re.compile(r"[-+\d(][^\s\\]*")
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[<>=]=?|[-+*/%&:()]")
_STRINGS = {"lq": "“", "rq": "”", "R": "®", "Tm": "™", "Aq": "'", "L": "“", "U": "”", "q": '"', "Lq": "“",
            "Rq": "”", "Le": "≤", "Ge": "≥", "Ne": "≠", "Pm": "±", "If": "∞", "Ba": "|", "Am": "&", "Lt": "<",
            "Gt": ">"}  # fmt: skip
_OWN = frozenset(
    {"Vb", "Ve", "Sp", "IX", "URL", "MTO", "EX", "EE", "SY", "YS", "TQ", "UR", "UE", "MT", "ME", "OP", "MR"}
)


class Call(NamedTuple):
    """One line: a macro with its arguments, or text where `macro` is empty; `rest` is the line behind the macro."""

    macro: str
    arguments: tuple[str, ...]
    rest: str


class Lines:
    """Goes through a page. Raises ReadError (`limit`) where its strings and macros expand to too much."""

    def __init__(self, text: str) -> None:
        self._waiting = deque(text.split("\n"))
        self._strings = dict(_STRINGS)
        self._numbers: dict[str, int] = {".g": 1}
        self._macros: dict[str, list[str]] = {}
        self._otherwise: list[bool] = []
        self._spent = 0

    def __iter__(self) -> Iterator[Call]:
        """Yield what is left for the macros of man(7) and mdoc(7), their arguments still with escapes."""
        while self._waiting:
            line = self._next()
            if line[:1] not in (".", "'"):
                yield Call("", (), self._put_in(line))
                continue
            yield from self._control(line)

    def raw(self) -> str | None:
        """Take the next line as it stands, for tables; None at the end."""
        return self._put_in(self._next()) if self._waiting else None

    def _next(self) -> str:
        line = self._waiting.popleft()
        while line.endswith("\\") and self._waiting and (len(line) - len(line.rstrip("\\"))) % 2:
            line = line[:-1] + self._waiting.popleft()
            if len(line) > 1_000_000:  # noqa: PLR2004 no line is that long
                raise _too_much()
        return without_comment(line)

    def _control(self, line: str) -> Iterator[Call]:
        found = _CONTROL.match(line)
        name = found[1] if found else ""
        rest = line[found.end() :] if found else ""
        if name in ("de", "de1", "am", "am1", "ig"):
            self._define(name, rest)
        elif name in ("ds", "as", "ds1", "as1"):
            self._set_string(name, rest)
        elif name == "nr":
            self._set_number(self._put_in(rest))
        elif name in ("if", "ie", "el"):
            self._condition(name, self._put_in(rest))
        elif name in self._macros and name not in _OWN:
            self._call(name, _arguments(self._put_in(rest)))
        elif name == "while":
            self._skip(rest)
        elif name:
            held = self._put_in(rest).replace("\\}", "")
            yield Call(name, _arguments(held), held)

    def _put_in(self, text: str) -> str:
        return interpolated(text, self._value)

    def _value(self, kind: str, name: str) -> str:
        if kind == "n":
            return str(self._numbers.get(name, 0))
        held = self._strings.get(name.split(" ", maxsplit=1)[0], "") if kind == "*" else ""
        self._spend(len(held))
        return held

    def _spend(self, count: int) -> None:
        self._spent += count
        if self._spent > MAX_EXPANDED:
            raise _too_much()

    def _define(self, how: str, rest: str) -> None:
        name, _, end = rest.strip().partition(" ")
        if how == "ig":
            name, end = "", name
        closing = re.compile(rf"[.'][ \t]*{re.escape(end.strip() or '.')}\s*$")
        body: list[str] = []
        while self._waiting and not closing.match(line := self._waiting.popleft()):
            body.append(line)
        if name and not how.startswith("am"):
            self._macros[name] = body

    def _call(self, name: str, arguments: Sequence[str]) -> None:
        def value(kind: str, key: str) -> str:
            if kind != "$":
                return f"\\{kind}[{key}]"
            if key in ("*", "@"):
                return " ".join(arguments)
            return arguments[int(key) - 1] if key.isascii() and key.isdigit() and 0 < int(key) <= len(arguments) else ""

        body = [interpolated(line.replace("\\\\", "\\"), value) for line in self._macros[name]]
        self._spend(sum(map(len, body)) + 1)
        self._waiting.extendleft(reversed(body))

    def _set_string(self, how: str, rest: str) -> None:
        name, _, value = rest.partition(" ")
        held = self._put_in(value.lstrip(" ").removeprefix('"'))
        before = self._strings.get(name, "") if how.startswith("as") else ""
        self._strings[name] = (before + held)[:_MAX_STRING]

    def _set_number(self, rest: str) -> None:
        name, _, value = rest.partition(" ")
        bare = value.strip()
        step = self._numbers.get(name, 0) if bare[:1] in ("+", "-") else 0
        self._numbers[name] = max(-_LARGEST, min(_LARGEST, step + _number(bare)))

    def _condition(self, how: str, rest: str) -> None:
        if how == "el":
            holds = not (self._otherwise.pop() if self._otherwise else True)
        else:
            holds, rest = self._decide(rest)
            if how == "ie":
                self._otherwise.append(holds)
        rest = rest.lstrip(" \t")
        if not holds:
            self._skip(rest)
        else:
            rest = rest.removeprefix("\\{").lstrip(" \t")
            if rest:
                self._waiting.appendleft(rest)

    def _decide(self, rest: str) -> tuple[bool, str]:
        """Return whether a condition holds, and what follows it. Pages are for a terminal: `n` holds, `t` does not."""
        bare = rest.lstrip(" \t")
        negated = bare.startswith("!")
        bare = bare.lstrip("!")
        if found := _BOOL.match(bare):
            holds = found[0] in "no"
        elif found := _DEFINED.match(bare):
            known = self._strings if found[1] == "d" else self._numbers
            holds = found[2] in known or (found[1] == "d" and found[2] in self._macros)
        elif found := _SAME.match(bare):
            holds = plain(found[2]) == plain(found[3])
        elif found := _NUMERIC.match(bare):
            holds = _number(found[0]) > 0
        else:
            word, _, after = bare.partition(" ")
            return negated, after if word else ""
        return holds != negated, bare[found.end() :]

    def _skip(self, rest: str) -> None:
        """Leave out what a condition rules out: the rest of its line, or all lines up to the brace that closes it."""
        depth = rest.count("\\{") - rest.count("\\}")
        while depth > 0 and self._waiting:
            line = self._waiting.popleft()
            depth += line.count("\\{") - line.count("\\}")


_LARGEST = 1 << 31


def _too_much() -> ReadError:
    return ReadError("its macros expand to too much text", "Leave it out with .twofoldignore.", "limit")


def _arguments(rest: str) -> tuple[str, ...]:
    return tuple(
        found[1].replace('""', '"') if found[1] is not None else found[2] for found in _ARGUMENT.finditer(rest)
    )


def _number(text: str) -> int:
    """Reckon as roff does, from left to right; parentheses and units are left out."""
    value, operator = 0.0, "+"
    for part in _TOKEN.findall(text[:200]):
        if part[0].isdigit():
            value = _applied(value, operator, float(part[:12]))
        elif part not in "()":
            operator = part
    return int(max(-_LARGEST, min(_LARGEST, value)))


def _applied(left: float, operator: str, right: float) -> float:
    results = {
        "+": left + right,
        "-": left - right,
        "*": left * right,
        "/": left // right if right else 0.0,
        "%": left % right if right else 0.0,
        "<": float(left < right),
        ">": float(left > right),
        "=": float(left == right),
        "==": float(left == right),
        "<=": float(left <= right),
        ">=": float(left >= right),
        "&": float(left > 0 and right > 0),
        ":": float(left > 0 or right > 0),
    }
    return max(-float(_LARGEST), min(float(_LARGEST), results.get(operator, 0.0)))
