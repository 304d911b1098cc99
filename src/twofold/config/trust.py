"""What a setting may say that came along with documents: in `twofold.yaml` of the current folder, or in an index.

Neither was necessarily written by the user: a cloned repository brings the one, a shared folder the other. So they may
say how to search and how to answer, and name models of the catalog; they may name no address, no other model, no
extension, no prompt and no folder. All of that is the user's to say: in the file of `--config`, in `twofold.yaml` of
`TWOFOLD_HOME`, in the environment, on the command line, or as an argument. What a file or an index says beyond what it
may is ignored, and reported as `Ignored`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from twofold.config.schema import FORMATS
from twofold.config.settings import known_settings
from twofold.domain.dataclass import dataclass
from twofold.models.catalog.entries import CATALOG
from twofold.models.catalog.identities import HASHING, JOIN, ONNXRUNTIME, WEB
from twofold.models.catalog.types import Task
from twofold.models.no_embedder import NO_EMBEDDER

SEARCHING = frozenset(
    {
        "search",
        "fusion",
        "prf",
        "rerank",
        "boost",
        "metadata_boost",
        "diversity",
        "results",
        "query",
        "query_expansion",
        "cache",
        "timeouts",
        "retries",
        "answer",
    }
)
OF_A_FOLDER = SEARCHING | {"chunk", "batch"}
ALSO_OF_A_FOLDER = frozenset({"analyzer", "enricher", "profile", "index", "embedder", "generator", "offline"})
LATE_INTERACTION = "late-interaction"
BUILT_IN_RERANKERS = frozenset({"", "none", "word-overlap", LATE_INTERACTION})
BUILT_IN_GENERATORS = frozenset({"", "none", "local"})
_MAX_SHOWN = 200  # characters


@dataclass(frozen=True, slots=True)
class Ignored:
    """A setting that is not obeyed: its key, what was said, as text, who said it, and what would allow it."""

    key: str
    value: str
    origin: str
    hint: str

    @property
    def line(self) -> str:
        """One line that says what is ignored and how to allow it."""
        return f"{self.note} {self.hint}"

    @property
    def note(self) -> str:
        """One line that says what is ignored."""
        shown = self.value if len(self.value) <= _MAX_SHOWN else f"{self.value[:_MAX_SHOWN]}…"
        return f"{self.key} ({self.origin}) is ignored: {shown!r} did not come from you."


def ignored(key: str, value: str, origin: str) -> Ignored:
    """Return the report of a setting that is ignored."""
    variable = known_settings()[key].variable
    return Ignored(
        key, value, origin, f"To allow it, say the same with --set {key}=…, in {variable}, or in a file for --config."
    )


def folder_may_say(key: str, value: object) -> bool:
    """Return whether `twofold.yaml` of the current folder may set this."""
    known = key in ALSO_OF_A_FOLDER or _group(key) in OF_A_FOLDER
    return known and _harmless(key, value)


def index_may_say(key: str, value: object) -> bool:
    """Return whether an index may keep this for itself."""
    known = key in {"profile", "generator", "acl"} or _group(key) in SEARCHING
    return known and _harmless(key, value)


def _group(key: str) -> str:
    return key.partition(".")[0]


def _part(value: object, name: str) -> str:
    """Return the text of one part; empty where a map does not name it."""
    return str(value.get(name, "") if isinstance(value, Mapping) else getattr(value, name))


def is_known_embedder(spec: str) -> bool:
    """Return whether an embedder, or each that it joins, needs nothing but this program and its catalog."""
    if not spec.startswith(WEB) and JOIN in spec:
        return all(one not in {"", NO_EMBEDDER} and is_known_embedder(one) for one in spec.split(JOIN))
    scheme, sign, rest = spec.partition(":")
    if scheme == HASHING or spec == NO_EMBEDDER:
        return True
    return _in_catalog(rest if sign and scheme == ONNXRUNTIME else spec, Task.EMBED)


def is_known_reranker(spec: str) -> bool:
    """Return whether a reranker needs nothing but this program and its catalog."""
    scheme, sign, rest = spec.partition(":")
    if sign and scheme == LATE_INTERACTION:
        return _in_catalog(rest, Task.EMBED)
    return spec in BUILT_IN_RERANKERS or _in_catalog(spec, Task.RERANK)


def is_known_generator(spec: str) -> bool:
    """Return whether a generator needs nothing but this program and its catalog."""
    name = spec.partition("&")[0]
    return name in BUILT_IN_GENERATORS or (
        name.startswith("local/") and _in_catalog(name.removeprefix("local/"), Task.GENERATE)
    )


def _in_catalog(name: str, task: Task) -> bool:
    return name in CATALOG and CATALOG[name].task is task


def _is_name(value: str) -> bool:
    return "/" not in value and "\\" not in value and not value.startswith((".", "~"))


_CHECKS: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "embedder": is_known_embedder,
        "generator": is_known_generator,
        "acl": lambda parts: not _part(parts, "resolver"),
        "timeouts": lambda parts: not (isinstance(parts, Mapping) and "write" in parts),  # who waits is no document's
        "query_expansion": lambda parts: is_known_generator(_part(parts, "generator")),
        "rerank.model": is_known_reranker,
        "rerank.fallback": is_known_reranker,
        "index": _is_name,
        "offline": bool,
        "plugins.search": lambda names: not names,
        "answer.prompt": lambda text: not text,
        "answer.format": lambda text: text in ("", *FORMATS),
        "answer.template": lambda text: "{" not in text,  # one of those that have a name
    }
)
"""Checks of values that could name an address, a program, a folder or a prompt, in addition to their range."""


def _harmless(key: str, value: object) -> bool:
    check = _CHECKS.get(key)
    return check is None or check(value)
