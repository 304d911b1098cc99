"""Scores made of scores: by age, and by a formula of the user's own.

Recency lets scores fall by half of a share of them with every half-life:

    factor = (1 - weight) + weight · 2^(-age / half-life)
    final  = s · factor    for s ≥ 0        final = s / factor    for s < 0

Age is counted in days from a field that holds dates; what has no such date keeps its score, as what is new does. Of
several dates the newest counts, and one that is still to come has the age 0.

A formula is of a small language that is parsed into steps over arrays, and never evaluated:


    sum     = product { ("+" | "-") product }        product = factor { ("*" | "/") factor }
    factor  = "-" factor | number | "(" sum ")" | name | function "(" sum { "," sum } ")" | "age_days" "(" name ")"

Names are `score` (what stood before), `bm25` and `cosine` (what the retrievers gave), `age_days` (since `modified`),
and fields that hold numbers; `age_days(created)` counts from another date. A field that is missing or holds no number
is 0, and an age without a date too. Functions are `min`, `max` (of two or more), `log` and `exp`. A result that is no
finite number, such as that of a division by 0, is 0.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import reduce
from typing import Final, NoReturn

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import values_of
from twofold.domain.types import MetadataValue, Scores

DATE_FIELD: Final = "modified"
HALF: Final = 0.5
_LEAST: Final = 1e-6
_DAYS: Final = {"h": 1.0 / 24.0, "d": 1.0, "w": 7.0, "m": 30.0, "y": 365.0}
_SPEC: Final = re.compile(
    r"(?:(?P<field>[^:@]{1,200}):)?(?P<count>\d{1,6}(?:\.\d{1,3})?)(?P<unit>[hdwmy])"
    r"(?::(?P<weight>\d(?:\.\d{1,6})?))?(?:@(?P<origin>[0-9T:.+Z-]{4,40}))?",
    re.ASCII,
)
_SECONDS_A_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Recency:
    """How scores fall with age. `origin` is the day that ages are counted from, in ISO; empty for now."""

    field: str = DATE_FIELD
    half_life: float = 30.0  # days
    weight: float = HALF
    origin: str = ""


@dataclass(frozen=True, slots=True)
class RecencyStep:
    """What recency did to one passage; `age_days` is None for one without a date."""

    field: str
    age_days: float | None
    half_life_days: float
    weight: float

    @property
    def factor(self) -> float:
        """What the score is multiplied by.

        >>> RecencyStep("modified", 30.0, 30.0, 0.5).factor, RecencyStep("modified", None, 30.0, 0.5).factor
        (0.75, 1.0)
        """
        if self.age_days is None:
            return 1.0
        left: float = HALF ** (self.age_days / self.half_life_days)
        return max(_LEAST, (1.0 - self.weight) + self.weight * left)

    def apply(self, score: float) -> float:
        """Recompute the score after this step from the one before, to the last bit."""
        return score * self.factor if score >= 0.0 else score / self.factor


def parse_recency(text: str) -> Recency:
    """Read `30d`, `date:2y` or `modified:30d:0.3@2026-01-01`: field, half-life, weight in (0, 1], and origin.

    Units are h, d, w, m (30 days) and y (365). Raises InvalidInputError.
    """
    found = _SPEC.fullmatch(text.strip())
    days = 0.0 if found is None else float(found["count"]) * _DAYS[found["unit"]]
    weight = HALF if found is None or found["weight"] is None else float(found["weight"])
    if found is None or not days or not 0.0 < weight <= 1.0 or (found["origin"] and moment_of(found["origin"]) is None):
        raise InvalidInputError(
            f"{text[:100]!r} is no half-life.",
            "Write such as `30d`, `modified:2y`, or with a weight: `modified:30d:0.3`.",
        )
    return Recency(found["field"] or DATE_FIELD, days, weight, found["origin"] or "")


def moment_of(value: object) -> datetime | None:
    """Return the moment that an ISO date or time names, `2025` and `2025-01` included; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip()
    whole = text + "0001-01-01"[len(text) :] if len(text) in (len("2025"), len("2025-01")) else text
    try:
        found = datetime.fromisoformat(whole)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def age_in_days(fields: Mapping[str, MetadataValue], field: str, now: datetime) -> float | None:
    """Return how many days before `now` the newest date in a field is, at least 0; None without a date."""
    moments = [one for one in map(moment_of, values_of(fields.get(field, ()))) if one is not None]
    return max(0.0, (now - max(moments)).total_seconds() / _SECONDS_A_DAY) if moments else None


def now_of(origin: str) -> datetime:
    """Return the moment that ages are counted from."""
    return (moment_of(origin) if origin else None) or datetime.now(UTC)


MAX_LENGTH: Final = 500  # characters
MAX_STEPS: Final = 100
MAX_DEPTH: Final = 20
SCORE: Final = "score"
BM25: Final = "bm25"
COSINE: Final = "cosine"
AGE: Final = "age_days"
_FUNCTIONS: Final[Mapping[str, tuple[int, int]]] = {"min": (2, 20), "max": (2, 20), "log": (1, 1), "exp": (1, 1)}
_TOKEN: Final = re.compile(r"\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_][A-Za-z0-9_.]*)|([-+*/(),]))", re.ASCII)

Op = tuple[str, float | str | int]
"""One step of a machine with a stack: a number, a name, an operator with how many values it takes."""


@dataclass(frozen=True, slots=True)
class ScoreExpression:
    """A formula as it was written, and its steps."""

    text: str
    steps: tuple[Op, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What it needs to know of a passage: `score`, `bm25`, `cosine`, fields, and `age_days:FIELD` for ages."""
        return tuple(dict.fromkeys(str(value) for kind, value in self.steps if kind == "name"))

    def evaluate(self, values: Mapping[str, Scores]) -> Scores:
        """Return the score of each passage; `values` are arrays by name, all (n,).

        >>> read = parse_expression("0.5 * score + log(1 + clicks)")
        >>> read.evaluate({"score": np.array([0.8]), "clicks": np.array([0.0])})
        array([0.4])
        """
        stack: list[Scores] = []
        with np.errstate(all="ignore"):
            for kind, value in self.steps:
                if kind == "number":
                    stack.append(np.full(len(next(iter(values.values()))), float(value)))
                elif kind == "name":
                    stack.append(values[str(value)])
                else:
                    taken = int(value)
                    some = stack[-taken:]
                    del stack[-taken:]
                    stack.append(_applied(kind, some))
        return np.where(np.isfinite(stack[0]), stack[0], 0.0)


@dataclass(frozen=True, slots=True)
class ScoreStep:
    """What the formula made of one passage: `inputs` are what it knew of it, but for the `score` before."""

    expression: str
    inputs: Mapping[str, float]

    def apply(self, score: float) -> float:
        """Recompute the score after this step from the one before, to the last bit."""
        known = {name: np.array([value]) for name, value in {**self.inputs, SCORE: score}.items()}
        return float(parse_expression(self.expression).evaluate(known)[0])


def parse_expression(text: str) -> ScoreExpression:
    """Read a formula. Raises InvalidInputError, with the place, for what cannot be read and what is too long."""
    if len(text) > MAX_LENGTH:
        raise InvalidInputError(
            f"The score has {len(text):,} characters; {MAX_LENGTH} is the most.", "Make it shorter."
        )
    reader = _Reader(text)
    reader.sum(1)
    if reader.kind:
        reader.fail(f"cannot go on with {reader.word!r}")
    return ScoreExpression(text, tuple(reader.steps))


_BINARY: Final[Mapping[str, Callable[[Scores, Scores], Scores]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}
_UNARY: Final[Mapping[str, Callable[[Scores], Scores]]] = {"-": np.negative, "log": np.log, "exp": np.exp}


def _applied(kind: str, values: Sequence[Scores]) -> Scores:
    return _UNARY[kind](values[0]) if len(values) == 1 else reduce(_BINARY[kind], values)


class _Reader:
    """A text, where it has been read to, and the steps that it made so far."""

    def __init__(self, text: str) -> None:
        self.steps: list[Op] = []
        self._tokens = self._split(text)
        self.kind, self.word, self._at = next(self._tokens)

    def _split(self, text: str) -> Iterator[tuple[str, str, int]]:
        at = 0
        while text[at:].strip():
            found = _TOKEN.match(text, at)
            if found is None:
                self._at = at + len(text[at:]) - len(text[at:].lstrip())
                self.fail(f"cannot go on with {text[self._at]!r}")
            yield (
                ("", "number", "name", "sign")[found.lastindex or 0],
                found[found.lastindex or 0],
                found.start(found.lastindex or 0),
            )
            at = found.end()
        while True:
            yield "", "the end", len(text)

    def sum(self, depth: int) -> None:
        """Read a sum."""
        self._joined("+-", depth, self._product)

    def _product(self, depth: int) -> None:
        self._joined("*/", depth, self._factor)

    def _joined(self, signs: str, depth: int, part: Callable[[int], None]) -> None:
        part(depth)
        while self.kind == "sign" and self.word in signs:
            sign = self._advance()
            part(depth)
            self._add(sign, 2)

    def _factor(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            self.fail(f"is nested more than {MAX_DEPTH} levels deep")
        if self.kind == "number":
            self._add("number", float(self._advance()))
        elif self.kind == "name":
            self._named(depth)
        elif self.word == "-" and self.kind == "sign":
            self._advance()
            self._factor(depth + 1)
            self._add("-", 1)
        elif self.word == "(" and self.kind == "sign":
            self._advance()
            self.sum(depth + 1)
            self._expect(")")
        else:
            self.fail(f"needs a number or a name, not {self.word!r}")

    def _named(self, depth: int) -> None:
        at, name = self._at, self._advance()
        opens = self.kind == "sign" and self.word == "("
        if name == AGE:
            self._add("name", f"{AGE}:{self._date_field() if opens else 'modified'}")
        elif opens:
            self._called(name, at, depth)
        elif name in _FUNCTIONS:
            self._at = at
            self.fail(f"needs parentheses behind {name!r}")
        else:
            self._add("name", name)

    def _date_field(self) -> str:
        self._advance()
        if self.kind != "name":
            self.fail(f"needs a field's name, not {self.word!r}")
        field = self._advance()
        self._expect(")")
        return field

    def _called(self, name: str, at: int, depth: int) -> None:
        if name not in _FUNCTIONS:
            self._at = at
            self.fail(f"has no function {name!r}; there are min, max, log, exp and age_days")
        self._advance()
        self.sum(depth + 1)
        count = 1
        while self.kind == "sign" and self.word == ",":
            self._advance()
            self.sum(depth + 1)
            count += 1
        least, most = _FUNCTIONS[name]
        if not least <= count <= most:
            self._at = at
            self.fail(f"gives {name} {count} values; it takes {least if least == most else f'{least} or more'}")
        self._expect(")")
        self._add(name, count)

    def _expect(self, sign: str) -> None:
        if self.kind != "sign" or self.word != sign:
            self.fail(f"needs {sign!r}, not {self.word!r}")
        self._advance()

    def _advance(self) -> str:
        taken = self.word
        self.kind, self.word, self._at = next(self._tokens)
        return taken

    def _add(self, kind: str, value: float | str) -> None:
        self.steps.append((kind, value))
        if len(self.steps) > MAX_STEPS:
            self.fail(f"has more than {MAX_STEPS} parts")

    def fail(self, said: str) -> NoReturn:
        """Refuse the text, and say where. Raises InvalidInputError."""
        raise InvalidInputError(
            f"The score {said}, at character {self._at + 1}.",
            "Write such as `0.7 * score + 0.3 / (1 + age_days)`; docs/results.md has the language.",
        )
