"""The stretch of a passage that shows best why it was found, in lines, with the asked words marked."""

from collections.abc import Sequence
from typing import NamedTuple

from twofold.cli.render.terminal import one_line, width_of
from twofold.text.analyzer import Analyzer, Token

_LOOKED_AT = 20_000
"""Characters of a passage that are looked at; passages are rarely a tenth as long."""


class Part(NamedTuple):
    """A stretch of a line, printable, and whether it is one of the asked words."""

    text: str
    marked: bool


def snippet(text: str, asked: Analyzer, terms: frozenset[str], width: int, lines: int) -> list[tuple[Part, ...]]:
    """Cut at most `lines` lines of `width` columns out of a passage, where most of the `terms` stand."""
    flat = one_line(text[:_LOOKED_AT])
    marks = [token for token in asked.tokens(flat) if token.term in terms]
    start = _best_start(flat, marks, width * lines)
    cut = _wrapped(flat, start, width - 1, lines)
    drawn = [_parts(flat, begin, end, marks) for begin, end in cut]
    if drawn and cut[-1][1] < len(flat):
        drawn[-1] = (*drawn[-1], Part("…", marked=False))
    return drawn


def _best_start(flat: str, marks: Sequence[Token], room: int) -> int:
    """Begin a little before the mark from which the most different terms are in sight; at the start of a word."""
    if len(flat) <= room or not marks:
        return 0

    def in_sight(first: Token) -> tuple[int, int]:
        seen = {token.term for token in marks if first.start <= token.start and token.end <= first.start + room}
        return len(seen), -first.start

    lead = max(marks, key=in_sight).start - room // 6
    return flat.rfind(" ", 0, lead) + 1 if lead > 0 else 0


def _wrapped(flat: str, start: int, width: int, lines: int) -> list[tuple[int, int]]:
    """Return the spans of lines that hold whole words, except where one word is longer than a line."""
    spans: list[tuple[int, int]] = []
    while start < len(flat) and len(spans) < lines:
        end, used = start, 0
        while end < len(flat) and (used := used + width_of(flat[end])) <= width:
            end += 1
        blank = flat.rfind(" ", start, end + 1)
        if end < len(flat) and blank > start:
            end = blank
        end = max(end, start + 1)
        spans.append((start, end))
        start = end + (flat[end : end + 1] == " ")
    return spans


def _parts(flat: str, begin: int, end: int, marks: Sequence[Token]) -> tuple[Part, ...]:
    parts = []
    at = begin
    for token in sorted(marks, key=lambda token: (token.start, -token.end)):
        first, last = max(token.start, at), min(token.end, end)
        if first < last:
            parts += [Part(flat[at:first], marked=False), Part(flat[first:last], marked=True)]
            at = last
    parts.append(Part(flat[at:end], marked=False))
    return tuple(part for part in parts if part.text)
