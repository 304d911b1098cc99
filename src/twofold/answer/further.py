"""Which sentences follow the first one of an answer: not much less likely, saying something else, and by themselves.

A sentence is read with what leads it, so that one behind the answer is as likely as the answer ("Compare the option
…"). Where what leads it is shown already it has to answer without: its logit counts as it is read alone.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from twofold.answer.complete import Lead
from twofold.answer.sentence_scores import Likely, Scored
from twofold.answer.sentences import SentenceUnit
from twofold.domain.dataclass import dataclass
from twofold.domain.types import Scores

NEW, GAP, GAP_BROAD, WIDER = 1.5, 1.0, 2.0, 2.3
"""How far below the best sentence's log-odds another one may be; further where a question asks for more than one fact,
or where it holds new words of a question."""
NEW_CHANCE, LEAST = 0.3, 0.2
"""The same of chances, where no cross-encoder has read: another one needs this share of the best one's, or half."""
ALIKE = 0.7
"""From what share of common words on two sentences say the same."""

_HOLDS_NEW = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The sentences to choose from, their features, how likely each answers, and the words of each."""

    units: Sequence[SentenceUnit]
    found: Scored
    told: Likely
    words: Sequence[frozenset[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Manner:
    """How sentences are shown: how many, how far below the best, and what comes with one.

    `together` tells the places shown with one; `alone` reads some without what leads them, and returns their logits;
    `terms` are those of a text.
    """

    most: int
    gap: float
    together: Callable[[int], range] | None
    alone: Callable[[Sequence[int]], Mapping[int, float]]
    terms: Callable[[str], Mapping[str, int]]


def groups(best: Candidates, manner: Manner) -> Mapping[int, range]:
    """Return the sentences chosen, best first, each with those shown with it: itself, or more of its paragraph."""
    shown: dict[int, range] = {}
    fresh = np.ones(best.found.terms.shape[1], dtype=bool)
    together = manner.together
    place: int | None = int(best.told.logits.argmax())
    while place is not None:
        taken = [at for group in shown.values() for at in group]
        shown[place] = _apart(range(place, place + 1) if together is None else together(place), place, taken)
        fresh &= (best.found.terms[list(shown[place])] == 0.0).all(axis=0)
        if len(shown) >= min(manner.most, len(best.units)):
            break
        new = best.found.terms @ (best.found.weights * fresh)
        place = _next(best, manner, new, [*taken, *shown[place]])
    return shown


def _apart(group: range, place: int, taken: Sequence[int]) -> range:
    """Return what of a group around `place` is not shown yet."""
    start = max((at + 1 for at in taken if at < place), default=group.start)
    stop = min((at for at in taken if at > place), default=group.stop)
    return range(max(start, group.start), min(stop, group.stop))


def _next(best: Candidates, manner: Manner, new: Scores, chosen: Sequence[int]) -> int | None:
    """Return the sentence to tell after those chosen, None where no other is worth it."""
    told, holds_new = best.told, new >= _HOLDS_NEW
    if told.read:
        worth, share, top = told.logits, NEW, max(told.logits[list(chosen)])
        least = top - np.where(holds_new, max(WIDER, manner.gap), manner.gap)
    else:
        worth, share = 1.0 / (1.0 + np.exp(-told.logits)), NEW_CHANCE
        least = max(worth[list(chosen)]) * LEAST * np.where(holds_new, 0.5, 1.0)
    likely = [int(at) for at in np.flatnonzero(worth >= least) if at not in chosen]
    near = [at for at in likely if not any(_alike(best.words[at], best.words[one]) for one in chosen)]
    worth = _by_itself(best, manner, worth, near, chosen) if told.read else worth
    near = [at for at in near if worth[at] >= least[at]]
    place = max(near, key=lambda at: (worth[at] + share * new[at], -at), default=None)
    leads = [] if place is None else _leading(best, manner, chosen)
    return None if place is None or any(_repeats(best.words[place], one) for one in leads) else place


def _leading(best: Candidates, manner: Manner, chosen: Sequence[int]) -> list[frozenset[str]]:
    """Return the words of what leads the sentences chosen, as far as it is a sentence: it is shown with them."""
    leads = dict.fromkeys(best.found.leads[at] for at in chosen)
    return [frozenset(manner.terms(one.text)) for one in leads if _is_sentence(one)]


def _by_itself(best: Candidates, manner: Manner, worth: Scores, near: Sequence[int], chosen: Sequence[int]) -> Scores:
    """Return the log-odds where those of sentences whose lead is shown already are those of the sentences alone."""
    leads, units = best.found.leads, best.units
    shown = " ".join(f"{leads[at].text} {' '.join(units[at].text.split())}" for at in chosen)
    owing = [at for at in near if _is_sentence(leads[at]) and leads[at].text in shown]
    left = worth.copy()
    for at, alone in manner.alone(owing).items():
        left[at] -= max(0.0, best.told.read[at] - alone) / 2.0
    return left


def _is_sentence(lead: Lead) -> bool:
    """Return whether a lead says something by itself, as the sentence before does; no header row or introduction."""
    return bool(lead.text) and not lead.is_question and lead.text.endswith((".", "!", "?"))


def _repeats(words: frozenset[str], lead: frozenset[str]) -> bool:
    """Return whether a sentence of these words says little more than a lead."""
    return len(words & lead) >= ALIKE * len(words)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * min(len(one), len(other))
