"""Settings files: YAML read strictly, of our own settings or of another system's, with the origin of each value."""

from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from twofold.config.other_systems import translated
from twofold.config.settings import group_names
from twofold.config.values import RawValue
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, NotFoundError

MAX_VALUES = 10_000
MAX_FILE = 1_000_000  # bytes


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What a file says, by dotted keys; `unused` names what another system's file says that has no counterpart here."""

    said: Mapping[str, RawValue]
    unused: tuple[str, ...] = ()


class _Loader(yaml.SafeLoader):
    """Reads YAML as `safe_load` does, and refuses a name that stands twice in one place."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002  # its own signature
        names = [name.value for name, _ in node.value if isinstance(name, yaml.ScalarNode)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(None, None, f"{twice} is said twice", node.start_mark)
        return super().construct_mapping(node, deep=deep)


def settings_file(path: Path) -> SettingsFile:
    """Read a settings file.

    Raises NotFoundError for one that cannot be read, InvalidInputError for what is no YAML, is too large, says a name
    twice, or holds something else than `name: value` lines. Keys and values are not checked here.
    """
    try:
        content = _Loader(_bytes_of(path)).get_single_data()
    except OSError as error:
        raise NotFoundError(f"Cannot read the settings file {path}: {error.strerror}.", "Check --config.") from error
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        where = " ".join(str(error).split())
        raise InvalidInputError(f"{path} is not valid YAML: {where}.", "Repair the file, or move it away.") from error
    if content is None:
        return SettingsFile({})
    _check_size(content, path)
    _check_lines(content, "", path)
    found = translated(content, str(path))
    own = dict(_flattened(found.rest, "", path))
    foreign = {key: RawValue(value, f"{path}: {found.names[key]}") for key, value in found.values.items()}
    for key in foreign.keys() & own.keys() - {"profile"}:
        own[key] = _both(key, foreign[key], own[key], path)
    return SettingsFile({**foreign, **own}, tuple(f"{name} ({path})" for name in found.unused))


def _both(key: str, foreign: RawValue, own: RawValue, path: Path) -> RawValue:
    """Join parts that the two ways of writing name of one setting; anything else is said twice."""
    theirs, ours = foreign.value, own.value
    if isinstance(theirs, Mapping) and isinstance(ours, Mapping) and not theirs.keys() & ours.keys():
        return RawValue({**theirs, **ours}, foreign.origin)
    name = foreign.origin.removeprefix(f"{path}: ")
    raise InvalidInputError(f"{key} is said twice in {path}, also as {name}.", "Leave one of them out.")


def _bytes_of(path: Path) -> bytes:
    with path.open("rb") as file:
        held = file.read(MAX_FILE + 1)
    if len(held) > MAX_FILE:
        raise InvalidInputError(f"{path} is larger than {MAX_FILE:,} bytes.", "Settings need a few lines.")
    return held


def _check_size(content: object, path: Path) -> None:
    """Refuse what is small as YAML and endless when it is written out, as aliases of aliases are."""
    waiting, count = [content], 0
    while waiting:
        one = waiting.pop()
        count += 1
        if count > MAX_VALUES:
            raise InvalidInputError(f"{path} holds more than {MAX_VALUES:,} values.", "Settings need a few lines.")
        if isinstance(one, dict):
            waiting += [*one.values()]
        elif isinstance(one, list | tuple | set):
            waiting += [*one]


def _flattened(content: Mapping[Any, object], front: str, path: Path) -> Iterator[tuple[str, RawValue]]:
    for name, value in content.items():
        key = f"{front}{name}"
        if key in group_names():
            yield from _flattened(_check_lines(value, key, path), f"{key}.", path)
        else:
            yield key, RawValue(value, str(path))


def _check_lines(content: object, key: str, path: Path) -> dict[object, object]:
    if isinstance(content, dict):
        return content
    raise InvalidInputError(f"{key or 'the file'} in {path} must hold `name: value` lines.", "See docs/settings.md.")
