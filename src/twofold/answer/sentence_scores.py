"""How likely each sentence answers a question: a logistic model over words, meaning, place and form.

    p(s) = 1 / (1 + exp(-(BIAS + Σ WEIGHTS[f] · f(s))))

The features are in [0, 1], or cosines less the question's mean. `own` is the share of the question's words, by weight,
that a sentence holds; `with heading` and `with neighbors` count those in the headings above it, and in the sentences
before and after, too. `meaning` is its cosine, `meaning in place` that of the nearest heading and the sentence.
The weights were fitted on the questions of two judged collections (docs/answers.md) but for those of `asks`
and `leads in`, of which these have hardly any: neither answers by itself.

Where a cross-encoder reads, it reads the likeliest in their places: `heading: lead sentence`, the lead being what the
sentence is not understood without (`answer.complete`). Which are the likeliest follows from words alone, those of the
lead among them, and nothing is embedded. Its logit decides, the log-odds add a little: (read + SHARE · log-odds) / 2.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from twofold.answer.complete import Lead, asks, lead_of
from twofold.answer.sentences import SentenceUnit
from twofold.answer.types import Source, TextTools
from twofold.domain.dataclass import dataclass
from twofold.domain.types import Scores

FEATURES = (
    "own",
    "with heading",
    "with neighbors",
    "meaning",
    "meaning in place",
    "passage",
    "first passage",
    "asks",
    "long",
    "figure missing",
    "leads in",
)
BIAS, WEIGHTS = -7.08, (2.65, 2.20, 0.72, 2.72, 2.66, 1.77, 1.44, -4.0, -0.50, -0.54, -2.0)
BIAS_BY_WORDS, WEIGHTS_BY_WORDS = -7.48, (3.47, 2.89, 0.97, 0.0, 0.0, 1.75, 1.60, -4.0, -0.58, -0.60, -2.0)
WEIGHTS_TO_READ = (3.47, 2.89, 0.97, 0.0, 0.0, 1.75, 0.0, -4.0, -0.58, -0.60, -2.0)
"""Those by words, but that the first passage has no advantage: the cross-encoder sees for itself."""
READ = 32
"""How many sentences a cross-encoder reads."""
SHARE = 0.3
HEADINGS = 2

EMBEDDED = 24
"""How many sentences are embedded: those that words and rank speak for. It bounds the time that an answer takes."""

_CLOSING = " \t*_#`\"')\u201d\u2019"
_LONG = 300  # characters
_ASKS_FIGURE = re.compile(
    r"\b(?:how (?:many|much|long|often|old|far|large|big|high|tall|fast|deep|soon)|when"
    r"|what (?:year|date|number|percent\w*|share|size|age|time|amount)|which (?:year|port|number|date|century)"
    r"|what is the (?:default|maximum|minimum|number))",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand|million|once|twice|daily|never)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Features of sentences, (sentences, features), and which of the question's terms each holds, with weights."""

    features: Scores
    terms: Scores
    weights: Scores
    leads: Sequence[Lead] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Likely:
    """How likely sentences answer, in log-odds, (sentences,), and the cross-encoder's logits, by their places.

    `led` are those that it read with the sentence before them.
    """

    logits: Scores
    read: Mapping[int, float]
    led: frozenset[int] = frozenset()


def scored(
    question: str,
    units: Sequence[SentenceUnit],
    sources: Sequence[Source],
    weights: Mapping[str, float],
    reading: TextTools,
) -> Scored:
    """Compute the features of sentences. Raises ModelError where the embedder fails.

    The words of the question of a document that a sentence follows count as its own. Where a cross-encoder will read
    them, nothing is embedded, and those of all that leads a sentence count too.
    """
    headings = [_heading(unit, sources) for unit in units]
    names = list(weights)
    share = np.array([weights[name] for name in names], dtype=np.float64)
    share = share / share.sum() if share.sum() > 0 else share
    own = _holding([unit.text for unit in units], names, reading)
    leads = _leads(units, sources)
    counts = [lead.text if reading.relevance is not None or lead.is_question else "" for lead in leads]
    held = np.maximum(own, _holding(counts, names, reading))
    above = _holding([" ".join(path) for path in headings], names, reading)
    near = _with_neighbors(units, own)
    words = held @ share
    ranks = _ranks(units, sources)
    first = np.array([1.0 if unit.source == 1 else 0.0 for unit in units])
    headed = np.maximum(held, above) @ share
    cheap = words + 0.5 * headed + 0.3 * ranks
    placed = [": ".join((*path[-1:], unit.text)) for path, unit in zip(headings, units, strict=True)]
    alone, below = _meanings(question, units, placed, cheap, reading)
    by_number = {one.number: one for one in sources}
    forms = np.array([_forms(question, unit, by_number[unit.source]) for unit in units]).reshape(len(units), -1)
    columns = [words, headed, np.maximum(own, near) @ share, alone, below, ranks, first]
    return Scored(np.column_stack([*columns, forms]), own, share, leads)


def _leads(units: Sequence[SentenceUnit], sources: Sequence[Source]) -> tuple[Lead, ...]:
    by_number = {one.number: one for one in sources}
    return tuple(lead_of(unit, by_number[unit.source]) for unit in units)


def _heading(unit: SentenceUnit, sources: Sequence[Source]) -> tuple[str, ...]:
    source = next(one for one in sources if one.number == unit.source)
    part = next((one for one in source.parts if one.start <= unit.start < one.end), source.first)
    return part.heading


def _holding(texts: Sequence[str], names: Sequence[str], reading: TextTools) -> Scores:
    counted = {text: reading.terms(text) for text in set(texts)}
    return np.array([[float(name in counted[text]) for name in names] for text in texts]).reshape(
        len(texts), len(names)
    )


def _with_neighbors(units: Sequence[SentenceUnit], own: Scores) -> Scores:
    near = np.zeros_like(own)
    for at, (one, two) in enumerate(pairwise(units)):
        if one.source == two.source:
            near[at] = np.maximum(near[at], own[at + 1])
            near[at + 1] = np.maximum(near[at + 1], own[at])
    return near


def _ranks(units: Sequence[SentenceUnit], sources: Sequence[Source]) -> Scores:
    best = max((one.score for one in sources), default=0.0)
    share = {one.number: max(0.0, one.score) / best if best > 0 else 1.0 / one.number for one in sources}
    return np.array([share[one.source] for one in units])


def _meanings(
    question: str, units: Sequence[SentenceUnit], placed: Sequence[str], cheap: Scores, reading: TextTools
) -> tuple[Scores, Scores]:
    """Return cosines, alone and below the nearest heading, less their mean; those not embedded have the least."""
    if reading.embed is None or reading.embed_question is None or reading.relevance is not None:
        return np.zeros(len(units)), np.zeros(len(units))
    first = np.argsort(-cheap, kind="stable")[:EMBEDDED]
    texts = [*(units[at].text for at in first), *(placed[at] for at in first)]
    vectors = reading.embed(texts) @ reading.embed_question([question])[0]
    found = vectors.astype(np.float64).reshape(2, len(first))
    spread = np.tile(found.min(axis=1) - found.mean(axis=1), (len(units), 1)).T.copy()
    spread[:, first] = found - found.mean(axis=1, keepdims=True)
    return spread[0], spread[1]


def _forms(question: str, unit: SentenceUnit, source: Source) -> list[float]:
    """Return whether a sentence asks, is long, lacks a figure that is asked for, and leads in what follows."""
    text = unit.text
    lacks = _ASKS_FIGURE.search(question) is not None and _FIGURE.search(text) is None
    leads_in = text.rstrip(_CLOSING).endswith(":")
    return [float(asks(unit, source)), float(len(text) > _LONG), float(lacks), float(leads_in)]


def likely(
    question: str, units: Sequence[SentenceUnit], sources: Sequence[Source], found: Scored, reading: TextTools
) -> Likely:
    """Return how likely each sentence answers.

    Where a cross-encoder is at hand, sentences that it has not read are left out. Raises ModelError where it fails.
    """
    if reading.relevance is None:
        bias, weights = (BIAS, WEIGHTS) if reading.embed is not None else (BIAS_BY_WORDS, WEIGHTS_BY_WORDS)
        return Likely(np.asarray(bias + found.features @ np.array(weights), dtype=np.float64), {})
    logits = BIAS_BY_WORDS + found.features @ np.array(WEIGHTS_TO_READ)
    first = [int(at) for at in np.argsort(-logits, kind="stable")[:READ]]
    by_number = {one.number: one for one in sources}
    placed = [_in_place(units[at], by_number, found.leads[at]) for at in first]
    read = np.asarray(reading.relevance(question, placed), dtype=np.float64)
    joined = np.full(len(logits), -np.inf)
    joined[first] = (read + SHARE * logits[first]) / 2.0
    near = frozenset(at for at in first if found.leads[at].is_neighbor)
    return Likely(joined, dict(zip(first, read.tolist(), strict=True)), near)


def needed_leads(
    question: str, chosen: Mapping[int, SentenceUnit], sources: Sequence[Source], found: Likely, reading: TextTools
) -> frozenset[int]:
    """Return which of the chosen sentences, by their places, are understood better with the sentence before them."""
    asked = {at: unit for at, unit in chosen.items() if at in found.led}
    alone = read_alone(question, asked, sources, reading)
    return frozenset(at for at, one in alone.items() if one < found.read[at])


def read_alone(
    question: str, units: Mapping[int, SentenceUnit], sources: Sequence[Source], reading: TextTools
) -> Mapping[int, float]:
    """Return the cross-encoder's logits of sentences below their headings, without what leads them; none without it."""
    if reading.relevance is None or not units:
        return {}
    by_number = {one.number: one for one in sources}
    read = reading.relevance(question, [_in_place(unit, by_number, Lead()) for unit in units.values()])
    return dict(zip(units, map(float, read), strict=True))


def _in_place(unit: SentenceUnit, by_number: Mapping[int, Source], lead: Lead) -> str:
    text = " ".join(one for one in (lead.text, unit.text) if one)
    return ": ".join((*_heading(unit, [by_number[unit.source]])[-HEADINGS:], text))
