"""A question's plain form, for showing what was read."""

import re
import unicodedata
from collections.abc import Callable

_INNER = frozenset("_-.'+#/&@:,")  # what codes, options, paths and addresses hold
_CORE = re.compile(r"(?:--|\.)?\w.*")
_TRAILING = "-.'/&@:,"


def normalise(text: str, fold: Callable[[str], str]) -> str:
    """Fold a question and drop special characters, with one space between words; codes keep what is inside them.

    `fold` folds case and encoding. `"  What is dbt?  "` gives `"what is dbt"` (checklist 12), and `"Fix ERR-12345!"`
    gives `"fix err-12345"`. Idempotent where `fold` is.
    """
    spaced = "".join(character if _is_kept(character) else " " for character in fold(text))
    cores = (_CORE.search(run) for run in spaced.split())
    return " ".join(core[0].rstrip(_TRAILING) for core in cores if core)


def _is_kept(character: str) -> bool:
    return character.isalnum() or character in _INNER or unicodedata.category(character)[0] == "M"
