"""Choosing settings by judged questions: half of them choose, one setting at a time, and the others confirm it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from math import inf
from random import Random
from statistics import fmean, stdev
from time import monotonic
from typing import Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.evaluation.dataset import Question
from twofold.evaluation.report import Comparison, MetricValues, Scored, compare_all
from twofold.evaluation.significance import smallest_detectable

Changes = Mapping[str, str]
"""Settings by their dotted names, as text; empty for the default, which is whatever is set now."""

Measure = Callable[[Changes, Sequence[Question]], Sequence[float]]
"""Searches for each question by settings with some changes, and gives the metric of each, in their order."""

MIN_QUESTIONS: Final = 20
MIN_CHOOSING: Final = 10
MAX_FINALISTS: Final = 2
DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True)
class TunableSetting:
    """Settings that are chosen together: one option at most is taken, on top of what earlier settings chose."""

    name: str
    options: tuple[Changes, ...]


def _each(key: str, *values: str) -> tuple[Changes, ...]:
    return tuple({key: value} for value in values)


TUNABLE: Final = (
    TunableSetting(
        "joining",
        (
            *_each("search.mode", "bm25", "vector", "hybrid"),
            *_each("fusion.vector_weight", "0.2", "0.4", "0.5", "0.6", "0.7", "0.8"),
            *({"fusion.method": "convex", "fusion.vector_weight": weight} for weight in ("0.2", "0.4", "0.6", "0.8")),
            {"fusion.method": "adaptive", "fusion.vector_weight": "0.6"},
            {"fusion.method": "linear", "fusion.vector_weight": "0.5"},
            {"fusion.method": "rrf"},
        ),
    ),
    TunableSetting("prf", _each("prf", "top_k:0", "top_k:5", "weight:0.3", "weight:0.5", "weight:0.65")),
    TunableSetting(
        "words",
        tuple(
            {"search.bm25": f"k1:{k1} b:{b}"}
            for k1, b in (("0.6", "0.75"), ("0.9", "0.4"), ("1.2", "0.3"), ("1.2", "0.75"), ("2.0", "0.75"))
        ),
    ),
    TunableSetting("depth", _each("search.candidates", "30", "100", "300")),
    TunableSetting("reranking", _each("rerank.weight", "0", "0.1", "0.2", "0.4", "0.7", "1")),
)
"""What is tried. The widest choices come first; a finer one is made on top of them."""

SYNTHETIC_TUNABLE: Final = tuple(
    replace(setting, options=tuple(one for one in setting.options if one.get("search.mode", "hybrid") == "hybrid"))
    for setting in TUNABLE
)
"""What synthetic questions may choose. They say little of the retriever that people need, so none is left out."""


@dataclass(frozen=True, slots=True)
class Rules:
    """When a change is taken: `alpha` bounds the chance of a change where none is better, over all that is confirmed.

    `bound` is the least gain worth a change, in the metric; half of that is enough on the choosing questions.
    `seed` parts the questions. `seconds` is what the whole may take, about: choosing goes on with fewer questions, and
    ends early, by it.
    """

    alpha: float = 0.05
    bound: float = 0.005
    seed: int = 0
    seconds: float = inf


JUDGED: Final = Rules()
SYNTHETIC: Final = Rules(alpha=0.01, bound=0.03)
"""Questions made from documents are not those that people ask: only what is plain is taken from them."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What some changes reached on the choosing questions; `difference` is to the default on the same ones."""

    changes: Changes
    mean: float
    difference: float
    ms_per_query: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was tried and what came of it. `winner` is empty where the default is kept; `reason` says why in words.

    `trials` are in the order tried, the default first. `confirmed` compares the finalists with the default on the
    `confirming` questions, in the order in which `finalists` names their changes. `detectable` is the least true
    difference that the confirming questions would show four times in five. `cut_short` says that time ran out before
    everything was tried.
    """

    metric: str
    choosing: int
    confirming: int
    trials: tuple[Trial, ...]
    finalists: tuple[Changes, ...]
    confirmed: tuple[Comparison, ...]
    detectable: float | None
    winner: Changes
    reason: str
    cut_short: bool


@dataclass(slots=True)
class _Choosing:
    """What was tried so far, with the values of each, and what each setting that changed anything came to."""

    measure: Measure
    questions: Sequence[Question]
    clock: Callable[[], float]
    trials: list[Trial] = field(default_factory=list)
    values: list[Sequence[float]] = field(default_factory=list)
    steps: list[Changes] = field(default_factory=list)

    def knows(self, changes: Changes) -> bool:
        return any(trial.changes == changes for trial in self.trials)

    def ended(self, best: Changes) -> "_Choosing":
        """Note what a setting came to, where it changed anything."""
        if best and (not self.steps or self.steps[-1] != best):
            self.steps.append(best)
        return self

    def take(self, changes: Changes) -> float:
        started = self.clock()
        values = tuple(self.measure(changes, self.questions))
        mean = fmean(values)
        took = (self.clock() - started) * 1000.0 / len(self.questions)
        base = self.trials[0].mean if self.trials else mean
        self.trials.append(Trial(changes, mean, mean - base, took))
        self.values.append(values)
        return mean


def split(questions: Sequence[Question], seed: int = 0) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """Split questions randomly into two halves, the same for the same seed and questions: to choose by, and to confirm.

    Raises InvalidInputError for fewer than 20, which can confirm nothing that is worth having.
    """
    if len(questions) < MIN_QUESTIONS:
        raise InvalidInputError(
            f"{len(questions)} judged questions are too few to choose settings by.",
            f"Judge {MIN_QUESTIONS} or more; `twofold judge` collects judgements, --synthetic makes questions.",
        )
    drawn = sorted(questions, key=lambda question: question.id)
    Random(seed).shuffle(drawn)  # noqa: S311  # a lot, no secret
    half = len(drawn) // 2
    return tuple(drawn[:half]), tuple(drawn[half:])


def tune_by(
    questions: Sequence[Question],
    measure: Measure,
    metric: str,
    all_settings: Sequence[TunableSetting] = TUNABLE,
    rules: Rules = JUDGED,
    clock: Callable[[], float] = monotonic,
) -> Tuning:
    """Try every option on one half of the questions, and compare the best few with the default on the other half.

    Each setting's best option stays for the settings after it, where it gains at least half of the bound. Two changes
    are confirmed, what all the settings came to and their first step: every further one would cost all of them power.
    One wins when the paired randomization test, adjusted by Holm, gives p < alpha for a gain of at least the bound; of
    both the first step, unless the whole gains another bound more. Source: Smucker and others 2007 for the test, Holm
    1979 for the adjustment; choosing and confirming on the same questions would flatter.

    Raises InvalidInputError as `split` does, and what `measure` raises.
    """
    ends = clock() + rules.seconds
    choosing, confirming = split(questions, rules.seed)
    tried, cut_short = _tried(all_settings, measure, choosing, (len(confirming), rules, ends), clock)
    finalists = (tried.steps[-1], tried.steps[0])[: len(tried.steps)] if tried.steps else ()
    confirmed = _confirmed(finalists, measure, confirming, metric)
    winner, reason = _verdict(finalists, confirmed, rules)
    return Tuning(
        metric=metric,
        choosing=len(tried.questions),
        confirming=len(confirming),
        trials=tuple(tried.trials),
        finalists=finalists,
        confirmed=confirmed,
        detectable=_detectable(tried, confirmed, len(confirming)),
        winner=winner,
        reason=reason,
        cut_short=cut_short,
    )


def described(changes: Changes) -> str:
    """Write changes as a command line takes them.

    >>> described({"search.bm25": "k1:2.0 b:0.75"}), described({})
    ('search.bm25=k1:2.0 b:0.75', 'default')
    """
    return ",".join(f"{key}={value}" for key, value in changes.items()) or DEFAULT


def _tried(
    all_settings: Sequence[TunableSetting],
    measure: Measure,
    questions: Sequence[Question],
    bounds: tuple[int, Rules, float],
    clock: Callable[[], float],
) -> tuple[_Choosing, bool]:
    confirming, rules, ends = bounds
    tried = _Choosing(measure, questions, clock)
    tried.take({})
    seconds = tried.trials[0].ms_per_query / 1000.0
    kept_back = seconds * confirming * (MAX_FINALISTS + 1)
    few = _affordable(
        questions, sum(len(setting.options) for setting in all_settings), seconds, ends - clock() - kept_back
    )
    if len(few) < len(questions):
        tried = _Choosing(measure, few, clock)
        tried.take({})
    best: Changes = {}
    best_mean = tried.trials[0].mean
    for setting in all_settings:
        base, bar = best, best_mean + rules.bound / 2.0
        for option in setting.options:
            changes = {**base, **option}
            if tried.knows(changes):
                continue
            if clock() + kept_back >= ends:
                return tried.ended(best), True
            mean = tried.take(changes)
            if mean > max(best_mean, bar):
                best, best_mean = changes, mean
        tried.ended(best)
    return tried, len(few) < len(questions)


def _affordable(questions: Sequence[Question], trials: int, seconds_each: float, seconds: float) -> Sequence[Question]:
    """Return as many of the choosing questions as all trials fit into the time, but never fewer than ten."""
    if seconds == inf or trials * len(questions) * seconds_each <= seconds:
        return questions
    return questions[: max(MIN_CHOOSING, int(seconds / (trials * seconds_each)))]


def _confirmed(
    finalists: Sequence[Changes], measure: Measure, questions: Sequence[Question], metric: str
) -> tuple[Comparison, ...]:
    if not finalists:
        return ()

    def scored(changes: Changes) -> Scored:
        return Scored(described(changes), (MetricValues(metric, tuple(measure(changes, questions))),))

    return compare_all([scored(changes) for changes in finalists], scored({}), questions)


def _verdict(finalists: Sequence[Changes], confirmed: Sequence[Comparison], rules: Rules) -> tuple[Changes, str]:
    """Take the simpler change that passes, or the other where that passes and gains as much as the bound more."""
    if not finalists:
        return {}, "Keep the default: nothing did better on the questions that choose."
    winner: Changes = {}
    bar, sure = rules.bound, False
    for changes, comparison in zip(reversed(finalists), reversed(confirmed), strict=True):
        one = comparison.differences[0]
        if one.p_holm < rules.alpha and one.interval.mean > 0.0:
            sure = True
            if one.interval.mean >= bar:
                winner, bar = changes, one.interval.mean + rules.bound
    if winner:
        return winner, f"{described(winner)} is better than the default, on questions that did not choose it."
    if sure:
        return {}, f"Keep the default: what is better gains less than {rules.bound:g}."
    return {}, "Keep the default: on the held-out questions no difference is significant."


def _detectable(tried: _Choosing, confirmed: Sequence[Comparison], confirming: int) -> float | None:
    """Take it from the first finalist, or without one from what came nearest on the choosing questions."""
    if confirmed:
        return confirmed[0].differences[0].detectable
    if len(tried.trials) < 2:  # noqa: PLR2004  # the default alone was tried
        return None
    place = max(range(1, len(tried.trials)), key=lambda at: tried.trials[at].mean)
    apart = [mine - yours for mine, yours in zip(tried.values[place], tried.values[0], strict=True)]
    return smallest_detectable(confirming, stdev(apart))
