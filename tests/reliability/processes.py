"""What processes beside the tests do, and how they are started."""

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path

from making import recipe
from reliability.workload import do, open_busy, steps

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["reliability.processes"])  # a hundred of them then take seconds


def write_until_killed(folder: Path, seed: int, acknowledged: Connection) -> None:
    """Take a seed's steps, each told to `acknowledged` when it has returned."""
    store = open_busy(folder)
    store.adopt(recipe())
    for number, step in enumerate(steps(seed)):
        store = do(store, step)
        acknowledged.send_bytes(b"%d" % number)
