"""Parts of the user's own: passed as objects, or found by name among the entry points of what is installed.

    twofold.embedders     `embedder: NAME`                   () -> Embedder
    twofold.rerankers     `rerank.model: NAME`               () -> Reranker
    twofold.generators    `generator: NAME`                  () -> Generator
    twofold.retrievers    `search.extensions: [NAME]`        () -> Retriever
    twofold.transformers  `search.extensions: [NAME]`        () -> QueryTransformer
    twofold.readers       `sync.extensions: [NAME]`          () -> OwnReader
    twofold.chunkers      `sync.extensions: [NAME]`          () -> Chunker

An entry point names a function or a class that is called without arguments and gives the part. Entry points are looked
at only for a name that is not built in, so what is merely installed changes nothing.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from twofold.domain.errors import InvalidInputError, ModelError, NotFoundError
from twofold.domain.generators import Generator
from twofold.domain.ports import Chunker, Embedder, QueryTransformer, Reranker, Retriever, SentencePruner
from twofold.ingest.own_readers import OwnReader
from twofold.pipeline.guarding import (
    GuardedEmbedder,
    GuardedGenerator,
    GuardedPruner,
    GuardedReranker,
    GuardedRetriever,
    GuardedTransformer,
    blamed,
    guarded_chunker,
    guarded_enricher,
)
from twofold.pipeline.parts import Enriching

__all__ = ["NONE_OWN", "Chunking", "Enriching", "Extensions", "OpenExtensions", "OwnReader"]

KINDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "embedder": ("twofold.embedders", "embed_passages"),
        "reranker": ("twofold.rerankers", "score"),
        "generator": ("twofold.generators", "stream"),
        "retriever": ("twofold.retrievers", "search"),
        "transformer": ("twofold.transformers", "transform"),
        "chunker": ("twofold.chunkers", "__call__"),
        "reader": ("twofold.readers", "read"),
    }
)
"""The group in which a part is looked for, and what it must have."""

Part = TypeVar("Part")
SEARCHING = ("retriever", "transformer")
READING = ("reader", "chunker")
TAKEN = frozenset({"lexical", "dense", "fused", "graph"})


class Chunking(NamedTuple):
    """A chunker, and the name that a recipe knows it by: another name for whatever cuts otherwise."""

    name: str
    cut: Chunker


@dataclass(frozen=True, slots=True, eq=False)
class Extensions:
    """Parts of the user's own, as objects. Whoever made them closes them.

    `retrievers` and `transformers` take part in every search, each under its name; `rerankers` and `generators` are
    there to be named in `rerank.model` and `generator`, before the built-in ones of the same name. `readers` take files
    before the built-in ones. `chunker` and `enricher` stand in for those of the settings, `pruner` for the one that
    `answer.prune` has.
    """

    retrievers: Mapping[str, Retriever] = field(default_factory=dict)
    transformers: Mapping[str, QueryTransformer] = field(default_factory=dict)
    rerankers: Mapping[str, Reranker] = field(default_factory=dict)
    generators: Mapping[str, Generator] = field(default_factory=dict)
    readers: tuple[OwnReader, ...] = ()
    chunker: Chunking | None = None
    enricher: Enriching | None = None
    pruner: SentencePruner | None = None

    def __post_init__(self) -> None:
        """Refuse a name that stands for something else in a trace. Raises InvalidInputError."""
        for name in self.retrievers:
            _check_name(name)


NONE_OWN = Extensions()


class OpenExtensions:
    """The user's own parts of one index: those passed, and those found by name, each made once.

    Bears calls from several threads. Entry points that fail to load, or give no such part, raise ModelError.
    """

    def __init__(self, given: Extensions = NONE_OWN) -> None:
        self.given = given
        self._turn = threading.Lock()
        self._made: dict[tuple[str, str], Any] = {}

    @property
    def enriching(self) -> Enriching | None:
        """The enricher that was passed, None for the built-in ones."""
        own = self.given.enricher
        return None if own is None else Enriching(own.name, guarded_enricher(own.name, own.enrich))

    @property
    def pruner(self) -> SentencePruner | None:
        """The pruner that was passed, None for the built-in one."""
        return None if self.given.pruner is None else GuardedPruner(self.given.pruner)

    def embedder(self, name: str) -> Embedder | None:
        """Give an installed embedder; None where there is none of this name."""
        found = self._installed("embedder", name)
        return None if found is None else GuardedEmbedder(found)

    def reranker(self, name: str) -> Reranker | None:
        """Give a reranker by its name: one that was passed, else an installed one, else None."""
        found = self.given.rerankers.get(name) or self._installed("reranker", name)
        return None if found is None else GuardedReranker(found)

    def generator(self, name: str) -> Generator | None:
        """Give a generator by its name: one that was passed, else an installed one, else None."""
        found = self.given.generators.get(name) or self._installed("generator", name)
        return None if found is None else GuardedGenerator(found)

    def retrievers(self, names: Sequence[str]) -> tuple[tuple[str, Retriever], ...]:
        """Give those that were passed, and the installed ones of these names, each under its name.

        Raises NotFoundError for a name of no retriever and no transformer.
        """
        found = {**self.given.retrievers, **self._named("retriever", names, SEARCHING)}
        for name in found:
            _check_name(name)
        return tuple((name, GuardedRetriever(name, one)) for name, one in found.items())

    def transformers(self, names: Sequence[str]) -> tuple[tuple[str, QueryTransformer], ...]:
        """Give those that were passed, and the installed ones of these names. Errors as for `retrievers`."""
        found = {**self.given.transformers, **self._named("transformer", names, SEARCHING)}
        return tuple((name, GuardedTransformer(name, one)) for name, one in found.items())

    def readers(self, names: Sequence[str]) -> tuple[OwnReader, ...]:
        """Give those that were passed, and the installed ones of these names.

        Raises NotFoundError for a name of no reader and no chunker.
        """
        return (*self.given.readers, *self._named("reader", names, READING).values())

    def chunking(self, names: Sequence[str]) -> Chunking | None:
        """Give the chunker that was passed, else the installed one of these names, else None for the built-in ones.

        Raises NotFoundError as `readers` does, InvalidInputError for two chunkers.
        """
        found = {} if self.given.chunker else self._named("chunker", names, READING)
        if len(found) > 1:
            raise InvalidInputError(f"There are two chunkers: {', '.join(found)}.", "Name one in sync.extensions.")
        for own in (self.given.chunker, *(Chunking(name, cut) for name, cut in found.items())):
            if own is not None:
                return Chunking(own.name, guarded_chunker(own.name, own.cut))
        return None

    def close(self) -> None:
        """Free what was found by name and can be closed. Calling it twice does nothing more."""
        with self._turn:
            while self._made:
                _, made = self._made.popitem()
                if callable(getattr(made, "close", None)):
                    made.close()

    def _named(self, kind: str, names: Sequence[str], kinds: Sequence[str]) -> Mapping[str, Any]:
        """Give those of the names that are of this kind; each must be of one of the `kinds`, or have been passed."""
        passed = {*self.given.retrievers, *self.given.transformers} if kind in SEARCHING else set()
        found = {}
        for name in names:
            one = self._installed(kind, name)
            if one is not None:
                found[name] = one
            elif name not in passed and all(self._installed(other, name) is None for other in kinds):
                groups = " or ".join(KINDS[other][0] for other in kinds)
                raise NotFoundError(f"There is no extension {name!r}.", f"Install what offers it as {groups}.")
        return found

    def _installed(self, kind: str, name: str) -> Any:  # noqa: ANN401 - a part of any kind
        with self._turn:
            if (kind, name) not in self._made:
                made = _loaded(kind, name)
                if made is None:
                    return None
                self._made[kind, name] = made
            return self._made[kind, name]


def own_or_built_in(
    given: Mapping[str, Part], built_in: Callable[[str], Part | None], own: Callable[[str], Part | None], name: str
) -> Part | None:
    """Open a part by name: one that was passed, else a built-in one, else an installed one.

    Raises NotFoundError, the built-in parts' own, where there is none.
    """
    if name in given:
        return own(name)
    try:
        return built_in(name)
    except NotFoundError:
        found = own(name)
        if found is None:
            raise
        return found


def _loaded(kind: str, name: str) -> Any:  # noqa: ANN401 - a part of any kind
    from importlib import metadata  # 30 ms that only those pay who name something that is not built in

    group, needed = KINDS[kind]
    points = metadata.entry_points(group=group, name=name)
    if not points:
        return None
    if len({point.value for point in points}) > 1:
        said = ", ".join(sorted({point.value for point in points}))
        raise InvalidInputError(f"There are several {kind}s {name!r}: {said}.", "Uninstall all of them but one.")
    with blamed(kind, name):
        made = next(iter(points)).load()()
    if not callable(getattr(made, needed, None)):
        raise ModelError(f"The {kind} {name!r} has no {needed}.", "See docs/extending.md for what it must have.")
    return made


def _check_name(name: str) -> None:
    if not name.isprintable() or not name.strip() or name in TAKEN or name.startswith("wording "):
        raise InvalidInputError(f"A retriever cannot be called {name!r}.", "Give it a name of its own.")
