"""Boosts: users' code patterns shared by question and passage multiply a score, rules on its fields add to it.

    final = s · multiplier + bonus    for s ≥ 0
    final = s / multiplier + bonus    for s < 0

Fused scores may lie below 0, where a multiplication would push a boosted passage down; a division by the same number
brings it nearer to 0, and never turns two boosted passages round.

Users' patterns are matched by RE2, in time that grows with the text alone, and their size is bounded as well. A code
counts as a whole: `ERR-123` stands in `(ERR-123)` and in `ERR-123-a`, not in `ERR-1234`, `XERR-123` or `ERR-123.4`.
The patterns tell capitals from small letters unless they begin with `(?i)`; between question and passage they do not
matter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import repeat
from typing import Any, Final

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import Filter, matches
from twofold.domain.types import MetadataValue, Ranking

MAX_PATTERNS: Final = 32
MAX_PATTERN_LENGTH: Final = 200  # characters
MAX_QUESTION_LENGTH: Final = 2_048  # characters in which codes are looked for
MAX_TEXT_LENGTH: Final = 100_000  # characters of a passage
MAX_CODES: Final = 16
MAX_PLACES: Final = 256  # at which one code is looked at in one passage
MAX_MULTIPLIER: Final = 1_000.0

_PROGRAM_MEMORY: Final = 65_536  # bytes: about a thousand instructions, each 20 ns a character at the worst
_MATCHING_MEMORY: Final = 1_048_576
_FIRST_WITHOUT_SPACES: Final = "\u0e00"
_WITHOUT_SPACES: Final = (("\u0e00", "\u109f"), ("\u1780", "\u17ff"), ("\u2e80", "\U0010ffff"))


@dataclass(frozen=True, slots=True)
class CodePatterns:
    """What a user calls a code. Make one with `compile_patterns`, once; it is safe to use from several threads."""

    patterns: tuple[str, ...] = ()
    matcher: Any = field(default=None, compare=False)  # all of them as one RE2 program; None for no pattern


NO_PATTERNS: Final = CodePatterns()


@dataclass(frozen=True, slots=True)
class Rule:
    """A bonus as data: `addition` for each passage whose fields meet the condition."""

    name: str
    condition: Filter
    addition: float


@dataclass(frozen=True, slots=True)
class Bonus:
    """What rules add to one passage: the sum of their additions in their order, and their names."""

    total: float = 0.0
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BoostStep:
    """What boosting did to one passage, and why: the codes that it shares, the rules that it meets."""

    multiplier: float = 1.0
    bonus: float = 0.0
    codes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    def apply(self, score: float) -> float:
        """Recompute the score after the boost from the one before, to the last bit.

        >>> BoostStep(1.5).apply(0.75), BoostStep(1.5, 0.15).apply(-0.75), BoostStep().apply(0.8)
        (1.125, -0.35, 0.8)
        """
        expand_with_prf = score * self.multiplier if score >= 0.0 else score / self.multiplier
        return expand_with_prf + self.bonus


NO_BOOST: Final = BoostStep()


def compile_patterns(patterns: Sequence[str]) -> CodePatterns:
    r"""Compile users' patterns, such as `ERR-\d{3,6}`, into one program.

    Raises InvalidInputError for more than 32 patterns, one of more than 200 characters, one that RE2 does not read
    (it knows neither look-around nor back-references), and repetitions that make too large a program.
    """
    if len(patterns) > MAX_PATTERNS:
        raise InvalidInputError(
            f"There are {len(patterns)} code patterns, more than {MAX_PATTERNS}.", "Join some of them with `|`."
        )
    for pattern in patterns:
        if len(pattern) > MAX_PATTERN_LENGTH:
            raise InvalidInputError(
                f"The code pattern {pattern[:40]!r}… has {len(pattern)} characters, more than {MAX_PATTERN_LENGTH}.",
                "Make it shorter, or split it in two.",
            )
        _program(pattern, f"The code pattern {pattern!r}", _PROGRAM_MEMORY)
    if not patterns:
        return NO_PATTERNS
    whole = "|".join(f"(?:{pattern})" for pattern in patterns)
    _program(whole, "The code patterns together", _PROGRAM_MEMORY)
    return CodePatterns(tuple(patterns), _program(whole, "The code patterns together", _MATCHING_MEMORY))


def _program(pattern: str, what: str, memory: int) -> Any:  # noqa: ANN401 re2 has no types
    import re2

    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    options.never_capture = True
    options.longest_match = True  # of `v1.2` and `v1.2.3` the whole code, whichever pattern comes first
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0]
        said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else "it is no text"
        raise InvalidInputError(
            f"{what} cannot be used: {said}.", "Write it in RE2's syntax, with small numbers in `{n,m}`."
        ) from error


def codes_in(patterns: CodePatterns, text: str) -> tuple[str, ...]:
    r"""Return the distinct codes in the first 2,048 characters of a question, in its order, at most 16 of them.

    >>> patterns = compile_patterns([r"ERR-\d{3,6}", r"TICKET-\d+", r"v\d+\.\d+\.\d+"])
    >>> codes_in(patterns, "Fix for ERR-12345?"), codes_in(patterns, "v1.2.3: TICKET-9, v1.2.3")
    (('ERR-12345',), ('v1.2.3', 'TICKET-9'))
    """
    if patterns.matcher is None:
        return ()
    seen = text[:MAX_QUESTION_LENGTH].encode("utf-8", "replace").decode("utf-8")  # a lone surrogate is no text for RE2
    found: dict[str, None] = {}
    for match in patterns.matcher.finditer(seen):
        start, end = match.span()
        if end > start and _is_whole(seen, start, end):
            found.setdefault(seen[start:end])
            if len(found) == MAX_CODES:
                break
    return tuple(found)


def shared_codes(codes: Sequence[str], text: str) -> tuple[str, ...]:
    """Return those of the codes that stand in a passage, as a whole, whatever their case.

    >>> shared_codes(["ERR-123", "v1.2"], "See err-123, since v1.2.3.")
    ('ERR-123',)
    """
    if not codes:
        return ()
    folded = text[:MAX_TEXT_LENGTH].casefold()
    return tuple(code for code in codes if _stands_in(code.casefold(), folded))


def bonus(rules: Sequence[Rule], fields: Mapping[str, MetadataValue]) -> Bonus:
    """Add up what the rules give a passage with these fields; a missing field meets no test, and nothing raises."""
    met = [rule for rule in rules if matches(rule.condition, fields)]
    return Bonus(sum((rule.addition for rule in met), 0.0), tuple(rule.name for rule in met))


def boosts_for(
    codes: Sequence[str],
    texts: Sequence[str],
    multiplier: float,
    rules: Sequence[Rule] = (),
    fields: Sequence[Mapping[str, MetadataValue]] = (),
) -> tuple[BoostStep, ...]:
    """Return for each passage what boosts it: the question's codes in its text, the rules that its fields meet.

    `fields` run in step with `texts` where there are rules. Several shared codes multiply no more than one.

    >>> [step.multiplier for step in boosts_for(["ERR-12345"], ["see ERR-12345", "see ERR-123456"], 1.5)]
    [1.5, 1.0]

    Raises InvalidInputError for a multiplier outside [1, 1000].
    """
    if not 1.0 <= multiplier <= MAX_MULTIPLIER:
        raise InvalidInputError(f"the boost multiplier must be from 1 to 1000, not {multiplier}.", "Try 1.5.")
    if not codes and not rules:
        return (NO_BOOST,) * len(texts)
    steps = []
    for text, held in zip(texts, fields if rules else repeat({}, len(texts)), strict=True):
        shared = shared_codes(codes, text)
        added = bonus(rules, held)
        steps.append(BoostStep(multiplier if shared else 1.0, added.total, shared, added.names))
    return tuple(steps)


def boosted(ranking: Ranking, steps: Sequence[BoostStep]) -> Ranking:
    """Apply one step to each line and order again; ties keep the order that they had.

    Where no step changes anything the ranking itself comes back. 0.75 · 1.5 = 1.125 overtakes 0.80:

    >>> [(hit.key, hit.score) for hit in boosted(Ranking.of([2, 1], [0.80, 0.75]), [NO_BOOST, BoostStep(1.5)])]
    [(1, 1.125), (2, 0.8)]
    """
    if len(steps) != len(ranking):
        message = "there is one boost for each line of a ranking"
        raise ValueError(message)
    if all(step.multiplier == 1.0 and step.bonus == 0.0 for step in steps):
        return ranking
    scores = np.array([step.apply(score) for step, score in zip(steps, ranking.scores.tolist(), strict=True)])
    order = np.argsort(-scores, kind="stable")
    return Ranking(ranking.keys[order], scores[order])


def _stands_in(code: str, text: str) -> bool:
    at = text.find(code)
    for _ in range(MAX_PLACES):
        if at < 0:
            return False
        if _is_whole(text, at, at + len(code)):
            return True
        at = text.find(code, at + 1)
    return False


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether neither a word nor a number goes on beyond `text[start:end]`, which is not empty."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return not (_goes_on(text[start], before[::-1]) or _goes_on(text[end - 1], after))


def _goes_on(edge: str, beyond: str) -> bool:
    """Return so for one edge; `beyond` holds up to two characters, the nearer first."""
    if not beyond:
        return False
    if _is_of_a_word(edge) and _is_of_a_word(beyond[0]):
        return True
    return edge.isdecimal() and beyond[0] == "." and beyond[1:].isdecimal()


def _is_of_a_word(character: str) -> bool:
    """Return whether a character goes together with its neighbors; scripts without spaces have no such borders."""
    if character < _FIRST_WITHOUT_SPACES:
        return character.isalnum() or character == "_"
    return character.isalnum() and not any(first <= character <= last for first, last in _WITHOUT_SPACES)
