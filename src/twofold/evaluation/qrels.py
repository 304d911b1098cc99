"""Judgements as BEIR and TREC write them: which document answers which query, and how well.

BEIR: `query-id`, `corpus-id`, `score`, tab-separated. TREC: `query`, an iteration that nobody reads, `document`,
`score`, separated by tabs or blanks. A score is a whole number, above 0 means relevant; a header line is allowed.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from twofold.domain.errors import ReadError


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Return the lines that are not blank, with their numbers from 1; a byte order mark is dropped."""
    with path.open("rb") as found:
        for number, line in enumerate(found, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise malformed(path, number, "it is not UTF-8") from error
            if text.strip():
                yield number, text


def objects(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """Return each line's JSON object with its number."""
    for number, line in lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise malformed(path, number, "it is not JSON") from error
        if not isinstance(record, dict):
            raise malformed(path, number, "it is not a JSON object")
        yield number, record


def malformed(path: Path, number: int, why: str) -> ReadError:
    """Make the error that names the line."""
    return ReadError(f"{path} line {number} cannot be used: {why}.", "Correct the line, or leave it out.")


BEIR_COLUMNS: Final = 3
TREC_COLUMNS: Final = 4


class Judgement(NamedTuple):
    """How well a document answers a query."""

    query: str
    document: str
    grade: int


Columns = Callable[[str], tuple[str, ...]]
"""Takes a line apart: query, document, grade. Raises ValueError that says why it cannot."""


def beir_columns(line: str) -> tuple[str, ...]:
    r"""Take a line of BEIR's apart.

    >>> beir_columns("q1\\td1\\t2")
    ('q1', 'd1', '2')
    """
    found = line.rstrip("\r\n").split("\t")
    if len(found) != BEIR_COLUMNS:
        message = f"it has {len(found)} tab-separated columns, not {BEIR_COLUMNS}"
        raise ValueError(message)
    return tuple(column.strip() for column in found)


def either_columns(line: str) -> tuple[str, ...]:
    r"""Take a line of TREC's or of BEIR's apart.

    >>> either_columns("q1 0 d1 2"), either_columns("q1\\td 1\\t2")
    (('q1', 'd1', '2'), ('q1', 'd 1', '2'))
    """
    found = line.rstrip("\r\n").split("\t") if "\t" in line else line.split()
    if len(found) == TREC_COLUMNS:
        return found[0].strip(), found[2].strip(), found[3].strip()
    return beir_columns(line)


def read_judgements(path: Path, columns: Columns) -> Iterator[Judgement]:
    """Read a file's judgements. Raises ReadError with the number of a line that is malformed."""
    for place, (number, line) in enumerate(lines(path)):
        try:
            query, document, grade = columns(line)
        except ValueError as error:
            raise malformed(path, number, str(error)) from error
        if re.fullmatch(r"[+-]?[0-9]{1,9}", grade):
            yield Judgement(query, document, int(grade))
        elif place > 0:  # the first line may be a header
            raise malformed(path, number, f"its score {grade!r} is not a whole number")


def by_query(judgements: Iterable[Judgement], path: Path) -> Mapping[str, Mapping[str, int]]:
    """Return `grades[query][document]`. Raises ReadError when `path` gives a document two scores for one query."""
    grades: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for query, document, grade in judgements:
        if grades[query].setdefault(document, grade) != grade:
            raise ReadError(f"{path} gives two scores for document {document!r} of query {query!r}.", "Keep one.")
    return grades
