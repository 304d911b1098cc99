"""One frozen `Settings`: defaults, then a file, then the environment, then what the caller says; the later wins.

    defaults  <  twofold.yaml  <  TWOFOLD_* variables  <  overrides (command-line options)

The file is `twofold.yaml` in the current folder, else in `TWOFOLD_HOME`, else none; or the one that is named. A setting
in a group is written `search: {k: 5}` in the file, `TWOFOLD_SEARCH__K=5` in the environment and `search.k` in messages.
This module knows no store and no model: it says what is asked for, `compose` makes it.
"""

import os
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.setting_groups import ChunkSettings, SearchSettings, SyncSettings

FILE_NAME = "twofold.yaml"
PREFIX = "TWOFOLD_"
OTHER_VARIABLES = frozenset({"TWOFOLD_SHARED", "TWOFOLD_NO_SKIPS", "TWOFOLD_API_KEY"})
"""Variables with our prefix that are no settings: what tests look at, and a secret that no file may hold."""

NOTHING: Mapping[str, object] = types.MappingProxyType({})


def data_folder() -> Path:
    """Give the user's data folder after the XDG convention: `~/.local/share/twofold` unless XDG_DATA_HOME says else."""
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "twofold"


def models_folder() -> Path:
    """Give the user's cache of model files after the XDG convention, by default `~/.cache/twofold/models`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "twofold" / "models"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, in about twenty dials."""

    home: Annotated[Path, Meta(description="The folder in which named indexes live.")] = field(
        default_factory=data_folder
    )
    models: Annotated[Path, Meta(description="The folder in which model files are kept.")] = field(
        default_factory=models_folder
    )
    offline: Annotated[bool, Meta(description="Never fetch anything; a missing model is then an error.")] = False
    index: Annotated[str, Meta(min_length=1, description="The index that is used when none is named.")] = "default"
    embedder: Annotated[
        str, Meta(min_length=1, description="The model that turns text into vectors; see `twofold models list`.")
    ] = "bge-small-en-v1.5"
    analyser: Annotated[
        str,
        Meta(min_length=1, description="How words are found: a Snowball language, or `simple`, `code`, `cjk`."),
    ] = "english"
    writer_wait_seconds: Annotated[
        float, Meta(ge=0, le=3600, description="How long to wait for another process that is writing.")
    ] = 5.0
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    sync: SyncSettings = field(default_factory=SyncSettings)


@dataclass(frozen=True, slots=True)
class Row:
    """One setting as it stands: `origin` is `default`, a file's path, a variable's name, or who overrode it."""

    key: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """Settings, and where each of them came from, in the order of the documentation."""

    settings: Settings
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Dial:
    """What can be said of a setting before it has a value: its dotted key, its type, its line of documentation."""

    key: str
    annotation: Any
    description: str
    allowed: str

    @property
    def variable(self) -> str:
        """Its environment variable: `TWOFOLD_SEARCH__K` for `search.k`."""
        return PREFIX + self.key.replace(".", "__").upper()


@dataclass(frozen=True, slots=True)
class _Said:
    """One value as somebody wrote it, before it is checked."""

    value: object
    origin: str
    as_text: bool = False


def load_settings(*, config: str | Path | None = None, overrides: Mapping[str, object] = NOTHING) -> Settings:
    """Give the settings that hold here; arguments and errors as for `resolve`."""
    return resolve(config=config, overrides=overrides).settings


def resolve(*, config: str | Path | None = None, overrides: Mapping[str, object] = NOTHING) -> Resolved:
    """Put the settings together and keep where each came from.

    `config` names a file instead of looking for `twofold.yaml`. `overrides` maps dotted keys such as `search.k` to
    values, or to text that is read as one.
    Raises InvalidInputError for an unknown key or a value out of range, NotFoundError for a named file that is missing.
    """
    said = {key: _Said(value, "override", isinstance(value, str)) for key, value in overrides.items()}
    said = {**dict(_from_environment(os.environ)), **said}
    path = Path(config) if config is not None else _find_file(said.get("home"))
    if path is not None:
        said = {**dict(_from_file(path)), **said}
    known = {dial.key: dial for dial in dials()}
    for key, one in said.items():
        if key not in known:
            raise InvalidInputError(f"{key} ({one.origin}) is no setting.", _suggestion(key, known))
    values = {key: _checked(known[key], one) for key, one in said.items()}
    settings = _built(values)
    _check_together(settings, {key: one.origin for key, one in said.items()})
    rows = (Row(key, value_of(settings, key), said[key].origin if key in said else "default") for key in known)
    return Resolved(settings, tuple(rows))


def dials() -> tuple[Dial, ...]:
    """List every setting, in the order of the documentation."""
    return tuple(_dials(Settings, ""))


def value_of(settings: Settings, key: str) -> object:
    """Read one setting by its dotted key."""
    value: object = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value


def _dials(group: type[Any], front: str) -> Iterator[Dial]:
    for name, annotation in get_type_hints(group, include_extras=True).items():
        if is_dataclass(annotation):
            yield from _dials(annotation, f"{name}.")  # type: ignore[arg-type]
        else:
            kind, meta = get_args(annotation)
            yield Dial(front + name, annotation, meta.description or "", _allowed(kind, meta))


def _allowed(kind: object, meta: Meta) -> str:
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    names: dict[object, str] = {bool: "true or false", int: "a whole number", float: "a number", Path: "a folder"}
    name = names.get(kind, "text")
    limits = [f"{word} {bound}" for word, bound in (("from", meta.ge), ("to", meta.le)) if bound is not None]
    return " ".join([name, *limits])


def _find_file(home: _Said | None) -> Path | None:
    folder = Path(str(home.value)).expanduser() if home is not None else data_folder()
    candidates = (Path(FILE_NAME), folder / FILE_NAME)
    return next((path for path in candidates if path.is_file()), None)


def _from_environment(variables: Mapping[str, str]) -> Iterator[tuple[str, _Said]]:
    for name, text in variables.items():
        if name.startswith(PREFIX) and name not in OTHER_VARIABLES and text:
            key = name.removeprefix(PREFIX).lower().replace("__", ".")
            yield key, _Said(text, f"environment variable {name}", as_text=True)


def _from_file(path: Path) -> Iterator[tuple[str, _Said]]:
    import yaml  # 30 ms that only those pay who have a file

    try:
        content = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise NotFoundError(f"Cannot read the settings file {path}: {error.strerror}.", "Check --config.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        where = " ".join(str(error).split())
        raise InvalidInputError(f"{path} is not valid YAML: {where}.", "Mend the file, or move it away.") from error
    yield from _flattened(content if content is not None else {}, "", path)


def _flattened(content: object, front: str, path: Path) -> Iterator[tuple[str, _Said]]:
    if not isinstance(content, dict):
        what = front.rstrip(".") or "the file"
        raise InvalidInputError(f"{what} in {path} must hold `name: value` lines.", "See docs/settings.md.")
    groups = {name for name, kind in get_type_hints(Settings).items() if is_dataclass(kind)}
    for name, value in content.items():
        key = f"{front}{name}"
        if key in groups:
            yield from _flattened(value, f"{key}.", path)
        else:
            yield key, _Said(value, str(path))


def _checked(dial: Dial, said: _Said) -> object:
    value = said.value
    if said.as_text and isinstance(value, str) and value.startswith((".", "-.")):
        value = value.replace(".", "0.", 1)  # people write .5, JSON numbers may not
    try:
        return msgspec.convert(value, dial.annotation, strict=not said.as_text, dec_hook=_folder)
    except (msgspec.ValidationError, ValueError) as error:
        message = f"{dial.key} ({said.origin}) cannot be {said.value!r}."
        raise InvalidInputError(message, f"It must be {dial.allowed}.") from error


def _folder(kind: type, value: object) -> Path:
    if kind is not Path or not isinstance(value, str) or not value:
        raise ValueError(value)
    return Path(value).expanduser()


def _built(values: Mapping[str, object]) -> Settings:
    own: dict[str, Any] = {}
    for name, kind in get_type_hints(Settings).items():
        if is_dataclass(kind):
            inner = {one.name: f"{name}.{one.name}" for one in fields(kind)}
            own[name] = kind(**{part: values[key] for part, key in inner.items() if key in values})  # type: ignore[operator]
        elif name in values:
            own[name] = values[name]
    return Settings(**own)


def _check_together(settings: Settings, origins: Mapping[str, str]) -> None:
    chunk = settings.chunk
    if chunk.overlap > chunk.size // 2:
        origin = origins.get("chunk.overlap", origins.get("chunk.size", "default"))
        message = f"chunk.overlap ({origin}) cannot be {chunk.overlap} with a chunk.size of {chunk.size}."
        raise InvalidInputError(message, f"It must be a whole number from 0 to {chunk.size // 2}.")


def _suggestion(key: str, known: Mapping[str, Dial]) -> str:
    import difflib

    near = difflib.get_close_matches(key, known, 1)
    return f"Did you mean {near[0]}?" if near else "`twofold config show` lists the settings."
