"""Keys of JSON that stand twice in one object, which readers resolve in different ways: they are refused."""

import json
from http import HTTPStatus
from typing import Any

from twofold.server.errors import refused


def check_keys(data: bytes) -> None:
    """Raise ProblemError (400) where an object has a key twice; whatever else is wrong is for others to say."""
    try:
        json.loads(data, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs. Raises ProblemError (400) where it has a key twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise refused(HTTPStatus.BAD_REQUEST, "The JSON has a key twice.", "Send each once.", kind="duplicate-key")
    return made
