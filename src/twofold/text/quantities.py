"""Numbers as people read them: how many of what, and how many bytes."""

_UNITS = ("B", "kB", "MB", "GB", "TB")


def counted(number: int, what: str) -> str:
    """Return how many: `1 passage`, `1,204 passages`.

    >>> counted(1204, "passage"), counted(1, "file")
    ('1,204 passages', '1 file')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def sized(count: int) -> str:
    """Return a number of bytes as text.

    >>> sized(999), sized(72_400_000)
    ('999 B', '72.4 MB')
    """
    power = min(len(_UNITS) - 1, (len(str(count)) - 1) // 3)
    return f"{count / 1000**power:.{1 if power else 0}f} {_UNITS[power]}"
