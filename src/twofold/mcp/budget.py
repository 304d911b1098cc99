"""Answers that a client can take: how many tokens they have, and cursors that go on where one ended.

Clients refuse a tool's answer that is too long, so every tool counts what it returns, by `approximate_tokens`, and
leaves the rest to a cursor. A cursor is opaque, belongs to one question with its arguments, and holds no text.
"""

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TypeVar

import msgspec

from twofold.answer.context import approximate_tokens
from twofold.domain.errors import InvalidInputError

DEFAULT_BUDGET = 8_000
MIN_BUDGET = 500
OVERHEAD = 300
"""Tokens for what stands around the rows: names of fields, the question, the cursor."""
_SHAPE = re.compile(r"[A-Za-z0-9_-]{1,64}")

Row = TypeVar("Row")


def tokens_of(row: object) -> int:
    """Return how many tokens a row takes as JSON."""
    return approximate_tokens(msgspec.json.encode(row).decode("utf-8"))


def fitting(rows: Sequence[Row], budget: int, size: Callable[[Row], int] = tokens_of) -> Sequence[Row]:
    """Return as many of the first rows as fit `budget` tokens, at least one."""
    left, count = budget - OVERHEAD, 0
    for row in rows:
        left -= size(row)
        if left < 0 and count:
            break
        count += 1
    return rows[:count]


def cut_to(text: str, tokens: int) -> str:
    """Return the longest beginning of a text with at most `tokens` tokens, ending with a word if it can."""
    text = text[: 4 * tokens + 1]  # a token has at most four characters, so the rest of a long text is never counted
    if approximate_tokens(text) <= tokens:
        return text
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if approximate_tokens(text[:middle]) <= tokens else (low, middle)
    space = text.rfind(" ", max(0, low - 40), low)
    return text[: space if space > 0 else low]


def cursor_at(offset: int, *asked: object) -> str:
    """Return the cursor of a question that goes on at `offset`."""
    return base64.urlsafe_b64encode(_digest(asked) + offset.to_bytes(5, "big")).decode().rstrip("=")


def offset_of(cursor: str, *asked: object) -> int:
    """Return where to go on; 0 for an empty cursor. Raises InvalidInputError for one of another question."""
    if not cursor:
        return 0
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)) if _SHAPE.fullmatch(cursor) else b""
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != 13 or raw[:8] != _digest(asked):  # noqa: PLR2004  # eight bytes of digest, five of offset
        raise InvalidInputError(
            "The cursor is not of this question.", "Repeat the other arguments as they were, or leave the cursor out."
        )
    return int.from_bytes(raw[8:], "big")


def _digest(asked: tuple[object, ...]) -> bytes:
    return blake2b(msgspec.json.encode(asked), digest_size=8).digest()
