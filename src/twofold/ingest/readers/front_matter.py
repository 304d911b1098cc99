"""The YAML or TOML block at the head of a text file, as metadata. It evaluates nothing."""

import re
from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Any

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Metadata, MetadataValue, Scalar
from twofold.ingest.readers.types import clean_metadata

_OPENING = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\n")
_MAX_CHARACTERS = 65_536
_MAX_VALUES = 1_000
_MAX_BRACKETS = 500  # the YAML parser's time grows with the square of how deep they are nested


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the block says, and where the text after it starts (0 when there is no block)."""

    metadata: Metadata
    end: int


NONE = FrontMatter({}, 0)


def read_front_matter(text: str) -> FrontMatter:
    """Read the block at the head of `text`. One that is not closed or not a mapping is text like any other."""
    opening = _OPENING.match(text)
    if opening is None:
        return NONE
    fence = opening[1]
    closing = re.compile(r"^(?:---|\.\.\.)[ \t]*$" if fence == "---" else r"^\+\+\+[ \t]*$", re.MULTILINE)
    end = closing.search(text, opening.end(), opening.end() + _MAX_CHARACTERS)
    if end is None:
        return NONE
    held = _parse(fence, text[opening.end() : end.start()])
    return NONE if held is None else FrontMatter(plain_metadata(held), end.end())


def plain_metadata(held: Mapping[Any, Any]) -> Metadata:
    """Keep scalars and lists of scalars; dates become ISO text; what is nested deeper is left out."""
    return clean_metadata({str(name): value for name, value in map(_plain_item, held.items()) if value is not None})


def _plain_item(item: tuple[Any, Any]) -> tuple[Any, MetadataValue | None]:
    name, value = item
    if isinstance(value, list | tuple | set):
        return name, tuple(_scalars(value))
    return name, _scalar(value)


def _scalars(values: Iterable[Any]) -> Iterable[Scalar]:
    kept = (_scalar(value) for value, _ in zip(values, range(_MAX_VALUES), strict=False))
    return (value for value in kept if value is not None)


def _scalar(value: Any) -> Scalar | None:  # noqa: ANN401 parsers give anything
    if isinstance(value, str | int | float | bool):
        return value
    return value.isoformat() if isinstance(value, date | time) else None


def _parse(fence: str, block: str) -> Mapping[Any, Any] | None:
    if fence == "+++":
        return _parse_toml(block)
    if block.count("[") + block.count("{") > _MAX_BRACKETS:
        return None
    import yaml

    try:
        held = yaml.safe_load(block)
    # PyYAML's constructors let many errors through for tagged scalars that are not what their tag says.
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


def _parse_toml(block: str) -> Mapping[Any, Any] | None:
    import tomllib

    try:
        return tomllib.loads(block)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None
