"""A sentence with those around it, or behind it, in its paragraph, for a question that one sentence hardly answers.

The sentence grows by the neighbor that answers likelier, of the two the following one where neither was read, until the
paragraph, the passage or the room ends. Rows and items are left as they are: `answer.complete` has those.
"""

import re
from collections.abc import Sequence

from twofold.answer.sentences import SentenceUnit
from twofold.answer.types import Part, Source
from twofold.domain.types import Scores

ROOM = 400  # characters
_BAR = " | "
_LONGEST_DEFAULT = 160
_DEFAULT = re.compile(r"\bdefaults?\b", re.IGNORECASE)


def around(place: int, units: Sequence[SentenceUnit], logits: Scores, source: Source) -> range:
    """Return the places of a sentence and of those shown with it, in reading order; `units` are in that order."""
    first = last = place
    size = len(units[place].text)
    while True:
        near = [
            at
            for at, inner in ((first - 1, first), (last + 1, last))
            if 0 <= at < len(units) and _adjoin(units[at], units[inner], source) and size + len(units[at].text) <= ROOM
        ]
        if not near:
            return range(first, last + 1)
        best = max(near, key=lambda at: (logits[at], at))
        size += len(units[best].text)
        first, last = min(first, best), max(last, best)


def following(place: int, units: Sequence[SentenceUnit], source: Source) -> range:
    """Return the places of a sentence and of those behind it in its paragraph, as many as there is room for.

    A step is described in what follows: "Some tasks need another group. This is done with adduser."
    """
    last, size = place, len(units[place].text)
    while last + 1 < len(units) and _adjoin(units[last], units[last + 1], source):
        size += len(units[last + 1].text)
        if size > ROOM:
            break
        last += 1
    return range(place, last + 1)


def with_default(place: int, units: Sequence[SentenceUnit], source: Source) -> range:
    """Return the place of a sentence, and of the next one where that says in a few words what holds by default.

    "This is the port that the server listens on. The default is 853." Where the first says it already, it is alone.
    """
    after = place + 1
    says = after < len(units) and not _DEFAULT.search(units[place].text) and _adjoin(units[place], units[after], source)
    short = says and len(units[after].text) <= _LONGEST_DEFAULT and _DEFAULT.search(units[after].text) is not None
    return range(place, after + 1 if short else after)


def joined(units: Sequence[SentenceUnit], source: Source) -> SentenceUnit:
    """Return adjoining sentences as one."""
    first, end = units[0], units[-1].end
    part = _part_of(first, source)
    text = first.text if part is None else source.text[part.at + first.start - part.start : part.at + end - part.start]
    return SentenceUnit(first.source, first.order, first.start, first.end if part is None else end, text)


def _adjoin(one: SentenceUnit, other: SentenceUnit, source: Source) -> bool:
    """Return whether two sentences follow one another in a paragraph of one passage."""
    before, after = (one, other) if one.start < other.start else (other, one)
    part = _part_of(before, source)
    if part is None or one.source != other.source or not before.end <= after.start or after.end > part.end:
        return False
    between = source.text[part.at + before.end - part.start : part.at + after.start - part.start]
    return not between.strip() and between.count("\n") <= 1 and _BAR not in one.text and _BAR not in other.text


def _part_of(unit: SentenceUnit, source: Source) -> Part | None:
    return next((one for one in source.parts if one.start <= unit.start and unit.end <= one.end), None)
