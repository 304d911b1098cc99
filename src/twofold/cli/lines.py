"""Files of one JSON object a line, `-` for standard input: read as they come, each with its number."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO, NamedTuple

from twofold.domain.errors import InvalidInputError, NotFoundError

STANDARD_INPUT = Path("-")
LONGEST_LINE = 1_000_000  # bytes
_REMEDY = "Write one JSON object a line, in UTF-8."


class Line(NamedTuple):
    """One line by its number, from 1, and the object that it holds, or what is wrong with it."""

    number: int
    held: Mapping[str, object] | InvalidInputError


def lines_of(path: Path) -> Iterator[Line]:
    """Read a file line by line; empty lines are passed over. Raises NotFoundError for a file that cannot be read."""
    try:
        opened = nullcontext(sys.stdin.buffer) if path == STANDARD_INPUT else path.open("rb")
    except OSError as error:
        raise NotFoundError(f"Cannot read {path}: {error.strerror}.", "Check its name.") from error
    with opened as file:
        for number, written in enumerate(_whole_lines(file), start=1):
            if written.strip():
                yield Line(number, _read(written))


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """Give the lines; of one that is too long, so much that it shows."""
    while written := file.readline(LONGEST_LINE + 1):
        rest = written
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST_LINE + 1)
        yield written


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    held = dict(pairs)
    if len(held) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return held


def _read(written: bytes) -> Mapping[str, object] | InvalidInputError:
    if len(written) > LONGEST_LINE:
        return InvalidInputError(f"The line is longer than {LONGEST_LINE:,} bytes.", _REMEDY)
    try:
        held = json.loads(written.decode("utf-8-sig"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        return InvalidInputError(f"The line is not JSON: {error}.", _REMEDY)
    return held if isinstance(held, dict) else InvalidInputError("The line holds no JSON object.", _REMEDY)
