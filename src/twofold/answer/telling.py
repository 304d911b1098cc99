"""Which sentences say something by themselves: no headings, titles, header rows or questions."""

from collections.abc import Sequence

from twofold.answer.complete import CLOSING, asks, heads_table
from twofold.answer.sentences import SentenceUnit
from twofold.answer.types import Source


def telling(units: Sequence[SentenceUnit], sources: Sequence[Source]) -> Sequence[SentenceUnit]:
    """Leave out headings, titles, header rows and questions, unless there is nothing else."""
    names = {one.number: {one.title, *(name for part in one.parts for name in part.heading)} for one in sources}
    by_number = {one.number: one for one in sources}
    named = [one for one in units if one.text.strip(CLOSING) not in names[one.source]]
    telling = [
        one for one in named if not heads_table(one, by_number[one.source]) and not asks(one, by_number[one.source])
    ]
    return telling or named or units
