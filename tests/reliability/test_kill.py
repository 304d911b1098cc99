"""SIGKILL at random moments: nothing acknowledged is lost, nothing is half there, and the index always opens."""

import logging
import random
import statistics
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from reliability.processes import PROCESSES, write_until_killed
from reliability.workload import Model, after, difference, open_busy, steps
from support.factories import fingerprint

KILLS_A_FOLDER = 25

logger = logging.getLogger(__name__)


def acknowledgements(pipe: Connection, deadline: float) -> Iterator[bytes]:
    with suppress(EOFError, OSError):
        while pipe.poll(max(0.0, deadline - time.monotonic())):
            yield pipe.recv_bytes()


def kill_a_writer(folder: Path, seed: int) -> int:
    """Let a writer work for a random while, kill it, and give how many steps it acknowledged."""
    random_ = random.Random(seed)  # noqa: S311
    pipe, end = PROCESSES.Pipe(duplex=False)
    writer = PROCESSES.Process(target=write_until_killed, args=(folder, seed, end))
    writer.start()
    end.close()
    if random_.random() < 0.9:  # else perhaps before there is anything at all
        pipe.poll(30)
    count = sum(1 for _ in acknowledgements(pipe, time.monotonic() + random_.uniform(0.0, 0.15)))
    writer.kill()
    writer.join()
    count += sum(1 for _ in acknowledgements(pipe, time.monotonic() + 5))
    pipe.close()
    writer.close()
    return count


def settled(folder: Path, model: Model, seed: int, acknowledged: int) -> Model:
    """Find which of the two legal states the folder is in: all that was acknowledged, or one step more."""
    done = steps(seed)
    for _ in range(acknowledged):
        model = after(model, next(done))
    further = after(model, next(done))
    store = open_busy(folder)
    store.ensure_fingerprint(fingerprint())
    wrong = difference(store, model)
    if wrong and difference(store, further) == "":
        model, wrong = further, ""
    assert wrong == ""
    assert [finding for finding in store.verify() if not finding.repairable] == []
    store._connections.close()  # not `close`: the next writer finds the log as the kill left it
    return model


@pytest.mark.parametrize("kills", [100, pytest.param(2000, marks=pytest.mark.soak)])
def test_a_killed_writer_loses_nothing_it_acknowledged(quick_path: Path, kills: int) -> None:
    acknowledged, opened = 0, []
    model: Model = {}
    for number in range(kills):
        folder = quick_path / str(number // KILLS_A_FOLDER)
        model = model if number % KILLS_A_FOLDER else {}
        count = kill_a_writer(folder, number)
        started = time.perf_counter()
        open_busy(folder)._connections.close()
        opened.append(time.perf_counter() - started)
        model = settled(folder, model, number, count)
        acknowledged += count
    slow = 1e3 * statistics.quantiles(opened, n=20)[-1]
    logger.info("%d kills, %d acknowledged steps, reopened in %.1f ms (p95)", kills, acknowledged, slow)
    assert acknowledged > kills
