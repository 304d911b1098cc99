"""Models that are open: by what a user writes, each opened once, all of them closed together."""

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from twofold.domain.ports import Reranker
from twofold.models.deferred import is_loaded


class Closing(Protocol):
    """What can be freed."""

    def close(self) -> None:
        """Free it."""


Model = TypeVar("Model", bound=Closing)


class OpenModels(Generic[Model]):
    """Models by what a user writes, each made once; bears calls from several threads."""

    def __init__(self, opener: Callable[[str], Model | None]) -> None:
        self._opener = opener
        self._turn = threading.Lock()
        self._made: dict[str, Model | None] = {}

    def named(self, spec: str) -> Model | None:
        """Give the model that `spec` names, None for `none`. Raises what the opener raises."""
        with self._turn:
            if spec not in self._made:
                self._made[spec] = self._opener(spec)
            return self._made[spec]

    def made(self) -> tuple[Model, ...]:
        """Give those there are, in the order in which they were first asked for."""
        with self._turn:
            return tuple(one for one in self._made.values() if one is not None)

    def close(self) -> None:
        """Free all of them. Calling it twice does nothing more."""
        with self._turn:
            while self._made:
                _, made = self._made.popitem()
                if made is not None:
                    made.close()


class OpenRerankers(OpenModels[Reranker]):
    """Rerankers by what a user writes; see `twofold.models.opening_rerankers`."""

    def loaded(self) -> tuple[str, ...]:
        """Name the models that were opened, in the order in which they were first asked for."""
        return tuple(one.identity.name for one in self.made() if is_loaded(one))
