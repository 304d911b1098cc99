"""What an index shows first, and leaves out, for a question: documents by question, those left out behind a `-`."""

from collections.abc import Mapping, Sequence
from typing import Final

from twofold.domain.errors import InvalidInputError, check_kind
from twofold.query.parse import normalize
from twofold.text.unicode_normalization import fold

HIDING: Final = "-"
MAX_QUESTIONS: Final = 256
MAX_NAMES: Final = 50


def pins_with(
    pins: Mapping[str, Sequence[str]], query: str, first: Sequence[str], hidden: Sequence[str]
) -> Mapping[str, Sequence[str]]:
    """Return pins with those of one question replaced; a question with none is left out.

    Raises InvalidInputError for a question without words, too many questions, or too many documents of one.
    """
    check_kind("A question", query, str, "Ask in words.")
    asked = normalized_query(query)
    if not asked:
        raise InvalidInputError("The question has no word.", "Pin documents to a question as people type it.")
    both = set(first) & set(hidden)
    if both:
        raise InvalidInputError(f"{min(both)!r} cannot be shown first and left out.", "Name it once.")
    names = [*dict.fromkeys(first), *(f"{HIDING}{one}" for one in dict.fromkeys(hidden))]
    others = {known: tuple(some) for known, some in pins.items() if normalized_query(known) != asked}
    if len(names) > MAX_NAMES or len(others) >= MAX_QUESTIONS:
        raise InvalidInputError(
            f"An index keeps pins of {MAX_QUESTIONS} questions, {MAX_NAMES} documents each.", "Take some back first."
        )
    return {**others, asked: tuple(names)} if names else others


def normalized_query(query: str) -> str:
    """Return a question as questions are compared: without capitals and punctuation."""
    return normalize(query, fold)
