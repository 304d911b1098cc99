"""A sentence that an answer shows, by what it is understood, and the likeliest one of some passages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from twofold.answer.complete import lead_of
from twofold.answer.sentence_scores import likely, scored
from twofold.answer.sentences import SentenceUnit, units_of
from twofold.answer.telling import telling
from twofold.answer.types import Source, TextTools
from twofold.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Shown:
    """A sentence chosen, its logit, the words it is understood by, and whether the sentence before is of these."""

    unit: SentenceUnit
    value: float
    above: str = ""
    led: bool = False

    @property
    def text(self) -> str:
        """The sentence below what it is understood by."""
        return f"{self.above} {self.unit.text}"


def shown_of(unit: SentenceUnit, value: float, sources: Sequence[Source]) -> Shown:
    """Return a sentence with the nearest heading above it and what leads it."""
    source = next(one for one in sources if one.number == unit.source)
    part = next((one for one in source.parts if one.start <= unit.start < one.end), source.first)
    lead = lead_of(unit, source)
    above = " ".join((*(part.heading[-1:] or (source.title,)), lead.text))
    return Shown(unit, value, above, lead.is_neighbor)


def best_of(query: str, sources: Sequence[Source], weights: Mapping[str, float], reading: TextTools) -> Shown | None:
    """Return the likeliest sentence of some sources; None without any. Raises ModelError where the model fails.

    Its value is the cross-encoder's logit, or its log-odds by words where there is no cross-encoder.
    """
    reads = replace(reading, embed=None, embed_question=None)
    units = telling(units_of(sources, reads), sources)
    if not units:
        return None
    told = likely(query, units, sources, scored(query, units, sources, weights, reads), reads)
    values = told.read or dict(enumerate(told.logits.tolist()))
    at = max(values, key=lambda place: values[place])
    return shown_of(units[at], values[at], sources)
