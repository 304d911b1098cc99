"""What was said before a question, read from a file of turns."""

from collections.abc import Mapping
from pathlib import Path

from twofold.cli.lines import lines_of
from twofold.domain.errors import InvalidInputError
from twofold.query.history import Turn

_REMEDY = 'Write {"role": "user", "text": "..."} or {"role": "assistant", "text": "..."}, one a line.'


def read_history(path: Path) -> tuple[Turn, ...]:
    """Read the turns of a conversation, oldest first. Raises InvalidInputError with the line's number."""
    turns = []
    for line in lines_of(path):
        if isinstance(line.held, InvalidInputError):
            raise InvalidInputError(f"{path}, line {line.number}: {line.held.message}", line.held.remedy)
        turns.append(_turn(line.held, f"{path}, line {line.number}"))
    return tuple(turns)


def _turn(held: Mapping[str, object], where: str) -> Turn:
    match held:
        case {"role": "user" | "assistant" as role, "text": str(text), **rest} if not rest:
            return Turn(role, text)
        case _:
            raise InvalidInputError(f"{where}: this is no turn of a conversation.", _REMEDY)
