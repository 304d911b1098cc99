"""The settings that hold here, put together from layers, and where each of them came from; the later layer wins.

    defaults < profile < twofold.yaml < what an index keeps < TWOFOLD_* variables < overrides (command-line options)

The file is `twofold.yaml` in the current folder, else in `TWOFOLD_HOME`, else none; or the one that is named. A setting
in a group is written `search: {k: 5}` in the file, `TWOFOLD_SEARCH__K=5` in the environment and `search.k` in messages.
A profile may be named in any layer as `profile`; the strongest naming counts. A file may also hold the configuration of
one of the systems in `docs/seed-settings.md`. This module knows no store and no model: it says what is asked for,
`compose` makes it.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.late import late
from twofold.profiles import profile_named
from twofold.setting_dials import (
    PREFIX,
    Dial,
    Settings,
    data_folder,
    dials,
    group_names,
    known_dials,
    models_folder,
    value_of,
)
from twofold.setting_values import Said, as_text, check_together, checked, value_from_text

if TYPE_CHECKING:
    from twofold.seed_settings import Translation

__all__ = [
    "FILE_NAME",
    "NOTHING",
    "OTHER_VARIABLES",
    "PREFIX",
    "Dial",
    "Resolved",
    "Row",
    "Settings",
    "as_text",
    "data_folder",
    "dials",
    "load_settings",
    "merge",
    "models_folder",
    "resolve",
    "value_from_text",
    "value_of",
]

FILE_NAME = "twofold.yaml"
OTHER_VARIABLES = frozenset({"TWOFOLD_SHARED", "TWOFOLD_NO_SKIPS", "TWOFOLD_API_KEY"})
"""Variables with our prefix that are no settings: what tests look at, and a secret that no file may hold."""

NOTHING: Mapping[str, Any] = MappingProxyType({})
_OF_THE_INDEX = "the index"
_OVERRIDE = "override"

_Layer = Mapping[str, Said]


@dataclass(frozen=True, slots=True)
class Row:
    """One setting as it stands.

    `origin` is `default`, `profile NAME`, a file's path, `the index`, a variable's name, or `override`.
    """

    key: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """Settings, and where each of them came from, in the order of the documentation.

    `unused` names what a file of another system says that has no counterpart here.
    """

    settings: Settings
    rows: tuple[Row, ...]
    unused: tuple[str, ...] = ()


def load_settings(
    *,
    config: str | Path | None = None,
    collection: Mapping[str, str] = NOTHING,
    overrides: Mapping[str, object] = NOTHING,
) -> Settings:
    """Give the settings that hold here; arguments and errors as for `resolve`."""
    return resolve(config=config, collection=collection, overrides=overrides).settings


def resolve(
    *,
    config: str | Path | None = None,
    collection: Mapping[str, str] = NOTHING,
    overrides: Mapping[str, object] = NOTHING,
) -> Resolved:
    """Put the settings together and keep where each came from.

    `config` names a file instead of looking for `twofold.yaml`. `collection` is what an index keeps for itself, as text
    that `as_text` wrote. `overrides` maps dotted keys such as `search.k` to values, or to text that is read as one.
    Raises InvalidInputError for an unknown key or profile or a value out of range, NotFoundError for a named file that
    is missing.
    """
    said = {key: Said(value, _OVERRIDE, isinstance(value, str)) for key, value in overrides.items()}
    said = {**dict(_from_environment(os.environ)), **said}
    path = Path(config) if config is not None else _find_file(said.get("home"))
    said = {**{key: Said(text, _OF_THE_INDEX, as_text=True) for key, text in collection.items()}, **said}
    unused: tuple[str, ...] = ()
    if path is not None:
        from_file, unused = _from_file(path)
        said = {**from_file, **said}
    values = {key: checked(one, key) for key, one in said.items()}
    if "profile" in said:
        values, said = _with_profile(values, said)
    settings = _with(Settings(), values)
    origins = {key: one.origin for key, one in said.items()}
    check_together(settings, origins)
    rows = (Row(key, value_of(settings, key), origins.get(key, "default")) for key in known_dials())
    return Resolved(settings, tuple(rows), unused)


def merge(settings: Settings, overrides: Mapping[str, object]) -> Settings:
    """Give the settings for one question: `overrides` maps dotted keys to values, or to text that is read as one.

    Another `profile` takes the place of the one before in each setting that still has that profile's value. Raises
    InvalidInputError as `resolve` does, and for what cannot differ between questions, such as the embedder.
    """
    if not overrides:
        return settings
    values = {}
    for key, value in overrides.items():
        values[key] = checked(Said(value, _OVERRIDE, isinstance(value, str)), key)
        if not known_dials()[key].of_a_search:
            raise InvalidInputError(
                f"{key} cannot differ from question to question.", "Set it where the index is made or opened."
            )
    if "profile" in values:
        values = {**_exchanged(settings, str(values["profile"])), **values}
        values["profile"] = profile_named(str(values["profile"])).name
    merged = _with(settings, values)
    check_together(merged, dict.fromkeys(overrides, _OVERRIDE))
    return merged


def _exchanged(settings: Settings, name: str) -> dict[str, object]:
    """Give what another profile changes, where nobody but the profile before it had a say."""
    before, after, default = profile_named(settings.profile).values, profile_named(name).values, Settings()
    changed: dict[str, object] = {}
    for key in {**before, **after}:
        old, new = (values.get(key, value_of(default, key)) for values in (before, after))
        if known_dials()[key].of_a_search and value_of(settings, key) == old:
            changed[key] = new
    return changed


def _with_profile(values: Mapping[str, object], said: _Layer) -> tuple[dict[str, object], dict[str, Said]]:
    try:
        profile = profile_named(str(values["profile"]))
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{error.message[:-1]}, as profile ({said['profile'].origin}) says.", error.remedy
        ) from error
    layer = {key: Said(value, f"profile {profile.name}") for key, value in profile.values.items()}
    own = {key: checked(one, key) for key, one in layer.items()}
    return {**own, **values, "profile": profile.name}, {**layer, **said}


def _find_file(home: Said | None) -> Path | None:
    folder = Path(str(home.value)).expanduser() if home is not None else data_folder()
    candidates = (Path(FILE_NAME), folder / FILE_NAME)
    return next((path for path in candidates if path.is_file()), None)


def _from_environment(variables: Mapping[str, str]) -> Iterator[tuple[str, Said]]:
    for name, text in variables.items():
        if name.startswith(PREFIX) and name not in OTHER_VARIABLES and text:
            key = name.removeprefix(PREFIX).lower().replace("__", ".")
            yield key, Said(text, f"environment variable {name}", as_text=True)


def _from_file(path: Path) -> tuple[dict[str, Said], tuple[str, ...]]:
    import yaml  # 30 ms that only those pay who have a file

    try:
        content = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise NotFoundError(f"Cannot read the settings file {path}: {error.strerror}.", "Check --config.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        where = " ".join(str(error).split())
        raise InvalidInputError(f"{path} is not valid YAML: {where}.", "Mend the file, or move it away.") from error
    if content is None:
        return {}, ()
    _check_lines(content, "", path)
    found: Translation = late("twofold.seed_settings:translated")(content, str(path))
    own = dict(_flattened(found.rest, "", path))
    for key in found.values.keys() & own.keys() - {"profile"}:
        raise InvalidInputError(f"{key} is said twice in {path}, also as {found.names[key]}.", "Leave one of them out.")
    foreign = {key: Said(value, f"{path}: {found.names[key]}") for key, value in found.values.items()}
    return {**foreign, **own}, tuple(f"{name} ({path})" for name in found.unused)


def _flattened(content: Mapping[object, object], front: str, path: Path) -> Iterator[tuple[str, Said]]:
    for name, value in content.items():
        key = f"{front}{name}"
        if key in group_names():
            yield from _flattened(_check_lines(value, key, path), f"{key}.", path)
        else:
            yield key, Said(value, str(path))


def _check_lines(content: object, key: str, path: Path) -> dict[object, object]:
    if isinstance(content, dict):
        return content
    raise InvalidInputError(f"{key or 'the file'} in {path} must hold `name: value` lines.", "See docs/settings.md.")


def _with(settings: Settings, values: Mapping[str, object]) -> Settings:
    """Put values in their places; the groups that nobody speaks of stay the same objects."""
    changed: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        group, _, name = key.rpartition(".")
        changed.setdefault(group, {})[name] = value
    top = changed.pop("", {})
    groups = {name: replace(getattr(settings, name), **inner) for name, inner in changed.items()}
    return replace(settings, **top, **groups)
