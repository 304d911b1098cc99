"""Numbers of terms in Python: the oracle of two functions of `_analyzer.c`, and what serves without a compiler."""

from collections.abc import Mapping

import numpy as np

TERM_RECORD = np.dtype([("term", "<u4"), ("count", "<u2")])
MAX_COUNT = 65_535
MAX_NUMBER = 2**32 - 1


def number_terms(
    counts: Mapping[str, int],
    ids: dict[str, int],
    last: int,
    fresh: list[str],
    name: int,  # noqa: ARG001  # by which records in C remember numbers
) -> bytes:
    """Return (uint32 number, uint16 count) records of a passage's terms, little-endian, by rising number.

    A term that `ids` lacks gets the next number after `last` and those of `fresh`, and is added to both. Counts stop at
    65,535. `name` is the vocabulary's, 0 for none: a name always goes with the same `ids`. Raises ValueError for a
    number that is 0 or beyond 32 bits.
    """
    numbered = []
    for term, count in counts.items():
        number = ids.get(term)
        if number is None:
            number = ids[term] = last + len(fresh) + 1
            fresh.append(term)
        if not 0 < number <= MAX_NUMBER:
            message = "a term's number is out of range"
            raise ValueError(message)
        numbered.append((number, min(count, MAX_COUNT)))
    return np.array(sorted(numbered), dtype=TERM_RECORD).tobytes()


def unknown_terms(counts: Mapping[str, int], ids: dict[str, int], name: int) -> list[str]:  # noqa: ARG001  # as above
    """Return the terms of a passage without a number, in their order."""
    return [term for term in counts if term not in ids]


def are_unicode(texts: list[str]) -> bool:
    """Return whether all texts can be written as UTF-8: none has half a surrogate pair."""
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shape_tokens(text: str, classes: bytes) -> tuple[list[str], str] | None:  # noqa: ARG001
    """Return None: no text is cut here, which leaves it to the patterns of `twofold.ingest.enrich.shape`."""
    return None
