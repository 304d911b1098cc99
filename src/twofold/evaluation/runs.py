"""Runs as TREC writes them: `query Q0 document rank score tag`, one line a hit, so that other tools can score ours."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from twofold.domain.errors import InvalidInputError, NotFoundError, ReadError

_FIELDS: Final = 6
_NO_WORD: Final = re.compile(r"[\s\ud800-\udfff]")


class ScoredDocument(NamedTuple):
    """One hit of a run."""

    document: str
    score: float


Run = Mapping[str, Sequence[ScoredDocument]]
"""For each query's id its hits, best first."""


def as_word(name: str) -> str:
    """Write white space, and bytes that are no text, as `%20`: a run's fields are words, and paths often are not.

    >>> as_word("my notes/a%b.md")
    'my%20notes/a%b.md'
    """
    return _NO_WORD.sub(lambda found: quote(found.group(), safe="", errors="surrogateescape"), name)


def write_run(path: Path, run: Run, tag: str) -> None:
    """Write a run, ranks from 1, scores so that they read back exactly.

    Raises InvalidInputError when an id or the tag is empty or holds white space, which the format cannot carry, or a
    score is not finite, or the file cannot be written.
    """
    lines = [
        f"{_word(query)} Q0 {_word(hit.document)} {rank} {_number(hit.score)!r} {_word(tag)}\n"
        for query, hits in run.items()
        for rank, hit in enumerate(hits, start=1)
    ]
    try:
        path.write_text("".join(lines), encoding="utf-8", newline="\n")
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}.", "Name another file.") from error


def read_run(path: Path) -> Run:
    """Read a run: each query's hits by falling score, ties by the rank that the file gives, then by id.

    Raises NotFoundError when the file is absent, ReadError with the number of the line when one is malformed.
    """
    if not path.is_file():
        raise NotFoundError(f"there is no run {path}.", "Name a file in the format of TREC runs.")
    found: defaultdict[str, list[tuple[float, int, str]]] = defaultdict(list)
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ReadError(f"{path} is not UTF-8.", "Write the run again.") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            query, document, rank, score = _fields(line, path, number)
            found[query].append((-score, rank, document))
    return {
        query: tuple(ScoredDocument(document, -fallen) for fallen, _, document in sorted(hits))
        for query, hits in found.items()
    }


def _fields(line: str, path: Path, number: int) -> tuple[str, str, int, float]:
    fields = line.split()
    if len(fields) != _FIELDS:
        raise ReadError(f"{path} line {number} has {len(fields)} fields, not {_FIELDS}.", "Correct or remove the line.")
    query, _, document, rank, score, _ = fields
    try:
        value = float(score)
        place = int(rank)
    except ValueError as error:
        raise ReadError(f"{path} line {number} has no number for rank or score.", "Correct the line.") from error
    if not isfinite(value):
        raise ReadError(f"{path} line {number} has a score that is not finite.", "Correct the line.")
    return query, document, place, value


def _word(text: str) -> str:
    if len(text.split()) != 1 or text != text.strip():
        raise InvalidInputError(f"{text!r} cannot stand in a TREC run.", "Use ids and tags without white space.")
    return text


def _number(score: float) -> float:
    if not isfinite(score):
        raise InvalidInputError("a run cannot hold a score that is not finite.", "Leave such hits out.")
    return float(score)
