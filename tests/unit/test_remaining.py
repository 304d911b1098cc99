"""The time that a sync will still take, by reports of a real one and by numbers worked out by hand.

`sync_reports.json` holds what a sync of 240 HTML files (the manual of git) reported on two busy cores until it was
stopped: seconds, phase, files read, files in all, passages embedded.
"""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from twofold.cli.render.progress import progress_line
from twofold.cli.render.time_left import Estimate, estimated
from twofold.indexing.types import Phase, SyncProgress

Report = tuple[float, str, int, int, int]
RECORDED: list[Report] = json.loads(Path(__file__).with_name("sync_reports.json").read_text(encoding="utf-8"))


def shown(reports: list[Report]) -> list[tuple[float, float]]:
    """Return the times at which an estimate is shown, with the estimate."""
    state, found = Estimate(), []
    for elapsed, phase, done, total, passages in reports:
        state = estimated(state, SyncProgress(Phase(phase), done, total, "", passages), elapsed)
        if state.left is not None:
            found.append((elapsed, state.left))
    return found


def naive(reports: list[Report]) -> list[tuple[float, float]]:
    """Return the estimate by the share of files that were read."""
    return [(at, at * (total - done) / done) for at, _, done, total, _ in reports if 0 < done < total and at >= 5]


def jumps(estimates: list[tuple[float, float]]) -> list[float]:
    """Return by what factor each estimate of the end differs from the one before it."""
    return [(later + left) / (at + before) for (at, before), (later, left) in pairwise(estimates)]


def test_on_a_real_sync_the_expected_end_hardly_moves() -> None:
    """By files read, one report moved the end away by 69 %."""
    assert max(jumps(shown(RECORDED))) < 1.06
    assert min(jumps(shown(RECORDED))) > 0.9
    assert max(jumps(naive(RECORDED))) > 1.6


def test_on_a_real_sync_nothing_is_shown_before_the_first_files_are_written() -> None:
    first = next(at for at, phase, *_ in RECORDED if phase == "write")

    assert shown(RECORDED)[0][0] == first
    assert naive(RECORDED)[0][0] < first


def steady(count: int, seconds: float) -> list[Report]:
    """Return reports of a sync of 240 like files, 20 passages each, written 16 at a time."""
    found: list[Report] = []
    for batch in range(count):
        read, before = 16 * (batch + 1), 16 * batch
        parts = [(seconds * (batch + part / 4), 20 * (before + 4 * part)) for part in range(1, 5)]
        found += [(at, "embed", read, 240, passages) for at, passages in parts]
        found.append((seconds * (batch + 1), "write", read, 240, 20 * read))
    return found


@pytest.mark.parametrize("seconds", [6.0, 60.0])
def test_at_a_steady_pace_it_is_exact(seconds: float) -> None:
    """240 files in 15 batches: the whole takes 15 times as long as a batch, and what is left what has not passed."""
    for at, left in shown(steady(14, seconds)):
        assert left == pytest.approx(15 * seconds - at)


def test_sixty_of_240_files_after_30_seconds_leave_90() -> None:
    assert estimated(Estimate(), SyncProgress(Phase.WRITE, 60, 240, "", 900), 30.0).left == pytest.approx(90.0)


def test_a_change_of_pace_is_followed_slowly() -> None:
    """At 30 s 90 s seem left. 10 s later nothing more is done: 120 s by the share, 80 s by the clock.

    e^(-10/20) = 0.6065 of what was shown stays: 0.6065 · 80 + 0.3935 · 120 = 95.74.
    """
    first = estimated(Estimate(), SyncProgress(Phase.WRITE, 60, 240, "", 900), 30.0)

    assert estimated(first, SyncProgress(Phase.READ, 64, 240, "", 900), 40.0).left == pytest.approx(95.74, abs=0.01)


def test_where_nothing_is_embedded_files_count() -> None:
    first = estimated(Estimate(), SyncProgress(Phase.WRITE, 60, 240), 30.0)

    assert first.left == pytest.approx(90.0)
    assert estimated(first, SyncProgress(Phase.WRITE, 240, 240), 31.0).left == pytest.approx(89 * 0.9512, abs=0.01)


def test_the_first_seconds_say_nothing() -> None:
    assert estimated(Estimate(), SyncProgress(Phase.WRITE, 1, 240, "", 9), 4.9).left is None
    assert estimated(Estimate(), SyncProgress(Phase.WALK, 0, 0), 60.0).left is None


def test_while_vectors_follow_the_rest_is_told_by_their_pace() -> None:
    """All files are written at 10 s. 100 vectors after 10 s more leave 300 for 30 s."""
    state = estimated(Estimate(), SyncProgress(Phase.WRITE, 240, 240, "", 0, 400), 10.0)
    assert state.left == 0.0

    first = estimated(state, SyncProgress(Phase.EMBED, 240, 240, "", 40, 360), 14.0)
    assert first.left is None

    second = estimated(first, SyncProgress(Phase.EMBED, 240, 240, "", 100, 300), 20.0)
    assert second.left == pytest.approx(30.0)
    assert estimated(second, SyncProgress(Phase.EMBED, 240, 240, "", 200, 200), 30.0).left == pytest.approx(20.0)


def test_both_halves_of_a_sync_are_told() -> None:
    reading = SyncProgress(Phase.READ, 60, 240, "a.html", 0, 900)
    following = SyncProgress(Phase.EMBED, 240, 240, "", 1_200, 2_000)

    assert progress_line(reading, 4.0, None) == "60/240 files · 0/900 vectors"
    assert progress_line(following, 60.0, 70.0) == "240 files searchable · 1,200/3,200 vectors · 70 s left"
    assert progress_line(SyncProgress(Phase.EMBED, 0, 0, "", 5, 5), 4.0, None) == "5/10 vectors"
