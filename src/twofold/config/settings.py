"""Everything that can be set, as one frozen `Settings`, and each dial of it by its dotted key."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import field, is_dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta

from twofold.config.schema import (
    AnswerSettings,
    BatchSettings,
    BoostSettings,
    CacheSettings,
    ChunkSettings,
    DiversitySettings,
    FusionSettings,
    GraphSettings,
    HistorySettings,
    LogSettings,
    MetadataBoostSettings,
    PluginSettings,
    PrfSettings,
    QueryExpansionSettings,
    QuerySettings,
    RerankSettings,
    RetrySettings,
    SearchSettings,
    SyncSettings,
    TimeoutSettings,
)
from twofold.domain.dataclass import dataclass

PREFIX = "TWOFOLD_"
_OF_A_PLACE = frozenset({"home", "models", "offline", "index", "writer_wait_seconds"})
_OF_AN_INDEX = frozenset({"embedder", "analyzer", "enricher"})
_GROUPS_OF_AN_INDEX = ("chunk.", "sync.", "plugins.ingest", "log.")


def data_folder() -> Path:
    """Give the user's data folder after the XDG convention: `~/.local/share/twofold` unless XDG_DATA_HOME says else."""
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "twofold"


def models_folder() -> Path:
    """Return the user's cache of model files after the XDG convention, by default `~/.cache/twofold/models`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "twofold" / "models"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, each dial in its group.

    Made directly it holds what it is given and the defaults: no file, no environment, and no value of its profile.
    `said` names the settings that somebody chose, whatever their value: a file, an index, the environment or a caller.
    """

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
    device: Annotated[
        Literal["auto", "cpu", "gpu"],
        Meta(description="Where models of this machine compute; `auto` leaves it to their runtime."),
    ] = "auto"
    analyzer: Annotated[
        str,
        Meta(
            min_length=1,
            description="How words are found: a Snowball language, or `simple`, `code`, `cjk`; "
            "`english+2` finds word n-grams of up to 2 words as well, `+3` and `+4` longer ones.",
        ),
    ] = "english"
    enricher: Annotated[
        Literal["rules", "rules+keywords", "none"],
        Meta(description="What gives passages fields of their own; with keywords, these are matched by words too."),
    ] = "rules"
    profile: Annotated[
        str, Meta(min_length=1, description="The profile whose values hold where nothing else is said.")
    ] = "balanced"
    generator: Annotated[
        str,
        Meta(
            min_length=1,
            description="The language model that writes answers, and rewords questions; `none` for none.",
        ),
    ] = "none"
    writer_wait_seconds: Annotated[
        float, Meta(ge=0, le=3600, description="How long to wait for another process that is writing.")
    ] = 5.0
    memory_limit_mb: Annotated[
        float,
        Meta(ge=0, le=1_000_000_000, description="Warn and collect garbage above this much memory; 0 for never."),
    ] = 8_192.0
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    fusion: FusionSettings = field(default_factory=FusionSettings)
    prf: PrfSettings = field(default_factory=PrfSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    boost: BoostSettings = field(default_factory=BoostSettings)
    metadata_boost: MetadataBoostSettings = field(default_factory=MetadataBoostSettings)
    diversity: DiversitySettings = field(default_factory=DiversitySettings)
    query: QuerySettings = field(default_factory=QuerySettings)
    query_expansion: QueryExpansionSettings = field(default_factory=QueryExpansionSettings)
    cache: CacheSettings = field(default_factory=CacheSettings)
    timeouts: TimeoutSettings = field(default_factory=TimeoutSettings)
    retries: RetrySettings = field(default_factory=RetrySettings)
    batch: BatchSettings = field(default_factory=BatchSettings)
    history: HistorySettings = field(default_factory=HistorySettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    log: LogSettings = field(default_factory=LogSettings)
    sync: SyncSettings = field(default_factory=SyncSettings)
    plugins: PluginSettings = field(default_factory=PluginSettings)
    said: frozenset[str] = field(default=frozenset(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Setting:
    """What can be said of a setting before it has a value: its dotted key, its type, its line of documentation."""

    key: str
    annotation: Any
    description: str
    allowed: str

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
    return MappingProxyType({dial.key: dial for dial in _dials(Settings, "")})


@cache
def group_names() -> frozenset[str]:
    """Name the groups: `search`, `fusion`, and so on."""
    return frozenset(name for name, kind in get_type_hints(Settings).items() if is_dataclass(kind))


def value_of(settings: Settings, key: str) -> object:
    """Read one setting by its dotted key."""
    value: object = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value


def _dials(group: type[Any], front: str) -> Iterator[Setting]:
    for name, annotation in get_type_hints(group, include_extras=True).items():
        if is_dataclass(annotation):
            yield from _dials(annotation, f"{name}.")  # type: ignore[arg-type]
        elif get_origin(annotation) is Annotated:
            kind, meta = get_args(annotation)
            yield Setting(front + name, annotation, meta.description or "", _allowed(kind, meta))


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
