"""A sync over the actors of a Ray cluster: each holds the model, reads files and prepares documents.

The process that syncs walks, compares and is the only one that writes. Nothing is kept in an actor but its model, and
what it is given is complete: a call that is done twice gives the same twice, so one that was lost with its actor or
its machine is done again. Ray sends Python objects as they are: a cluster must be trusted like this machine.
"""

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from twofold.config.load import Settings
from twofold.domain.errors import MismatchError
from twofold.domain.ports import IndexFingerprint
from twofold.domain.types import Document
from twofold.factory.indexing import indexing_components
from twofold.factory.ray_cluster import ANYWHERE, connected, cores_of
from twofold.indexing.prepare import prepare
from twofold.indexing.spread import Prepared
from twofold.ingest.pool import Outcome, ReaderPool
from twofold.ingest.readers.types import Source
from twofold.stores.memory import MemoryStore

IN_FLIGHT = 2  # calls an actor has at once: one that it works on and one that waits
RETRIES = 5  # by Ray, on the actor when it was started again
ATTEMPTS = 10  # by us, on another actor
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 10.0


class Worker:
    """What an actor does. It makes its parts from the settings of the index."""

    def __init__(self, settings: Settings) -> None:
        self._parts = indexing_components(MemoryStore(), settings, None)
        self._pool = ReaderPool(own=self._parts.readers)

    def fingerprint(self) -> IndexFingerprint:
        """Return the recipe by which it makes passages."""
        return self._parts.fingerprint

    def read(self, source: Source) -> Outcome:
        """Read one file, in a process of its own."""
        (outcome,) = self._pool.read_all([source])
        return outcome

    def prepare(self, batch: Sequence[Document]) -> Prepared:
        """Make entries of documents, with their vectors."""
        return prepare(batch, self._parts, None, lambda _: None)

    def close(self) -> None:
        """End its reading process."""
        self._pool.close()


class RaySpread:
    """Distributes work over actors: to the least busy one, a few calls each, and the results in order."""

    def __init__(self, actors: Sequence[Any], api: Any) -> None:  # noqa: ANN401  # Ray has no types of its own here
        self.actors = actors
        self._ray = api

    def read_all(self, sources: Iterable[Source]) -> Iterator[Outcome]:
        """Read files in the order given."""
        return self._in_order("read", sources)

    def prepare_all(self, batches: Iterable[Sequence[Document]]) -> Iterator[Prepared]:
        """Prepare batches of documents in the order given."""
        return self._in_order("prepare", batches)

    def check(self, wanted: IndexFingerprint) -> None:
        """Raise MismatchError where an actor would make other passages than this process."""
        for made in self._ray.get([actor.fingerprint.remote() for actor in self.actors]):
            if made != wanted:
                raise MismatchError(
                    "The workers would produce different passages than this process.",
                    "Parts of your own must be named in the settings, and all machines have the same twofold.",
                )

    def _in_order(self, method: str, jobs: Iterable[Any]) -> Iterator[Any]:
        flights: deque[_Flight] = deque()
        for job in jobs:
            if len(flights) == IN_FLIGHT * len(self.actors):
                yield self._landed(flights.popleft(), method)
            flights.append(self._sent(method, job, self._least_busy(flights)))
        while flights:
            yield self._landed(flights.popleft(), method)

    def _sent(self, method: str, job: Any, place: int) -> "_Flight":  # noqa: ANN401
        return _Flight(getattr(self.actors[place], method).remote(job), place, job)

    def _landed(self, flight: "_Flight", method: str) -> Any:  # noqa: ANN401
        """Return what a call gave; one that was lost, or whose result was, is done elsewhere."""
        for attempt in range(ATTEMPTS):
            try:
                return self._ray.get(flight.call)
            except self._ray.exceptions.RayTaskError:
                raise
            except self._ray.exceptions.RayError:
                time.sleep(min(FIRST_PAUSE_SECONDS * 2**attempt, LONGEST_PAUSE_SECONDS))
                flight = self._sent(method, flight.job, (flight.place + 1) % len(self.actors))
        return self._ray.get(flight.call)

    def _least_busy(self, flights: Iterable["_Flight"]) -> int:
        """Return the actor that has the fewest calls before it."""
        places = {one.call: one.place for one in flights}
        _, busy = self._ray.wait(list(places), num_returns=len(places), timeout=0) if places else ((), ())
        calls = Counter(places[one] for one in busy)
        return min(range(len(self.actors)), key=lambda place: calls[place])


class _Flight(NamedTuple):
    """A call on its way: what Ray knows it by, which actor has it, and what was given."""

    call: Any
    place: int
    job: Any


@contextmanager
def ray_spread(where: str, settings: Settings, wanted: IndexFingerprint) -> Iterator[RaySpread]:
    """Lend the actors of a cluster, which `where` names as `connected` takes it.

    Raises InvalidInputError, MissingExtraError, MismatchError, TwofoldError where the cluster fails.
    """
    with connected(where, "Run the sync again: what was committed stays.") as api:
        how = {**ANYWHERE, "max_restarts": -1, "max_task_retries": RETRIES}
        made = api.remote(Worker).options(**how)
        spread = RaySpread([made.remote(settings) for _ in range(cores_of(api))], api)
        spread.check(wanted)
        yield spread
        api.get([actor.close.remote() for actor in spread.actors])
