"""Paths as this program keeps and shows them: with slashes, also where the system itself writes backslashes."""

import os

SEPARATORS = frozenset({"/", os.sep})
"""What parts the names of a path: on Windows both, elsewhere the slash alone."""


def slashed(path: str) -> str:
    r"""Write a path of the system with slashes: `C:\notes\a.md` of Windows becomes `C:/notes/a.md`."""
    return path if os.sep == "/" else path.replace(os.sep, "/")


def real_path(path: str | os.PathLike[str]) -> str:
    """Return the path of a file or folder in full, without links, with slashes. It need not be there."""
    return slashed(os.path.realpath(path))
