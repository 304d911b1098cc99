"""Methods that may be awaited: the same work in a thread, so that an event loop goes on meanwhile."""

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

_Owner = TypeVar("_Owner")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def offloaded(
    method: Callable[Concatenate[_Owner, _Arguments], _Result],
) -> Callable[Concatenate[_Owner, _Arguments], Coroutine[Any, Any, _Result]]:
    """Return a method that does what `method` does, in a thread, and is awaited.

    Where the waiting task is cancelled it ends at once; the thread finishes, and what it made is dropped.
    """

    async def awaited(self: _Owner, /, *arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        import asyncio  # 20 ms that a program without an event loop does not need

        return await asyncio.to_thread(method, self, *arguments, **named)

    update_wrapper(awaited, method)
    return awaited
