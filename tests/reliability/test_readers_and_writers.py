"""One writer and many readers, in processes and in threads: nobody sees half a document, and nobody is locked out."""

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from reliability.processes import PROCESSES, hold_the_lock, read_steadily, torn, write_steadily
from reliability.workload import open_busy
from support.factories import entry, fingerprint
from twofold.domain.errors import WriterBusyError
from twofold.stores.local.store import LocalStore

READERS = 4

logger = logging.getLogger(__name__)


def prepared(folder: Path) -> None:
    store = open_busy(folder)
    store.ensure_fingerprint(fingerprint())
    store.close()


@pytest.mark.parametrize("seconds", [8.0, pytest.param(120.0, marks=pytest.mark.soak)])
def test_readers_in_other_processes_see_whole_documents(quick_path: Path, seconds: float) -> None:
    prepared(quick_path / "kb")
    running = []
    for task in (write_steadily, *[read_steadily] * READERS):
        pipe, end = PROCESSES.Pipe(duplex=False)
        process = PROCESSES.Process(target=task, args=(quick_path / "kb", seconds, end))
        process.start()
        end.close()
        running.append((process, pipe))
    told = [pipe.recv_bytes().decode() for _, pipe in running]
    for process, pipe in running:
        process.join()
        pipe.close()
    logger.info("%s changes; readers looked %s times", told[0], told[1:])
    assert all(one.isdecimal() and int(one) > 0 for one in told), told


def test_threads_that_search_while_one_writes_see_whole_documents(quick_path: Path) -> None:
    prepared(quick_path / "kb")
    store = open_busy(quick_path / "kb")
    done = threading.Event()
    wrongs: list[str] = []

    def look() -> None:
        while not done.is_set():
            with store.view() as view:
                wrongs.extend(filter(None, [torn(view)]))

    readers = [threading.Thread(target=look) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    try:
        for number in range(1, 150):
            text = "\n".join(f"every v{number} part{part}" for part in range(1 + number % 4))
            store.upsert([entry(text, f"{number % 7}.txt")])
            if number % 60 == 0:
                store.compact()
    finally:
        done.set()
        for reader in readers:
            reader.join()
    store.close()
    assert wrongs == []


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Let threads take turns a thousand times as often as they do."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_a_store_that_several_threads_close_at_once_is_closed(quick_path: Path) -> None:
    prepared(quick_path / "kb")
    for _ in range(60):
        store = open_busy(quick_path / "kb")
        with ExitStack() as views:
            for _ in range(20):
                views.enter_context(store.view(rows_only=True))
        closers = [threading.Thread(target=store.close, daemon=True) for _ in range(4)]
        for closer in closers:
            closer.start()
        for closer in closers:
            closer.join(30.0)
        assert not any(closer.is_alive() for closer in closers)


def test_a_second_writer_waits_its_time_and_is_told(quick_path: Path) -> None:
    prepared(quick_path / "kb")
    told, tell = PROCESSES.Pipe(duplex=False)
    until, free = PROCESSES.Pipe(duplex=False)
    holder = PROCESSES.Process(target=hold_the_lock, args=(quick_path / "kb", tell, until))
    holder.start()
    told.recv_bytes()
    impatient = LocalStore(quick_path / "kb", wait_seconds=0.05)
    with pytest.raises(WriterBusyError, match="Another process"):
        impatient.upsert([entry("every word", "a.txt")])
    with impatient.view() as view:
        assert list(view.documents()) == []
    impatient.close()
    patient = LocalStore(quick_path / "kb", wait_seconds=30)
    free.send_bytes(b"go")
    patient.upsert([entry("every word", "a.txt")])
    assert patient.info().documents == 1
    patient.close()
    holder.join()
    for end in (told, tell, until, free):
        end.close()
