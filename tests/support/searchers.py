"""Searchers of this process, behind the calls by which those on other machines are asked."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from twofold.domain.errors import PartLostError
from twofold.domain.ports import Store
from twofold.stores.local.maintenance import Upkeep
from twofold.stores.local.snapshot import Share
from twofold.stores.local.store import LocalStore
from twofold.stores.searcher import Searcher
from twofold.stores.searchers import SpreadStore

SMALL = Upkeep(flush_from=2, flush_at_close_from=1)


class SearchersHere:
    """Asks each when its call has landed. The searchers in `lost` are lost with the next call of `losing` to them."""

    def __init__(self, opener: Callable[[str], Store], count: int, losing: str = "begin") -> None:
        self.losing = losing
        self.made = [Searcher(opener, Share(number, count)) for number in range(count)]
        self.asked: list[str] = []
        self.lost: set[int] = set()
        self.absent: set[int] = set()

    @property
    def count(self) -> int:
        return len(self.made)

    def present(self) -> Sequence[int]:
        return [number for number in range(self.count) if number not in self.absent]

    def start(self, number: int, method: str, *given: object) -> Any:  # noqa: ANN401
        self.asked.append(str(given[1]) if method == "ask" else method)
        call = partial(getattr(self.made[number], method), *given)
        if method in {"end", "forget"}:  # nobody waits for these
            call()
        return number, method, call

    def landed(self, call: Any) -> Any:  # noqa: ANN401
        number, method, made = call
        if number in self.lost and method == self.losing:
            self.lost.discard(number)
            self.absent.add(number)
            raise PartLostError("lost", "")
        return made()


def searched_in_parts(folder: Path, count: int, upkeep: Upkeep = SMALL) -> SpreadStore:
    """Return the store of an index in a folder, of many small segments, which searchers hold."""
    here = partial(LocalStore, folder, upkeep=upkeep)
    searchers = SearchersHere(lambda _: LocalStore(folder, create=False), count)
    return SpreadStore("kb", lambda create: here(create=True), searchers)  # noqa: ARG005
