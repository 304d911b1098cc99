"""Actors that are threads of this process, behind the three calls of Ray that are used: `remote`, `wait` and `get`."""

import threading
from collections.abc import Sequence
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any


class ThreadActor:
    """Does the calls to one object one after the other, and notes the most that waited or ran at once.

    Of the calls of a method, the first `lost` are lost, as if its machine were.
    """

    def __init__(self, held: Any, lost: int = 0, method: str = "read") -> None:  # noqa: ANN401
        self._lost, self._losing = lost, method
        self._held = held
        self._pool = ThreadPoolExecutor(1)
        self._lock = threading.Lock()
        self._open = 0
        self.most = 0
        self.calls = 0

    def __getattr__(self, name: str) -> "Call":
        return Call(self, name)

    def call(self, name: str, given: tuple[Any, ...]) -> "Future[Any]":
        with self._lock:
            self._open += 1
            self.calls += 1
            self.most = max(self.most, self._open)
            lost = name == self._losing and self._lost > 0
            self._lost -= lost
        future = self._pool.submit(lose if lost else getattr(self._held, name), *given)
        future.add_done_callback(self._end)
        return future

    def lose(self, calls: int) -> None:
        """Lose so many of the next calls."""
        with self._lock:
            self._lost = calls

    def stop(self) -> None:
        self._pool.shutdown()

    def _end(self, _: "Future[Any]") -> None:
        with self._lock:
            self._open -= 1


class Call:
    """A method of an actor."""

    def __init__(self, actor: ThreadActor, name: str) -> None:
        self._actor, self._name = actor, name

    def remote(self, *given: Any) -> "Future[Any]":  # noqa: ANN401
        return self._actor.call(self._name, given)


def lose(*_: Any) -> None:  # noqa: ANN401
    raise ConnectionResetError


def get(what: Any, timeout: float | None = None) -> Any:  # noqa: ANN401
    return [one.result(timeout) for one in what] if isinstance(what, list) else what.result(timeout)


def ready(
    what: Sequence["Future[Any]"], num_returns: int, timeout: float | None
) -> tuple[list["Future[Any]"], list["Future[Any]"]]:
    done, rest = wait(what, timeout, FIRST_COMPLETED if num_returns == 1 else ALL_COMPLETED)
    return list(done), list(rest)
