"""Fields of frozen dataclasses that are computed when they are first read."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

PENDING = "_pending"


class Deferred:
    """A frozen dataclass without slots, some of whose fields may be left for later; reading one computes it, once.

    When it is read, compared, replaced, copied or pickled it is the dataclass as it would be with all of its fields.
    Two threads that read a field at once may both compute it, and get the same object.
    """

    @classmethod
    def deferring(cls, later: Mapping[str, Callable[[], object]], **known: object) -> Self:
        """Return an object with these fields, and those that `later` computes; together they must be all of them."""
        made = cls.__new__(cls)
        made.__dict__.update(known)
        made.__dict__[PENDING] = later
        return made

    if not TYPE_CHECKING:  # else every name would be a field to a type checker

        def __getattr__(self, name: str) -> object:
            """Compute a field that is not there yet."""
            compute = self.__dict__.get(PENDING, {}).get(name)
            if compute is None:
                message = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(message)
            return self.__dict__.setdefault(name, compute())

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        """Copy and pickle it whole, with nothing left for later."""
        return type(self), tuple(getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]  # a dataclass
