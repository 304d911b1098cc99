"""Searchers as actors of a Ray cluster: one for each core, and another in the place of one that was lost.

What goes to them is where an index is, and questions; their keys and addresses are those of their own environment.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from twofold.config.load import Settings, resolve
from twofold.domain.errors import PartLostError, TwofoldError
from twofold.domain.ports import Store
from twofold.factory.ray_cluster import ANYWHERE, connected, cores_of
from twofold.factory.search import open_store
from twofold.stores.local.snapshot import Share
from twofold.stores.searcher import Searcher
from twofold.stores.searchers import SpreadStore

OPENING_SECONDS, ANSWER_SECONDS = 600.0, 60.0


class SearcherActor(Searcher):
    """What an actor is. It opens indexes by the settings of its own machine, but for where they are kept."""

    def __init__(self, home: Path, number: int, searchers: int) -> None:
        settings = resolve(overrides={"home": str(home)}).settings
        super().__init__(partial(open_store, settings=settings, create=False), Share(number, searchers))


class _Call(NamedTuple):
    number: int
    actor: Any
    reference: Any
    seconds: float


class _Place(NamedTuple):
    """An actor, and what says that it has started; None once that is known."""

    actor: Any
    starting: Any


class RaySearchers:
    """Asks actors, and has another one started where one does not answer. Safe to use from several threads.

    `made` starts the actor of a number, given that and how many there are.
    """

    def __init__(self, made: Callable[[int, int], Any], count: int, api: Any) -> None:  # noqa: ANN401
        self._made = made
        self._ray = api
        self._turn = threading.Lock()
        self._places = [self._started(number, count) for number in range(count)]

    @property
    def count(self) -> int:
        """How many there are, those that are started again included."""
        return len(self._places)

    def present(self) -> Sequence[int]:
        """Return the numbers of those that have started and were not lost since."""
        with self._turn:
            return [number for number in range(self.count) if self._is_there(number)]

    def wait(self) -> None:
        """Wait until all have started. Raises what kept one from starting."""
        self._ray.get([place.starting for place in self._places if place.starting is not None])

    def start(self, number: int, method: str, *given: object) -> _Call:
        """Begin a call to one searcher."""
        actor = self._places[number].actor
        seconds = OPENING_SECONDS if method == "begin" else ANSWER_SECONDS
        return _Call(number, actor, getattr(actor, method).remote(*given), seconds)

    def landed(self, call: _Call) -> Any:  # noqa: ANN401
        """Return what a call gave. Raises what it raised, or PartLostError; then that searcher is started again."""
        try:
            return self._ray.get(call.reference, timeout=call.seconds)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, TwofoldError):
                raise error.cause from None
            raise
        except (self._ray.exceptions.RayError, TimeoutError) as error:
            self._replace(call)
            raise PartLostError("A searcher was lost.", "Ask again: another one is started.") from error

    def _is_there(self, number: int) -> bool:
        place = self._places[number]
        if place.starting is None:
            return True
        started, _ = self._ray.wait([place.starting], num_returns=1, timeout=0)
        if not started:
            return False
        try:
            self._ray.get(place.starting)
        except self._ray.exceptions.RayError:
            self._places[number] = self._started(number, self.count)
            return False
        self._places[number] = place._replace(starting=None)
        return True

    def _replace(self, call: _Call) -> None:
        with self._turn:
            if self._places[call.number].actor is not call.actor:
                return  # another thread has done it
            self._ray.kill(call.actor)
            self._places[call.number] = self._started(call.number, self.count)

    def _started(self, number: int, count: int) -> _Place:
        actor = self._made(number, count)
        return _Place(actor, actor.ready.remote())


class Spread(NamedTuple):
    """What opens indexes whose segments searchers hold."""

    searchers: RaySearchers
    settings: Settings

    def store(self, where: str) -> Store:
        """Return the store of an index to be searched in parts: one that is there, or that the first change makes."""
        return SpreadStore(where, lambda create: open_store(where, self.settings, create=create), self.searchers)


@contextmanager
def ray_searchers(where: str, settings: Settings) -> Iterator[Spread]:
    """Lend searchers on a cluster, which `where` names as `connected` takes it; one for each of its cores.

    Raises InvalidInputError, MissingExtraError, TwofoldError where the cluster fails.
    """
    with connected(where, "Start the server again.") as api:
        actor = api.remote(SearcherActor).options(**ANYWHERE)
        searchers = RaySearchers(partial(actor.remote, settings.home), cores_of(api), api)
        searchers.wait()
        yield Spread(searchers, settings)
