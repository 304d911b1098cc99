"""One value of one setting: checked against its range, and as text that reads back as the same value."""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from twofold.config.settings import Setting, Settings, known_settings
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.query.filter_syntax import parse_filter
from twofold.ranking.boost import compile_patterns

_MAX_SHOWN = 200  # characters


@dataclass(frozen=True, slots=True)
class RawValue:
    """One value as somebody wrote it, before it is checked. `as_text` says that it may be text for another type."""

    value: object
    origin: str
    as_text: bool = False


def as_text(value: object) -> str:
    r"""Write a value as text for the environment, for `--set`, or to keep with an index.

    Lists and maps are JSON. `value_from_text` reads all of it back: `true`, `0.6`, `["ERR-\\d+"]`.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return json.dumps(dict(value), ensure_ascii=False)
    if isinstance(value, tuple | list):
        return json.dumps(list(value), ensure_ascii=False)
    return str(value)


def value_from_text(key: str, text: str, origin: str = "text") -> object:
    """Read the value of a setting from text. Raises InvalidInputError for an unknown key or a value out of range."""
    return checked(RawValue(text, origin, as_text=True), key)


def checked(said: RawValue, key: str) -> object:
    """Return the value as its setting's type, alone in range; `origin` is in the message where it is not.

    Raises InvalidInputError, also for a key that is no setting.
    """
    dial = known_settings().get(key)
    if dial is None:
        raise InvalidInputError(f"{key} ({said.origin}) is no setting.", suggestion(key, known_settings()))
    try:
        value, strict = _prepared(dial, said)
        return msgspec.convert(value, dial.annotation, strict=strict, dec_hook=_folder)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        message = f"{dial.key} ({said.origin}) cannot be {_shown(said.value)}."
        raise InvalidInputError(message, f"It must be {dial.allowed}.") from error


def check_together(settings: Settings, origins: Mapping[str, str]) -> None:
    """Check what a range cannot say: filters that must be read, patterns that must compile, overlap within size.

    `origins` says who set what; what nobody set is not looked at. Raises InvalidInputError.
    """
    chunk = settings.chunk
    if chunk.overlap > chunk.size // 2:
        origin = origins.get("chunk.overlap", origins.get("chunk.size", "default"))
        message = f"chunk.overlap ({origin}) cannot be {chunk.overlap} with a chunk.size of {chunk.size}."
        raise InvalidInputError(message, f"It must be a whole number from 0 to {chunk.size // 2}.")
    if "search.default_filter" in origins and settings.search.default_filter:
        _check_filter(settings.search.default_filter, "search.default_filter", origins["search.default_filter"])
    if "boost.rules" in origins:
        for rule in settings.boost.rules:
            _check_filter(rule, "boost.rules", origins["boost.rules"])
    if "boost.patterns" in origins and settings.boost.patterns:
        _check_patterns(settings.boost.patterns, origins["boost.patterns"])


def suggestion(key: str, known: Mapping[str, object]) -> str:
    """Return which known name is meant, or where the names stand."""
    import difflib

    near = difflib.get_close_matches(key, known, 1)
    return f"Did you mean {near[0]}?" if near else "`twofold config show --all` lists the settings."


def _prepared(dial: Setting, said: RawValue) -> tuple[object, bool]:
    """Return what is to be converted, and whether its type must be right already."""
    value = said.value
    if dial.key == "search.candidates" and isinstance(value, int) and not isinstance(value, bool):
        return str(value), True
    if dial.kind is Mapping and isinstance(value, Mapping):
        return dict(value), True
    if not said.as_text or not isinstance(value, str):
        return value, not said.as_text
    if dial.kind in {tuple, Mapping}:
        return json.loads(value, object_pairs_hook=_once), True
    if dial.kind in {int, float} and value.startswith((".", "-.")):
        return value.replace(".", "0.", 1), False  # people write .5, JSON numbers may not
    return value, False


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(pairs)
    return found


def _shown(value: object) -> str:
    written = repr(value)
    return written if len(written) <= _MAX_SHOWN else f"{written[:_MAX_SHOWN]}…"


def _folder(kind: type, value: object) -> Path:
    if kind is not Path or not isinstance(value, str) or not value:
        raise ValueError(value)
    return Path(value).expanduser()


def _check_filter(text: str, key: str, origin: str) -> None:
    try:
        parse_filter(text)
    except InvalidInputError as error:
        message = f"{key} ({origin}) cannot hold {_shown(text)}: {error.message}"
        raise InvalidInputError(message, error.hint) from error


def _check_patterns(patterns: tuple[str, ...], origin: str) -> None:
    try:
        compile_patterns(patterns)
    except InvalidInputError as error:
        raise InvalidInputError(f"boost.patterns ({origin}): {error.message}", error.hint) from error
