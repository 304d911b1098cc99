"""Everything that can be set, as one frozen `Settings`, and each setting by its dotted key.

A setting is one plain value such as `search.k`, or a map of a few parts that belong together such as `retries`. Parts
that a map leaves out stay as they are.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import field, is_dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta

from twofold.config.access_settings import AclSettings
from twofold.config.schema import (
    AnswerSettings,
    BatchSettings,
    BoostSettings,
    CacheSettings,
    ChunkSettings,
    DiversitySettings,
    FusionSettings,
    GraphSettings,
    LimitSettings,
    LogSettings,
    MetadataBoostSettings,
    PluginSettings,
    PrfSettings,
    QueryExpansionSettings,
    QuerySettings,
    RerankSettings,
    ResultsSettings,
    RetrySettings,
    SearchSettings,
    TimeoutSettings,
)
from twofold.domain.dataclass import dataclass

PREFIX = "TWOFOLD_"
COMMON = (
    "profile",
    "embedder",
    "generator",
    "analyzer",
    "index",
    "home",
    "offline",
    "chunk.size",
    "search.k",
    "search.mode",
    "search.candidates",
    "search.default_filter",
    "search.context_window",
    "fusion.vector_weight",
    "rerank.model",
    "rerank.candidates",
    "diversity",
    "answer.min_answerability",
    "answer.unsupported",
    "log",
)
"""The settings that people change; the documentation has them first and the others under `advanced`."""

_OF_A_PLACE = frozenset({"home", "models", "offline", "index", "acl"})
_OF_AN_INDEX = frozenset({"embedder", "analyzer", "enricher", "limits", "log", "plugins.ingest"})
_GROUPS_OF_AN_INDEX = ("chunk.",)


def data_folder() -> Path:
    """Return the user's data folder after the XDG convention, by default `~/.local/share/twofold`.

    On Windows it is by default `%LOCALAPPDATA%/twofold`.
    """
    own = os.environ.get("LOCALAPPDATA") if os.name == "nt" else None
    return Path(os.environ.get("XDG_DATA_HOME") or own or "~/.local/share").expanduser() / "twofold"


def models_folder() -> Path:
    """Return the user's cache of model files after the XDG convention, by default `~/.cache/twofold/models`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "twofold" / "models"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, by group.

    Made directly it holds what it is given and the defaults: no file, no environment, and no value of its profile.
    `said` names the settings that somebody chose, whatever their value: a file, an index, the environment or a caller.
    """

    home: Annotated[Path, Meta(description="The folder of named indexes.")] = field(default_factory=data_folder)
    models: Annotated[Path, Meta(description="The folder of model files.")] = field(default_factory=models_folder)
    offline: Annotated[bool, Meta(description="Never download anything; a missing model is an error.")] = False
    index: Annotated[str, Meta(min_length=1, description="The index that is used when none is named.")] = "default"
    embedder: Annotated[
        str, Meta(min_length=1, description="The model that turns text into vectors; see `twofold models list`.")
    ] = "bge-small-en-v1.5"
    device: Annotated[
        Literal["auto", "cpu", "gpu"],
        Meta(description="Where local models run; `auto` leaves it to their runtime."),
    ] = "auto"
    analyzer: Annotated[
        str,
        Meta(
            min_length=1,
            description="How text is tokenized and stemmed: a Snowball language, `auto` for that of each document, or "
            "`simple`, `code`, `cjk`; `english+2` adds word n-grams of up to 2 words, `+3` and `+4` longer ones.",
        ),
    ] = "english"
    enricher: Annotated[
        Literal["rules", "rules+keywords", "none"],
        Meta(description="What adds metadata to passages; keywords are also searched by BM25."),
    ] = "rules"
    profile: Annotated[
        str, Meta(min_length=1, description="The profile: values for settings that are not set anywhere else.")
    ] = "balanced"
    generator: Annotated[
        str,
        Meta(
            min_length=1,
            description="The language model that writes answers and rewrites queries; `none` for none.",
        ),
    ] = "none"
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    fusion: FusionSettings = field(default_factory=FusionSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    plugins: PluginSettings = field(default_factory=PluginSettings)
    query: Annotated[QuerySettings, Meta(description="How a query is interpreted.")] = field(
        default_factory=QuerySettings
    )
    query_expansion: Annotated[
        QueryExpansionSettings, Meta(description="Other queries that are searched too; see docs/search.md.")
    ] = field(default_factory=QueryExpansionSettings)
    prf: Annotated[
        PrfSettings,
        Meta(description="Pseudo-relevance feedback: terms of the first passages are added to a hybrid query."),
    ] = field(default_factory=PrfSettings)
    boost: Annotated[
        BoostSettings,
        Meta(description="Boosts for codes that query and passage share, and for passages that match a rule."),
    ] = field(default_factory=BoostSettings)
    metadata_boost: Annotated[
        MetadataBoostSettings, Meta(description="What a passage's metadata adds to its score; all 0 turns it off.")
    ] = field(default_factory=MetadataBoostSettings)
    diversity: Annotated[DiversitySettings, Meta(description="Limits on how many results come from one place.")] = (
        field(default_factory=DiversitySettings)
    )
    results: Annotated[ResultsSettings, Meta(description="What is done to the results of every search.")] = field(
        default_factory=ResultsSettings
    )
    cache: Annotated[CacheSettings, Meta(description="Cached results for repeated queries.")] = field(
        default_factory=CacheSettings
    )
    timeouts: Annotated[TimeoutSettings, Meta(description="Timeouts in seconds; 0 for no limit.")] = field(
        default_factory=TimeoutSettings
    )
    retries: Annotated[RetrySettings, Meta(description="Retries of remote models that fail.")] = field(
        default_factory=RetrySettings
    )
    batch: Annotated[BatchSettings, Meta(description="Batch sizes of models.")] = field(default_factory=BatchSettings)
    limits: Annotated[LimitSettings, Meta(description="Limits for reading files and for the whole process.")] = field(
        default_factory=LimitSettings
    )
    acl: Annotated[AclSettings, Meta(description="Who may read documents; see docs/access.md.")] = field(
        default_factory=AclSettings
    )
    log: Annotated[LogSettings, Meta(description="The query log, which stays on this machine.")] = field(
        default_factory=LogSettings
    )
    said: frozenset[str] = field(default=frozenset(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Setting:
    """What can be said of a setting before it has a value: its dotted key, its type, its line of documentation.

    `parts` are what it is a map of, each with a range of its own; empty for a setting that is one plain value.
    """

    key: str
    annotation: Any
    description: str
    allowed: str
    parts: "tuple[Setting, ...]" = ()

    @property
    def name(self) -> str:
        """The last word of its key: `k` of `search.k`."""
        return self.key.rpartition(".")[2]

    @property
    def variable(self) -> str:
        """Its environment variable: `TWOFOLD_SEARCH__K` for `search.k`."""
        return PREFIX + self.key.replace(".", "__").upper()

    @property
    def kind(self) -> object:
        """Its type without what limits it, such as `float`, `tuple` or `Mapping`."""
        kind = get_args(self.annotation)[0]
        return get_origin(kind) or kind

    @property
    def of_a_search(self) -> bool:
        """Whether it may differ from question to question; where things lie and how an index is made may not."""
        fixed = _OF_A_PLACE | _OF_AN_INDEX
        return self.key not in fixed and not self.key.startswith(_GROUPS_OF_AN_INDEX)


def all_settings() -> tuple[Setting, ...]:
    """List every setting, in the order of the documentation."""
    return tuple(known_settings().values())


@cache
def known_settings() -> Mapping[str, Setting]:
    """Return every setting by its dotted key, in the order of the documentation."""
    return MappingProxyType({one.key: one for one in _settings_of(Settings, "")})


@cache
def known_parts() -> Mapping[str, Setting]:
    """Return every part of a setting by its dotted key: `retries.count` of `retries`."""
    return MappingProxyType({part.key: part for one in all_settings() for part in one.parts})


@cache
def group_names() -> frozenset[str]:
    """Name the groups: `search`, `fusion`, and so on."""
    return frozenset(name for name, kind in get_type_hints(Settings, include_extras=True).items() if is_dataclass(kind))


def value_of(settings: Settings, key: str) -> object:
    """Return the value of one setting, or of one part of a setting, by its dotted key."""
    value: object = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value


def grouped(values: Mapping[str, object]) -> dict[str, object]:
    """Put parts that are named by dotted keys into their settings.

    >>> grouped({"search.k": 5, "cache.size": 9, "cache.scope": "session"})
    {'search.k': 5, 'cache': {'size': 9, 'scope': 'session'}}
    """
    found: dict[str, Any] = {}
    for key, value in values.items():
        if key in known_parts():
            setting, _, name = key.rpartition(".")
            found[setting] = {**found.get(setting, {}), name: value}
        elif isinstance(value, Mapping) and isinstance(found.get(key), dict):
            found[key] = {**found[key], **value}
        else:
            found[key] = value
    return found


def _settings_of(group: type[Any], front: str) -> Iterator[Setting]:
    for name, annotation in get_type_hints(group, include_extras=True).items():
        if is_dataclass(annotation):
            yield from _settings_of(annotation, f"{name}.")  # type: ignore[arg-type]
        elif get_origin(annotation) is Annotated:
            kind, meta = get_args(annotation)
            is_map = isinstance(kind, type) and is_dataclass(kind)
            parts = tuple(_settings_of(kind, f"{front}{name}.")) if is_map else ()
            allowed = f"a map of {', '.join(one.name for one in parts)}" if parts else _allowed(kind, meta)
            yield Setting(front + name, annotation, meta.description or "", allowed, parts)


def _allowed(kind: object, meta: Meta) -> str:
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if meta.examples:
        return "such as " + " or ".join(map(str, meta.examples))
    names: dict[object, str] = {bool: "true or false", int: "a whole number", float: "a number", Path: "a folder"}
    grouped: dict[object, str] = {tuple: "a list of texts", Mapping: "a map from texts to numbers"}
    name = names.get(kind) or grouped.get(get_origin(kind), "text")
    limits = [f"{word} {bound}" for word, bound in (("from", meta.ge), ("to", meta.le)) if bound is not None]
    most = [f"of at most {meta.max_length}"] if meta.max_length is not None else []
    return " ".join([name, *limits, *most])
