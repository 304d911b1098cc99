"""Expanding: the neighbours of a passage that was found, and all of it as one text."""

from dataclasses import dataclass

from twofold.domain.ports import View
from twofold.domain.types import Chunk
from twofold.pipeline.results import Neighbour
from twofold.ranking.neighbours import Joined, joined


@dataclass(frozen=True, slots=True)
class Expanded:
    """A passage's neighbours in reading order, itself left out, and all of it joined."""

    context: tuple[Neighbour, ...] = ()
    joined: Joined | None = None


def expand(view: View, chunk: Chunk, window: int) -> Expanded:
    """Give up to `window` neighbours on either side (checklist 59, 60)."""
    stretch = view.stretch(chunk.document, max(0, chunk.ordinal - window), chunk.ordinal + window)
    context = tuple(
        Neighbour(one.ordinal, one.start, one.end, one.text, one.page, one.place, one.heading)
        for one in stretch
        if one.ordinal != chunk.ordinal
    )
    return Expanded(context, joined(stretch))
