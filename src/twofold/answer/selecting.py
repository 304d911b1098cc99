"""The sentences that a model which reads slowly is shown: the likeliest to answer, complete, as many as there is room.

They are ranked as extracts are (`answer.sentence_scores`), each with what it is not understood without: its header row,
its list's introduction, the name of its entry. What is taken of a passage keeps its order and its places in the
document, so that quotations stay true; passages of which nothing is taken are not shown.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from twofold.answer.complete import Span, completed
from twofold.answer.context import approximate_tokens
from twofold.answer.extract import PASSAGES_TO_READ
from twofold.answer.plan import Question
from twofold.answer.sentence_scores import likely, scored
from twofold.answer.sentences import SentenceUnit, units_of
from twofold.answer.telling import telling
from twofold.answer.types import Part, Source, TextTools
from twofold.domain.errors import ModelError

APART = " … "
_OF_A_PASSAGE = 12
"""Tokens that laying out a passage takes, besides its text."""


def selected(question: Question, sources: tuple[Source, ...], room: int, reading: TextTools) -> tuple[Source, ...]:
    """Return what to show of the sources in `room` tokens, in their order; all of them where they fit as they are.

    Where the model that ranks sentences fails, words alone rank them.
    """
    if sum(_OF_A_PASSAGE + approximate_tokens(one.text) for one in sources) <= room:
        return sources
    best = sources[:PASSAGES_TO_READ]
    units = telling(units_of(best, reading), best)
    if not units:
        return sources
    by_number = {one.number: one for one in best}
    taken: dict[int, list[Span]] = {}
    for unit in _ranked(question, units, best, reading):
        (whole,) = completed([unit], by_number)
        held = taken.get(unit.source, [])
        fresh = [span for span in whole.spans if span not in held]
        text = " ".join(_text_of(by_number[unit.source], span) for span in fresh)
        cost = approximate_tokens(text) + 2 + (0 if held else _OF_A_PASSAGE)
        if cost > room:
            break
        room -= cost
        taken[unit.source] = [*held, *fresh]
    return tuple(_cut(one, taken[one.number]) for one in best if one.number in taken) or sources


def _ranked(
    question: Question, units: Sequence[SentenceUnit], sources: Sequence[Source], reading: TextTools
) -> list[SentenceUnit]:
    asked = question.meant or question.text
    weights = {term: float(count) for term, count in question.terms.items() if term[:1] != "="}
    try:
        found = scored(asked, units, sources, weights, reading)
        logits = likely(asked, units, sources, found, reading).logits
    except ModelError:
        by_words = reading.by_words()
        found = scored(asked, units, sources, weights, by_words)
        logits = likely(asked, units, sources, found, by_words).logits
    return [units[int(at)] for at in np.argsort(-logits, kind="stable") if logits[at] > -np.inf]


def _part_of(source: Source, span: Span) -> Part:
    return next(one for one in source.parts if one.start <= span[0] and span[1] <= one.end)


def _text_of(source: Source, span: Span) -> str:
    part = _part_of(source, span)
    return source.text[part.at + span[0] - part.start : part.at + span[1] - part.start]


def _cut(source: Source, spans: Sequence[Span]) -> Source:
    """Return a source of some stretches of it, in reading order; those with nothing but blanks between are one."""
    runs: list[Span] = []
    for span in sorted(spans):
        before = runs[-1] if runs else None
        if before is not None and _part_of(source, before) is _part_of(source, span):
            between = _text_of(source, (before[1], max(before[1], span[0])))
            if not between.strip() and len(between) <= len(APART):
                runs[-1] = (before[0], max(before[1], span[1]))
                continue
        runs.append(span)
    text, parts = "", []
    for run in runs:
        text += APART if text else ""
        parts.append(replace(_part_of(source, run), start=run[0], end=run[1], at=len(text)))
        text += _text_of(source, run)
    return replace(source, text=text, parts=tuple(parts))
