"""Asking one state of a collection; where a part of it is lost on the way, another one that lacks it from the start."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TypeVar

from twofold.domain.errors import PartLostError
from twofold.domain.ports import Snapshot, Store

ATTEMPTS = 5

Answer = TypeVar("Answer")


def states_of(store: Store) -> Iterator[AbstractContextManager[Snapshot]]:
    """Yield views to try until one was asked to the end; all but the last end in silence when a part is lost."""
    for _ in range(ATTEMPTS - 1):
        yield _Forgiving(store.view())
    yield store.view()


class _Forgiving:
    """A view that ends in silence where a part was lost while it was asked; not where it cannot be opened."""

    __slots__ = ("_opened",)

    def __init__(self, opened: AbstractContextManager[Snapshot]) -> None:
        self._opened = opened

    def __enter__(self) -> Snapshot:
        return self._opened.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        try:
            return bool(self._opened.__exit__(kind, error, trace)) or isinstance(error, PartLostError)
        except PartLostError:
            return True


def in_one_state(store: Store, ask: Callable[[Snapshot], Answer]) -> Answer:
    """Open a state of a collection and ask it; an answer is of all that its state says is there, and of nothing else.

    Raises PartLostError where nothing is there, or something is lost each time.
    """
    for opened in states_of(store):
        with opened as view:
            return ask(view)
    raise PartLostError("Parts of the index are lost again and again.", "Ask again.")
