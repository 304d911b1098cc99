"""Waiting for files to change."""

import os
from collections.abc import Iterator, Sequence

LOOK_EVERY_MILLISECONDS = 500


def looks(paths: Sequence[str | os.PathLike[str]]) -> Iterator[bool]:
    """Yield at every look whether something changed; the first, from which nothing is missed, counts as a change.

    A look comes after half a second without a change. It never ends; Ctrl-C raises KeyboardInterrupt.
    """
    import watchfiles  # a native watcher that only those load who watch

    heard = watchfiles.watch(
        *[str(path) for path in paths],
        raise_interrupt=True,
        yield_on_timeout=True,
        rust_timeout=LOOK_EVERY_MILLISECONDS,
    )
    next(heard)
    yield True
    for changed in heard:
        yield bool(changed)
