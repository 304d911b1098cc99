"""Naming the files that could not be read: those that share a reason together, and what to do about it once."""

from collections.abc import Iterable, Iterator

from twofold.cli.render.terminal import from_here, one_line
from twofold.indexing.types import Failure

_NAMED = 3  # of as many files with one reason each is named


def grouped(failed: Iterable[Failure]) -> Iterator[tuple[str, str, str]]:
    """Yield for each reason, in the order they came, the files it holds for, the reason, and what to do or ""."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in failed:
        groups.setdefault((one.reason, one.hint), []).append(from_here(one.source))
    for (reason, hint), sources in groups.items():
        yield _named(sources), one_line(reason), one_line(hint)


def _named(sources: list[str]) -> str:
    """Return the names of a few files; of many the first ones and how many more there are.

    >>> _named(["a.png", "b.png"]), _named(["a.png", "b.png", "c.png", "d.png", "e.png"])
    ('a.png, b.png', 'a.png, b.png, c.png and 2 more')
    """
    if len(sources) <= _NAMED + 1:
        return ", ".join(sources)
    return f"{', '.join(sources[:_NAMED])} and {len(sources) - _NAMED:,} more"
