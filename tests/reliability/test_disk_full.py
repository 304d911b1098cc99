"""No room: a typed error, searching goes on, and the next attempt completes when there is room again."""

from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from reliability.processes import PROCESSES, fill_a_disk, fill_up

SIZES = [0, 8, 100, 4096, 8192, 9000, 16_384, 24_576, 32_768, 33_000, 40_000, 49_152, 65_536, 70_000, 81_920]


def reports_of(task: Callable[[Path, int, Connection], None], folder: Path, size: int) -> list[str]:
    """Run a task in a process of its own and give what it reported."""
    pipe, end = PROCESSES.Pipe(duplex=False)
    writer = PROCESSES.Process(target=task, args=(folder, size, end))
    writer.start()
    end.close()
    told = []
    with suppress(EOFError):
        while True:
            told.append(pipe.recv_bytes().decode())
    writer.join()
    pipe.close()
    assert writer.exitcode == 0
    return told


@pytest.mark.parametrize("size", [*SIZES, *range(90_000, 250_000, 11_000)])
def test_a_file_that_may_not_grow_is_told_and_mended_by_room(tmp_path: Path, size: int) -> None:
    told = reports_of(fill_up, tmp_path / "kb", size)
    assert told[0] == "StorageFullError"
    assert told[-1] == "went on"
    assert set(told) <= {"StorageFullError", "searched", "went on"}


@pytest.mark.parametrize("size", range(80_000, 440_000, 60_000))
def test_a_full_disk_is_told_and_mended_by_room(tmp_path: Path, size: int) -> None:
    told = reports_of(fill_a_disk, tmp_path, size)
    if told == ["not permitted"]:
        pytest.skip("mounting a small disk needs rights that this process does not have")
    assert told[0] == "StorageFullError"
    assert told[-1] == "went on"
