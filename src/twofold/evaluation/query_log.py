"""What the query log tells: which questions went badly, week by week."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from statistics import median

from twofold.domain.dataclass import dataclass
from twofold.ranking.answerability import UNLIKELY
from twofold.stores.query_log import LoggedQuery

UNSURE = 0.6
"""Confidence, from 0.5 to 1, below which a question without a calibrated chance counts as weak."""


@dataclass(frozen=True, slots=True)
class Week:
    """The questions of one week, which began on the Monday `begins`.

    `weak` are those of them that went badly, `unfound` those that found nothing. `p_answerable` is the mean of those
    that have one, `median_ms` the median time of those that were answered; None if none were.
    """

    begins: str
    asked: int
    weak: int
    unfound: int
    p_answerable: float | None
    median_ms: float | None


@dataclass(frozen=True, slots=True)
class WeakQuestion:
    """A question that went badly at least once, by its last spelling.

    `asked` counts how often it was asked, `weak` how often it went badly; `p_answerable` and `confidence` are the
    lowest there were, `last` is the day it was asked last. `why` says what was wrong, in the order of gravity.
    """

    question: str
    asked: int
    weak: int
    why: tuple[str, ...]
    p_answerable: float | None
    confidence: float | None
    last: str


@dataclass(frozen=True, slots=True)
class WeakReport:
    """The weeks, oldest first, and the weak questions, the most often weak first."""

    weeks: tuple[Week, ...]
    questions: tuple[WeakQuestion, ...]


def reasons(entry: LoggedQuery) -> tuple[str, ...]:
    """Return why a question counts as weak, in the order of gravity; nothing where it went well.

    It counts where it ended in an error, found nothing, was refused an answer, or has a chance of an answer below
    `UNLIKELY`; without a calibrated chance, where its confidence is below `UNSURE`.
    """
    chance, confidence = entry.p_answerable, entry.confidence
    every = {
        entry.error or "error": bool(entry.error),
        "nothing found": not entry.hits and not entry.error,
        "refused": bool(entry.refused),
        "unlikely": chance is not None and chance < UNLIKELY,
        "unsure": chance is None and confidence is not None and confidence < UNSURE,
    }
    return tuple(why for why, holds in every.items() if holds)


def weak_report(entries: Sequence[LoggedQuery]) -> WeakReport:
    """Return the weeks with something logged, and the questions that went badly, those asked in other words apart.

    Questions that differ by capitals and white space alone are one.
    """
    by_week: dict[date, list[LoggedQuery]] = {}
    by_question: dict[str, list[LoggedQuery]] = {}
    for entry in entries:
        by_week.setdefault(_monday(entry.at), []).append(entry)
        by_question.setdefault(" ".join(entry.question.casefold().split()), []).append(entry)
    weak = [_weak_question(some) for some in by_question.values() if any(map(reasons, some))]
    weak.sort(key=lambda one: one.last, reverse=True)
    weak.sort(key=lambda one: (-one.weak, 1.0 if one.p_answerable is None else one.p_answerable))
    return WeakReport(tuple(_week(begins, by_week[begins]) for begins in sorted(by_week)), tuple(weak))


def _week(begins: date, entries: Sequence[LoggedQuery]) -> Week:
    chances = [one.p_answerable for one in entries if one.p_answerable is not None]
    times = [one.timings_ms["total"] for one in entries if "total" in one.timings_ms]
    return Week(
        begins=begins.isoformat(),
        asked=len(entries),
        weak=sum(bool(reasons(one)) for one in entries),
        unfound=sum(not one.hits and not one.error for one in entries),
        p_answerable=sum(chances) / len(chances) if chances else None,
        median_ms=median(times) if times else None,
    )


def _weak_question(entries: Sequence[LoggedQuery]) -> WeakQuestion:
    why = dict.fromkeys(one for entry in entries for one in reasons(entry))
    return WeakQuestion(
        question=entries[-1].question,
        asked=len(entries),
        weak=sum(bool(reasons(one)) for one in entries),
        why=tuple(why),
        p_answerable=_least(one.p_answerable for one in entries),
        confidence=_least(one.confidence for one in entries),
        last=entries[-1].at[:10],
    )


def _least(values: Iterable[float | None]) -> float | None:
    return min((one for one in values if one is not None), default=None)


def _monday(at: str) -> date:
    day = datetime.fromisoformat(at).date()
    return day - timedelta(days=day.weekday())
