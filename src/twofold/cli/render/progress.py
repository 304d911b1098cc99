"""How far a long run has come, on standard error: a bar where a person looks on, a line now and then elsewhere."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO, TypeVar

import typer

from twofold.cli.render.terminal import one_line, screen_on, shortened_path
from twofold.cli.render.time_left import Estimate, estimated, roughly
from twofold.domain.errors import ModelError
from twofold.indexing.types import Phase, SyncProgress
from twofold.models.catalog.progress import Progress as ModelProgress
from twofold.models.catalog.progress import Report as ModelReport
from twofold.models.catalog.progress import Step
from twofold.text.quantities import sized

Report = Callable[[SyncProgress], None]
T = TypeVar("T")

_VERBS = {Phase.WALK: "Looking", Phase.READ: "Reading", Phase.EMBED: "Embedding", Phase.WRITE: "Writing"}
_STEPS = {
    Step.WAIT: "Waiting for",
    Step.DOWNLOAD: "Fetching",
    Step.CONVERT: "Converting",
    Step.MEASURE: "Measuring how fast this machine runs",
    Step.DONE: "",
}
_SECONDS_BETWEEN_LINES = 10.0
LARGE = 200_000_000
"""Bytes that are fetched without asking."""
_CLEAR = "\r\x1b[K"


@contextmanager
def progress_on(stream: TextIO | None = None) -> Iterator[Report]:
    """Return a function that draws each report, and clear up behind it."""
    asked = sys.stderr if stream is None else stream
    if asked.isatty():
        with _drawn(asked) as report:
            yield report
    else:
        yield _written(asked)


@contextmanager
def _drawn(stream: TextIO) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    started = monotonic()
    parts = (TextColumn("{task.description:<9}"), BarColumn(24), TextColumn("{task.fields[says]}", markup=False))
    console = Console(file=stream)
    with Progress(*parts, console=console, transient=True, refresh_per_second=8) as drawn:
        task = drawn.add_task(_VERBS[Phase.WALK], total=None, says="")

        estimate = Estimate()

        def report(progress: SyncProgress) -> None:
            nonlocal estimate
            elapsed = monotonic() - started
            estimate = estimated(estimate, progress, elapsed)
            says = progress_line(progress, elapsed, estimate.left)
            room = console.width - 40 - len(says)
            source = shortened_path(one_line(progress.source), room) if room > 0 else ""
            follows = progress.phase is Phase.EMBED and progress.pending > 0
            drawn.update(
                task,
                description=_VERBS[progress.phase],
                completed=progress.passages if follows else progress.done,
                total=progress.passages + progress.pending if follows else progress.total or None,
                says=f"{says}  {source}",
            )

        yield report


def _written(stream: TextIO) -> Report:
    screen = screen_on(stream)
    started = last_at = monotonic()
    estimate = Estimate()

    def report(progress: SyncProgress) -> None:
        nonlocal last_at, estimate
        now = monotonic()
        estimate = estimated(estimate, progress, now - started)
        if now - last_at >= _SECONDS_BETWEEN_LINES:
            screen.line(f"{_VERBS[progress.phase]} {progress_line(progress, now - started, estimate.left)}")
            last_at = now

    return report


def progress_line(progress: SyncProgress, elapsed: float, left: float | None) -> str:
    """Return how many are done, how fast, and how long the rest will take; times are in seconds.

    60 of 240 files with 900 passages after 30 s: 30 passages a second. Where vectors follow, both are shown: the files
    that words find, and the vectors that are there.
    """
    parts = [f"{progress.done:,}/{progress.total:,} files" if progress.total else f"{progress.done:,} files"]
    if progress.pictures:
        part, way = (
            ("half minute", "speech recognition") if progress.source.lower().endswith(".wav") else ("page", "OCR")
        )
        parts.append(f"{part} {progress.picture:,} of {progress.pictures:,} by {way}")
    follow = progress.pending > 0
    if follow:
        searchable = [f"{progress.total:,} files searchable"] if progress.total else []
        read = progress.phase is not Phase.EMBED
        total = progress.passages + progress.pending
        parts = [*(parts if read else searchable), f"{progress.passages:,}/{total:,} vectors"]
    elif progress.passages and elapsed > 0:
        parts.append(f"{progress.passages / elapsed:,.0f} passages/s")
    if left is not None and (progress.done < progress.total or follow):
        parts.append(f"{roughly(left)} left")
    return " · ".join(parts)


def counting(things: Iterable[T], verb: str, total: int, what: str, stream: TextIO | None = None) -> Iterator[T]:
    """Pass things on and tell how many have gone by, `Answering 12/40 questions`."""
    asked = sys.stderr if stream is None else stream
    drawn, last_at = asked.isatty(), monotonic()
    try:
        for done, one in enumerate(things, start=1):
            if drawn or monotonic() - last_at >= _SECONDS_BETWEEN_LINES:
                says, last_at = f"{verb} {done:,}/{total:,} {what}", monotonic()
                asked.write(f"{_CLEAR}{says}" if drawn else f"{says}\n")
                asked.flush()
            yield one
    finally:
        if drawn:
            asked.write(_CLEAR)
            asked.flush()


def model_progress(*, yes: bool = False, asks: bool = True) -> ModelReport:
    """Return a function that tells how the fetching of a model goes; it writes nothing unless a model is fetched.

    Before more than `LARGE` bytes are fetched it asks on a terminal, if `asks`; elsewhere it raises ModelError, unless
    `yes` agrees.
    """
    terminal = sys.stderr
    report = _drawn_model(terminal) if terminal.isatty() else _written_model(terminal)

    def consenting(progress: ModelProgress) -> None:
        if progress.step is Step.ANNOUNCE:
            if progress.total > LARGE and not yes:
                _consent(progress, asks=asks and terminal.isatty() and sys.stdin.isatty())
            return
        report(progress)

    return consenting


def _consent(progress: ModelProgress, *, asks: bool) -> None:
    """Ask whether so much may be fetched. Raises ModelError where the answer is no, or there is nobody to ask."""
    says = f"{progress.model} is a download of {sized(progress.total)}"
    if asks and typer.confirm(f"{says}. Fetch it?", err=True):
        return
    raise ModelError(
        f"{says}, and {'you said no' if asks else 'nobody agreed to it'}.",
        f"Say `twofold models pull {progress.model} --yes` first, or name another model.",
    )


def _drawn_model(stream: TextIO) -> ModelReport:
    def report(progress: ModelProgress) -> None:
        amount = f" {sized(progress.done)}" if progress.done else ""
        of = f" of {sized(progress.total)}" if progress.total else ""
        says = f"{_STEPS[progress.step]} {progress.model}{amount}{of}" if progress.step is not Step.DONE else ""
        stream.write(_CLEAR + says)
        stream.flush()

    return report


def _written_model(stream: TextIO) -> ModelReport:
    last_step, last_at = Step.DONE, monotonic()

    def report(progress: ModelProgress) -> None:
        nonlocal last_step, last_at
        now = monotonic()
        if progress.step is not last_step or now - last_at >= _SECONDS_BETWEEN_LINES:
            last_step, last_at = progress.step, now
            if progress.step is not Step.DONE:
                amount = f" {sized(progress.done)}" if progress.done else ""
                stream.write(f"{_STEPS[progress.step]} {progress.model}{amount}\n")

    return report
