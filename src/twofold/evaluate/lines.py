"""Files of one record a line, read so that a bad line is named by its number."""

import json
from collections.abc import Iterator
from pathlib import Path

from twofold.domain.errors import ReadError


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Give the lines that are not blank, with their numbers from 1; a byte order mark is dropped."""
    with path.open("rb") as found:
        for number, line in enumerate(found, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise malformed(path, number, "it is not UTF-8") from error
            if text.strip():
                yield number, text


def objects(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """Give each line's JSON object with its number."""
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
    return ReadError(f"{path} line {number} cannot be used: {why}.", "Mend the line, or leave it out.")
