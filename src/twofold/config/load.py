"""The settings that hold here, put together from layers, and where each of them came from; the later layer wins.

    defaults < profile < twofold.yaml < what an index keeps < TWOFOLD_* variables < overrides (command-line options)

The file is the one that is named (`--config`), or else `twofold.yaml` in `TWOFOLD_HOME` and, over it, `twofold.yaml` in
the current folder. What the latter and an index may set is less than what the user may: see `config.trust`. A setting
in a group is written `search: {k: 5}` in the file, `TWOFOLD_SEARCH__K=5` in the environment and `search.k` in messages.
A profile may be named in any layer as `profile`; the strongest naming counts. A file may also hold the configuration of
one of the systems in `docs/seed-settings.md`. This module knows no store and no model: it says what is asked for,
`factory` makes it.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from twofold.config.profiles import profile_named
from twofold.config.settings import (
    PREFIX,
    Setting,
    Settings,
    all_settings,
    data_folder,
    grouped,
    known_settings,
    models_folder,
    value_of,
)
from twofold.config.trust import Ignored, folder_may_say, ignored, index_may_say
from twofold.config.values import RawValue, as_text, check_together, checked, value_from_text
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, check_kind, check_table

if TYPE_CHECKING:
    from twofold.config.files import SettingsFile

__all__ = [
    "FILE_NAME",
    "NOTHING",
    "OTHER_VARIABLES",
    "PREFIX",
    "Ignored",
    "Resolved",
    "Row",
    "Setting",
    "Settings",
    "all_settings",
    "as_text",
    "data_folder",
    "grouped",
    "is_explicit",
    "load_settings",
    "merge",
    "models_folder",
    "resolve",
    "value_from_text",
    "value_of",
    "with_models_of",
    "with_values",
]

FILE_NAME = "twofold.yaml"
OTHER_VARIABLES = frozenset({"TWOFOLD_SHARED", "TWOFOLD_NO_SKIPS", "TWOFOLD_API_KEY", "TWOFOLD_API_KEY_HOST"})
"""Variables with our prefix that are no settings: what tests look at, a secret that no file may hold, and its host."""

NOTHING: Mapping[str, Any] = MappingProxyType({})
NEED_NO_MODEL = frozenset({"", "none", "word-overlap"})
_OF_THE_INDEX = "the index"
_OVERRIDE = "override"


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

    `unused` names what a file of another system says that has no counterpart here, `ignored` what the current folder's
    file or an index says that only the user may.
    """

    settings: Settings
    rows: tuple[Row, ...]
    unused: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()


@dataclass(frozen=True, slots=True)
class _Source:
    """One layer of settings, and what it may say of a key and a value."""

    said: Mapping[str, RawValue]
    may_say: Callable[[str, object], bool]


def load_settings(
    *,
    config: str | Path | None = None,
    collection: Mapping[str, str] = NOTHING,
    overrides: Mapping[str, object] = NOTHING,
) -> Settings:
    """Return the settings that hold here; arguments and errors as for `resolve`."""
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
    check_kind("`config`", config, str | Path | None, "Name a file of settings.")
    for what, given in (("overrides", overrides), ("collection", collection)):
        check_table(f"`{what}`", given, f"Write names and values: {what}={{'search.k': 5}}.")
    loud = {key: RawValue(value, _OVERRIDE, isinstance(value, str | Mapping)) for key, value in overrides.items()}
    variables = dict(_from_environment(os.environ))
    user, folder = _files(config, loud.get("home", variables.get("home")))
    kept = {key: RawValue(text, _OF_THE_INDEX, as_text=True) for key, text in collection.items()}
    sources = (
        _Source(user.said if user else {}, _anything),
        _Source(folder.said if folder else {}, folder_may_say),
        _Source(kept, index_may_say),
        _Source(variables, _anything),
        _Source(loud, _anything),
    )
    said, values, unheard = _joined(sources)
    if "profile" in said:
        values, by_profile = _with_profile(values, said)
    else:
        by_profile = {}
    settings = replace(with_values(Settings(), values), said=frozenset(said))
    origins = {key: one.origin for key, one in {**by_profile, **said}.items()}
    check_together(settings, origins)
    rows = (Row(key, value_of(settings, key), origins.get(key, "default")) for key in known_settings())
    unused = tuple(name for file in (user, folder) if file for name in file.unused)
    return Resolved(settings, tuple(rows), unused, unheard)


def is_explicit(settings: Settings, key: str) -> bool:
    """Return whether somebody chose this value, be it the default: a file, an index, the environment or a caller.

    Of settings that were made directly, what is neither the default nor their profile's was chosen.
    """
    value = value_of(settings, key)
    return key in settings.said or value not in (value_of(Settings(), key), _of_profile(settings.profile, key))


def merge(settings: Settings, overrides: Mapping[str, object]) -> Settings:
    """Return the settings for one question: `overrides` maps dotted keys to values, or to text that is read as one.

    Another `profile` takes the place of the one before in each setting that nobody chose. Raises InvalidInputError as
    `resolve` does, and for what cannot differ between questions, such as the embedder.
    """
    if not overrides:
        return settings
    values = {}
    for key, value in overrides.items():
        values[key] = checked(RawValue(value, _OVERRIDE, isinstance(value, str | Mapping)), key)
        if not known_settings()[key].of_a_search:
            raise InvalidInputError(
                f"{key} cannot differ from question to question.", "Set it where the index is made or opened."
            )
    base = settings
    if "profile" in values:
        base = with_values(settings, _exchanged(settings, str(values["profile"])))
        values["profile"] = profile_named(str(values["profile"])).name
    merged = replace(with_values(base, values), said=settings.said | frozenset(overrides))
    check_together(merged, dict.fromkeys(overrides, _OVERRIDE))
    return merged


def with_models_of(asked: Settings, own: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Return what a request asks for, without models and extensions that `own` does not use, and a note on each.

    So a request, or a profile that it names, can turn a model off and never load or fetch one.
    """
    readers = {own.rerank.model, own.rerank.fallback, *NEED_NO_MODEL}
    writers = {own.generator, own.query_expansion.generator, *NEED_NO_MODEL}
    in_use = {
        "rerank.model": readers,
        "rerank.fallback": readers,
        "generator": writers,
        "query_expansion.generator": writers,
    }
    refused = [key for key, names in in_use.items() if value_of(asked, key) not in names]
    if not set(asked.plugins.search) <= set(own.plugins.search):
        refused.append("plugins.search")
    told = [key for key in refused if key != "rerank.fallback" or asked.rerank.model != "none"]
    notes = (f"{key} {as_text(value_of(asked, key))} left out: the server does not use it" for key in told)
    return with_values(asked, grouped({key: value_of(own, key) for key in refused})), tuple(notes)


@cache
def _of_profile(name: str, key: str) -> object:
    """Return what a setting is by a profile: its value there, or the default."""
    values = profile_named(name).values
    return value_of(with_values(Settings(), {key: values[key]} if key in values else {}), key)


def _exchanged(settings: Settings, name: str) -> dict[str, object]:
    """Return what another profile changes, where nobody but the profile before it had a say."""
    before, after = profile_named(settings.profile).values, profile_named(name).values
    return {
        key: _of_profile(name, key)
        for key in {**before, **after}
        if known_settings()[key].of_a_search and not is_explicit(settings, key)
    }


def _over(value: object, weaker: object) -> object:
    """Put a layer's value over a weaker layer's: of a setting with parts, those that the layer names."""
    return {**weaker, **value} if isinstance(value, Mapping) and isinstance(weaker, Mapping) else value


def _anything(_key: str, _value: object) -> bool:
    """Let the user say whatever there is."""
    return True


def _joined(sources: tuple[_Source, ...]) -> tuple[dict[str, RawValue], dict[str, object], tuple[Ignored, ...]]:
    """Put layers over one another, the strongest last; also return what was ignored, and would have held."""
    said: dict[str, RawValue] = {}
    values: dict[str, object] = {}
    unheard: dict[str, Ignored] = {}
    for source in sources:
        for key, one in source.said.items():
            value = checked(one, key)
            if source.may_say(key, value):
                said[key], values[key] = one, _over(value, values.get(key))
                unheard.pop(key, None)
            elif key not in values or values[key] != value:
                unheard[key] = ignored(key, as_text(value), one.origin)
    return said, values, tuple(unheard.values())


def _with_profile(
    values: Mapping[str, object], said: Mapping[str, RawValue]
) -> tuple[dict[str, object], dict[str, RawValue]]:
    try:
        profile = profile_named(str(values["profile"]))
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{error.message[:-1]}, as profile ({said['profile'].origin}) says.", error.hint
        ) from error
    layer = {key: RawValue(value, f"profile {profile.name}") for key, value in profile.values.items()}
    own = {key: checked(one, key) for key, one in layer.items()}
    joined = {key: _over(value, own.get(key)) for key, value in values.items()}
    return {**own, **joined, "profile": profile.name}, layer


def _files(config: str | Path | None, home: RawValue | None) -> "tuple[SettingsFile | None, SettingsFile | None]":
    """Read the user's own file, or the one that is named, and that of the current folder; None if neither exists."""
    if config is not None:
        return _read(Path(config)), None
    folder = Path(str(home.value)).expanduser() if home is not None else data_folder()
    own, here = folder / FILE_NAME, Path(FILE_NAME)
    if own.is_file() and here.is_file() and own.samefile(here):
        return _read(own), None
    return (_read(own) if own.is_file() else None), (_read(here) if here.is_file() else None)


def _read(path: Path) -> "SettingsFile":
    """Read a file with YAML's reader, 30 ms that only those pay who have one."""
    from twofold.config.files import settings_file

    return settings_file(path)


def _from_environment(variables: Mapping[str, str]) -> Iterator[tuple[str, RawValue]]:
    for name, text in variables.items():
        if name.startswith(PREFIX) and name not in OTHER_VARIABLES and text:
            key = name.removeprefix(PREFIX).lower().replace("__", ".")
            yield key, RawValue(text, f"environment variable {name}", as_text=True)


def with_values(settings: Settings, values: Mapping[str, object]) -> Settings:
    """Put values in their places; the groups that nobody speaks of stay the same objects.

    A map for a setting with parts changes those that it names.
    """
    changed: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        group, _, name = key.rpartition(".")
        changed.setdefault(group, {})[name] = _whole(settings, key, value)
    top = changed.pop("", {})
    groups = {name: replace(getattr(settings, name), **inner) for name, inner in changed.items()}
    return replace(settings, **top, **groups)


def _whole(settings: Settings, key: str, value: object) -> object:
    if known_settings()[key].parts and isinstance(value, Mapping):
        held: Any = value_of(settings, key)
        return replace(held, **value)
    return value
