"""One value of one setting: checked against its range, and as text that reads back as the same value."""

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec

from twofold.config.settings import Setting, Settings, known_parts, known_settings
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

    Lists and maps are JSON. `value_from_text` reads all of it back: `true`, `0.6`, `["ERR-\\d+"]`, `{"count": 2}`.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping | tuple | list) or is_dataclass(value):
        return json.dumps(_plain(value), ensure_ascii=False)
    return str(value)


def _plain(value: object) -> object:
    """Return a value as JSON knows it."""
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return list(value) if isinstance(value, tuple | list) else value


def value_from_text(key: str, text: str, origin: str = "text") -> object:
    """Read the value of a setting from text. Raises InvalidInputError for an unknown key or a value out of range."""
    return checked(RawValue(text, origin, as_text=True), key)


def checked(said: RawValue, key: str) -> object:
    """Return the value as its setting's type, alone in range; `origin` is in the message where it is not.

    Of a setting with parts those that are named come back as a map. Raises InvalidInputError, also for a key that is no
    setting.
    """
    setting = known_settings().get(key)
    if setting is None:
        raise InvalidInputError(f"{key} ({said.origin}) is no setting.", suggestion(key, known_settings()))
    return _parts(setting, said) if setting.parts else _one(setting, said)


def _one(setting: Setting, said: RawValue) -> object:
    try:
        value, strict = _prepared(setting, said)
        return msgspec.convert(value, setting.annotation, strict=strict, dec_hook=_folder)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise _refused(setting, said) from error


def _refused(setting: Setting, said: RawValue) -> InvalidInputError:
    message = f"{setting.key} ({said.origin}) cannot be {_shown(said.value)}."
    return InvalidInputError(message, f"It must be {setting.allowed}.")


def _parts(setting: Setting, said: RawValue) -> Mapping[str, object]:
    """Return the parts of a setting that are named, each checked; from text as JSON or as `count:2 backoff:0.5`."""
    value, as_text = said.value, said.as_text
    if isinstance(value, str) and as_text:
        as_text = not value.lstrip().startswith("{")
        value = _named_in(setting, said) if as_text else _from_json(setting, said)
    elif is_dataclass(value) and type(value) is setting.kind:
        value = {one.name: getattr(value, one.name) for one in setting.parts}
    if not isinstance(value, Mapping):
        raise _refused(setting, said)
    known = {one.name: one for one in setting.parts}
    for name in value:
        if name not in known:
            hint = suggestion(str(name), known, f"Its parts are {', '.join(known)}.")
            raise InvalidInputError(f"{setting.key} ({said.origin}) has no part {str(name)[:80]!r}.", hint)
    return MappingProxyType(
        {name: _one(known[name], RawValue(one, said.origin, as_text)) for name, one in value.items()}
    )


def _named_in(setting: Setting, said: RawValue) -> Mapping[str, object]:
    """Read `count:2 backoff_seconds:0.5`, parted by spaces or commas."""
    found: dict[str, object] = {}
    for one in re.split(r"[\s,]+", str(said.value).strip(" ,")):
        name, sign, value = one.partition(":")
        if not sign or name in found:
            raise _refused(setting, said)
        found[name] = value
    return found


def _from_json(setting: Setting, said: RawValue) -> object:
    try:
        return json.loads(str(said.value), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise _refused(setting, said) from error


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
    if "boost" in origins:
        for rule in settings.boost.rules:
            _check_filter(rule, "boost.rules", origins["boost"])
        if settings.boost.patterns:
            _check_patterns(settings.boost.patterns, origins["boost"])


def suggestion(
    key: str, known: Mapping[str, object], otherwise: str = "`twofold config show --all` lists the settings."
) -> str:
    """Return which known name is meant, or where the names stand."""
    import difflib

    if key in known_parts() and known is known_settings():
        setting, _, part = key.rpartition(".")
        return f"It is a part of {setting}: --set {setting}={part}:VALUE, or `{part}` in the map {setting}."
    near = difflib.get_close_matches(key, known, 1)
    return f"Did you mean {near[0]}?" if near else otherwise


def _prepared(setting: Setting, said: RawValue) -> tuple[object, bool]:
    """Return what is to be converted, and whether its type must be right already."""
    value = said.value
    if setting.key == "search.candidates" and isinstance(value, int) and not isinstance(value, bool):
        return str(value), True
    if setting.kind is Mapping and isinstance(value, Mapping):
        return dict(value), True
    if not said.as_text or not isinstance(value, str):
        return value, not said.as_text
    if setting.kind in {tuple, Mapping}:
        return json.loads(value, object_pairs_hook=_once), True
    if setting.kind in {int, float} and value.startswith((".", "-.")):
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
