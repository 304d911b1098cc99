"""Waiting for files to change."""

import os
from collections.abc import Iterator, Sequence

LOOK_EVERY_MILLISECONDS = 500


def changes(paths: Sequence[str | os.PathLike[str]]) -> Iterator[None]:
    """Yield once when the watcher looks, so that nothing is missed from then on, and again after every change.

    It never ends; Ctrl-C raises KeyboardInterrupt.
    """
    import watchfiles  # a native watcher that only those load who watch

    heard = watchfiles.watch(
        *[str(path) for path in paths],
        raise_interrupt=True,
        yield_on_timeout=True,
        rust_timeout=LOOK_EVERY_MILLISECONDS,
    )
    next(heard)
    yield
    for changed in heard:
        if changed:
            yield
