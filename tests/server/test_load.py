"""More than the server takes on: what is too much is refused at once, nothing is lost, and it recovers."""

import asyncio
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

import httpx2
import pytest

from support.api_client import Visit, fill, visiting
from support.fake_llm_server import NEVER, Heard, Send, chatting, piece
from twofold.server.errors import ProblemError
from twofold.server.limits import DEFAULT_LIMITS
from twofold.server.thread_pool import ThreadPool

SEARCH = "/v1/indexes/notes/search"
BODY = {"query": "when was the tower finished"}


def hammer(visit: Visit, threads: int, more: Callable[[int], bool]) -> Counter[int]:
    """Send searches from so many threads at once, each while `more(n)` says so; count the statuses."""

    def visitor(_: int) -> Counter[int]:
        seen: Counter[int] = Counter()
        with httpx2.Client(base_url=visit.address, timeout=120.0, trust_env=False) as client:
            while more(seen.total()):
                given = client.post(SEARCH, json=BODY)
                seen[given.status_code] += 1
                if given.status_code in (429, 503):
                    assert int(given.headers["retry-after"]) >= 1
        return seen

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(visitor, range(threads)), Counter())


def test_fifty_requests_in_flight_lose_none(tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path) as visit:
        seen = hammer(visit, 50, lambda sent: sent < 4)

    assert seen == {200: 200}


def test_what_is_beyond_capacity_is_refused_and_the_rest_is_served(tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path, replace(DEFAULT_LIMITS, workers=1, waiting=1)) as visit:
        seen = hammer(visit, 16, lambda sent: sent < 10)
        after = visit.client.post(SEARCH, json=BODY).status_code

    assert set(seen) <= {200, 503}
    assert seen[200] > 0
    assert seen.total() == 160
    assert after == 200


@pytest.mark.soak
def test_twice_as_much_for_a_minute_is_borne(tmp_path: Path) -> None:
    fill(tmp_path)
    limits = replace(DEFAULT_LIMITS, workers=2, waiting=8)
    with visiting(tmp_path, limits) as visit:
        end = time.monotonic() + 60.0
        seen = hammer(visit, 2 * (limits.workers + limits.waiting), lambda _: time.monotonic() < end)
        after = visit.client.post(SEARCH, json=BODY).status_code

    assert set(seen) <= {200, 429, 503}
    assert seen[200] > 0
    assert after == 200


def test_workers_refuse_what_has_no_room_and_go_on() -> None:
    workers = ThreadPool("test", 1, 1, HTTPStatus.SERVICE_UNAVAILABLE)
    gate = threading.Event()
    held = [workers.submit(gate.wait) for _ in range(2)]

    with pytest.raises(ProblemError):
        workers.submit(gate.wait)
    gate.set()

    assert [one.result(60) for one in held] == [True, True]
    assert workers.submit(lambda: 7).result(60) == 7
    workers.close()


def test_what_ends_at_the_last_moment_is_answered() -> None:
    workers = ThreadPool("test", 1, 1, HTTPStatus.SERVICE_UNAVAILABLE)
    gate = threading.Event()

    def finish() -> None:
        gate.set()
        while workers.busy:
            NEVER.wait(0.001)

    async def asked() -> bool:
        loop = asyncio.get_running_loop()
        loop.call_later(0.05, NEVER.wait, 0.2)  # so that both of the following are due when the loop looks again
        loop.call_later(0.1, finish)
        return await workers.run(gate.wait, 0.15)

    assert asyncio.run(asked())
    workers.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_server_whose_thread_for_jobs_has_ended_is_not_ready(tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path) as visit:
        thread = next(one for one in threading.enumerate() if one.name == "twofold jobs 0")
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit))
        visit.client.post("/v1/indexes/notes/documents", json={"documents": [{"text": "It wakes the thread."}]})
        thread.join(60.0)
        ready = visit.client.get("/readyz")
        alive = visit.client.get("/healthz").status_code

    assert (ready.status_code, ready.json()["type"], alive) == (503, "broken", 200)


def test_a_call_that_takes_too_long_is_given_up_and_still_counts() -> None:
    workers = ThreadPool("test", 1, 0, HTTPStatus.SERVICE_UNAVAILABLE)
    gate = threading.Event()

    with pytest.raises(ProblemError) as raised:
        asyncio.run(workers.run(gate.wait, 0.01))

    assert raised.value.problem.status == 504
    assert workers.busy == 1
    gate.set()
    workers.close()


@contextmanager
def unread(visit: Visit) -> Iterator[socket.socket]:
    """Ask for far more than a connection holds, and read the first letter alone."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect(("127.0.0.1", int(visit.address.rpartition(":")[2])))
        connection.settimeout(30.0)
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 200)
        assert connection.recv(1) == b"H"
        yield connection


def rest(connection: socket.socket) -> int:
    """Read what a connection still gives until it is closed; say how many bytes."""
    received = 0
    with suppress(ConnectionResetError):
        while more := connection.recv(1 << 20):
            received += len(more)
    return received


def test_who_never_reads_is_hung_up_on_and_nobody_else_waits(tmp_path: Path) -> None:
    fill(tmp_path)
    limits = replace(DEFAULT_LIMITS, write_seconds=0.5, connections=5)
    with visiting(tmp_path, limits) as visit, ExitStack() as stack:
        whole = len(visit.client.get("/openapi.json").content)
        silent = [stack.enter_context(unread(visit)) for _ in range(3)]
        end = time.monotonic() + 60.0
        with httpx2.Client(base_url=visit.address, timeout=120.0, trust_env=False) as another:
            while (served := another.post(SEARCH, json=BODY).status_code) != 200 and time.monotonic() < end:
                pass  # there is no room for one more connection until one of the silent is gone
        received = [rest(connection) for connection in silent]

    assert served == 200
    assert all(one < 200 * whole for one in received)


def test_a_slow_reader_gets_all_of_it(tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path, replace(DEFAULT_LIMITS, write_seconds=60.0)) as visit, unread(visit) as connection:
        whole = visit.client.get("/openapi.json").content
        received = 0
        while received < 200 * len(whole):
            more = connection.recv(1 << 20)
            assert more  # else it was hung up on
            received += len(more)

    assert received > 200 * len(whole)


def stuck(_: Heard, send: Send) -> None:
    """Be a model that says a word and then nothing."""
    send(piece("word "))
    NEVER.wait(20.0)


def test_sigterm_ends_the_process_within_ten_seconds_and_well(tmp_path: Path) -> None:
    fill(tmp_path)
    with chatting(stuck) as model:
        writes = {
            "TWOFOLD_GENERATOR": f"{model}#test",
            "TWOFOLD_ANSWER__MIN_ANSWERABILITY": "0",
            "TWOFOLD_OFFLINE": "0",
        }
        ended(tmp_path, writes)


def ended(home: Path, more: Mapping[str, str]) -> None:
    """Serve, ask for an answer that does not come to an end, and end the server meanwhile."""
    surroundings = {**os.environ, "TWOFOLD_HOME": str(home), "TWOFOLD_EMBEDDER": "hashing", **more}
    command = [sys.executable, "-m", "twofold", "serve", "--port", "0"]
    with subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().rpartition(" ")[2].strip()
        with httpx2.Client(base_url=address, timeout=120.0, trust_env=False) as client:
            status = client.post(SEARCH, json=BODY).status_code
            with client.stream("POST", "/v1/indexes/notes/ask", json=BODY) as events:
                lines = events.iter_lines()
                next(lines)
                asked = time.monotonic()
                process.send_signal(signal.SIGTERM)
                rest = list(lines)
            code = process.wait(15.0)
            taken = time.monotonic() - asked

    assert status == 200
    assert any("closing" in line for line in rest)
    assert taken < 10.0
    assert code == 0
