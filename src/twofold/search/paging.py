"""Pages of a ranking: a cursor says where the next one begins, for one question and one state of the index.

The cursor also holds how many candidates each retriever gave on the first page, so that every page is cut from the same
ranking. It is opaque, and checked: one of another question or with other options is refused. Where the index has
changed since, the page is cut from the ranking as it is now, and a warning says so.
"""

import binascii
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import NamedTuple

from twofold.domain.errors import InvalidInputError
from twofold.domain.warning import StageWarning, WarningCode
from twofold.query.history import Turn
from twofold.search.result import SearchResult

BEGIN = "start"
"""The cursor of the first page."""
_DIGEST, _NUMBER = 8, 5  # bytes
_SIZE = _DIGEST + 3 * _NUMBER
_SPELLING = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")
CHANGED = "The index has changed since the first page: passages may come twice or be missing."


class Place(NamedTuple):
    """Where a page begins: after how many hits, among how many candidates of each retriever, in which generation."""

    offset: int
    depth: int
    generation: int


def question_digest(query: str, options_key: str, history: Sequence[Turn]) -> bytes:
    """Return what a cursor is bound to."""
    identity = repr((query, options_key, tuple((turn.role, turn.text) for turn in history)))
    return blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


def cursor_at(place: Place, digest: bytes) -> str:
    """Return a cursor: 23 bytes as 31 characters that are safe in a URL."""
    raw = digest + b"".join((number % (1 << 8 * _NUMBER)).to_bytes(_NUMBER, "big") for number in place)
    return binascii.b2a_base64(raw, newline=False).translate(_SPELLING[0]).rstrip(b"=").decode()


def place_of(cursor: str, digest: bytes) -> Place | None:
    """Return where a cursor leads; None for the first page. Raises InvalidInputError for one of another search."""
    if cursor == BEGIN:
        return None
    try:
        text = cursor.encode("ascii").translate(_SPELLING[1])
        raw = binascii.a2b_base64(text + b"=" * (-len(text) % 4), strict_mode=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != _SIZE or raw[:_DIGEST] != digest:
        raise InvalidInputError(
            "The cursor is not of this search.",
            f"Repeat the question and all options as they were; `{BEGIN}` is the first page.",
        )
    numbers = [int.from_bytes(raw[at : at + _NUMBER], "big") for at in range(_DIGEST, _SIZE, _NUMBER)]
    return Place(*numbers)


def page(found: SearchResult, began: Place | None, place: Place, digest: bytes) -> SearchResult:
    """Cut a page off a ranking: its hits keep their ranks, and `next_cursor` leads to the next page, if there is one.

    `place` is where this page begins now; `began` is where its cursor said so.
    """
    hits = found.hits[place.offset :]
    end = place.offset + len(hits)
    following = cursor_at(place._replace(offset=end), digest) if hits and end < found.counts.total else ""
    found = replace(found, hits=hits, next_cursor=following)
    if began is None or began.generation == place.generation:
        return found
    return found.with_warnings((*found.warnings, StageWarning("search", WarningCode.CHANGED, CHANGED)))
