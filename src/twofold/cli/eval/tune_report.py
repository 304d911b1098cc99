"""The report of tuning: what was tried, what was confirmed, and how small an effect the questions can show."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic

from twofold.cli.render.terminal import Screen, columns, lasting, one_line, screen_on, shortened
from twofold.domain.dataclass import dataclass
from twofold.evaluation.report import Change, Comparison
from twofold.evaluation.tuning import Tuning, described
from twofold.text.quantities import counted

_SHOWN = 12
_CHANGES_SHOWN = 3
_WIDEST_QUESTION = 60
_SECONDS_BETWEEN_LINES = 10.0
_CLEAR = "\r\x1b[K"


@dataclass(frozen=True, slots=True)
class TuneReport:
    """Everything that `tune` tells. `synthetic_queries` counts made-up questions by kind; empty for judgements."""

    collection: str
    documents: int
    queries: int
    synthetic_queries: Mapping[str, int]
    unmatched: int
    tuning: Tuning
    alpha: float
    bound: float
    applied: bool


def render_tuning(told: TuneReport) -> None:
    """Draw it: the questions, the trials from the best on, what was confirmed, and the answer."""
    screen, done = screen_on(), told.tuning
    screen.line(
        f"{one_line(told.collection)}: {counted(told.documents, 'document')}, {counted(told.queries, 'question')}: "
        f"{done.choosing} choose, {done.confirming} confirm"
    )
    if told.synthetic_queries:
        kinds = ", ".join(f"{number} {kind}" for kind, number in told.synthetic_queries.items())
        screen.line(f"Made from the documents: {kinds}; their own words were taken out of what is searched.")
        screen.line("They flatter whatever finds a document by its own words; questions that you judge are worth more.")
    if told.unmatched:
        screen.line(f"{counted(told.unmatched, 'judged document')} not in the index.")
    if done.cut_short:
        screen.line(screen.paint("Time ran short: fewer questions or fewer ways were tried.", "yellow"))
    screen.line()
    _draw_trials(screen, done)
    for comparison in done.confirmed:
        screen.line()
        _draw_confirmed(screen, comparison)
    screen.line()
    _draw_answer(screen, told)


def _draw_trials(screen: Screen, done: Tuning) -> None:
    rising = sorted(done.trials[1:], key=lambda trial: -trial.mean)
    table = [["choosing", done.metric, "difference", "ms/query"]]
    table += [
        [described(one.changes), f"{one.mean:.3f}", f"{one.difference:+.3f}", f"{one.ms_per_query:.1f}"]
        for one in (done.trials[0], *rising[:_SHOWN])
    ]
    for line in columns(table, right=frozenset({1, 2, 3})):
        screen.line(line)
    if len(rising) > _SHOWN:
        screen.line(f"and {len(rising) - _SHOWN} that did less well.")


def _draw_confirmed(screen: Screen, comparison: Comparison) -> None:
    one = comparison.differences[0]
    name = one_line(comparison.name)
    screen.line(screen.paint(f"Confirming {name}", "bold"))
    screen.line(
        f"{one.metric} {one.interval.mean:+.3f} [{one.interval.low:+.3f}, {one.interval.high:+.3f}], p (Holm) "
        f"{one.p_holm:.4f}; {one.better} better, {one.same} the same, {one.worse} worse"
    )
    for what, changes in (("gained", comparison.gained), ("lost", comparison.lost)):
        for change in changes[:_CHANGES_SHOWN]:
            screen.line(_changed(what, change))


def _changed(what: str, change: Change) -> str:
    text = shortened(one_line(change.text), _WIDEST_QUESTION)
    return f"  {what:<6} {change.baseline:.3f} → {change.value:.3f}  {text}"


def _draw_answer(screen: Screen, told: TuneReport) -> None:
    done = told.tuning
    screen.line(screen.paint(done.reason, "green" if done.winner else "bold"))
    screen.line(f"Taken is what gains {told.bound:g} or more, with p (Holm) below {told.alpha:g}.")
    if done.detectable:
        screen.line(
            f"With {counted(done.confirming, 'question')} a true difference of {done.detectable:.3f} is noticed"
        )
        screen.line("four times in five; a smaller one mostly goes unseen.")
    if told.applied:
        screen.line("The index keeps it from now on; `twofold tune --reset` takes it back.")
    elif done.winner:
        screen.line("Nothing was changed; --apply lets the index keep it.")


@contextmanager
def searches_on(most: int) -> Iterator[Callable[[], None]]:
    """Return what is called after each trial; it shows the time left on standard error."""
    stream, started = sys.stderr, monotonic()
    drawn = stream.isatty()
    done, last_at = 0, started

    def tell() -> None:
        nonlocal done, last_at
        done += 1
        now = monotonic()
        left = lasting((now - started) / done * max(0, most - done))
        says = f"Tried {done} of at most {most} ways · {left} left"
        if drawn:
            stream.write(_CLEAR + says)
            stream.flush()
        elif now - last_at >= _SECONDS_BETWEEN_LINES:
            last_at = now
            stream.write(says + "\n")

    try:
        yield tell
    finally:
        if drawn:
            stream.write(_CLEAR)
            stream.flush()
