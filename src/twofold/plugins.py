"""Parts of the user's own: passed as objects, or found by name among the entry points of what is installed.

    twofold.embedders     `embedder: NAME`                   () -> Embedder
    twofold.rerankers     `rerank.model: NAME`               () -> Reranker
    twofold.generators    `generator: NAME`                  () -> Generator
    twofold.retrievers    `plugins.search: [NAME]`        () -> Retriever
    twofold.transformers  `plugins.search: [NAME]`        () -> QueryTransformer
    twofold.readers       `plugins.ingest: [NAME]`          () -> OwnReader
    twofold.chunkers      `plugins.ingest: [NAME]`          () -> Chunker

An entry point names a function or a class that is called without arguments and gives the part. Entry points are looked
at only for a name that is not built in, so what is merely installed changes nothing.
"""

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from twofold.domain.access import PrincipalResolver
from twofold.domain.closable import closable
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, ModelError, NotFoundError
from twofold.domain.generators import Generator, GeneratorIdentity, Message, TextStream
from twofold.domain.ports import (
    Chunker,
    Embedder,
    EmbedderIdentity,
    Enricher,
    QueryTransformer,
    Reranker,
    RerankerIdentity,
    Retrieved,
    Retriever,
    SentencePruner,
)
from twofold.domain.types import Chunk, Document, Metadata, Scores, Vectors
from twofold.indexing.components import CustomEnricher
from twofold.ingest.readers.custom import CustomReader
from twofold.ingest.readers.types import clean_metadata

MAX_REASON_LENGTH = 200
LENGTH_TOLERANCE = 1e-3  # how far a vector's length may be from 1


@contextmanager
def as_model_errors(what: str, name: str) -> Iterator[None]:
    """Make a ModelError of whatever a part raises; a ModelError of its own, or a refusal, goes through as it is."""
    try:
        yield
    except (ModelError, InvalidInputError):
        raise
    except Exception as error:  # the door to code of others, which may raise anything
        reason = " ".join(str(error).split())[:MAX_REASON_LENGTH]
        said = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
        raise ModelError(f"The {what} {name!r} failed: {said}.", f"Correct the {what}, or leave it out.") from error


class GuardedRetriever:
    """A retriever of the user's own: at most k passages with finite scores, the best ones where it gave more."""

    def __init__(self, name: str, retriever: Retriever) -> None:
        self._name = name
        self._retriever = retriever

    def search(self, query: str, k: int) -> Sequence[Retrieved]:
        """Return what it found, best first. Raises ModelError."""
        with as_model_errors("retriever", self._name):
            found = [Retrieved(str(one.chunk_id), float(one.score)) for one in self._retriever.search(query, k)]
        if not all(math.isfinite(one.score) for one in found):
            raise _wrong("retriever", self._name, "a score that is no number")
        return sorted(found, key=lambda one: (-one.score, one.chunk_id))[:k]


class GuardedTransformer:
    """A transformer of the user's own: text, and nothing else."""

    def __init__(self, name: str, transformer: QueryTransformer) -> None:
        self._name = name
        self._transformer = transformer

    def transform(self, query: str, context: Mapping[str, str] | None) -> str:
        """Return its query. Raises ModelError."""
        with as_model_errors("transformer", self._name):
            made = self._transformer.transform(query, context)
        if not isinstance(made, str):
            raise _wrong("transformer", self._name, f"a {type(made).__name__} instead of text")
        return made


class GuardedPruner:
    """A pruner of the user's own: a finite score from 0 up for each sentence."""

    def __init__(self, pruner: SentencePruner) -> None:
        self._pruner = pruner

    def score(self, question: str, sentences: Sequence[str]) -> Scores:
        """Return its scores. Raises ModelError."""
        name = type(self._pruner).__name__
        with as_model_errors("pruner", name):
            scores = np.asarray(self._pruner.score(question, sentences), dtype=np.float64)
        if scores.shape != (len(sentences),) or not np.isfinite(scores).all() or (scores < 0.0).any():
            raise _wrong("pruner", name, "scores that are not one number from 0 up for each sentence")
        return scores


class GuardedEmbedder:
    """An embedder of the user's own: unit vectors of the width that it promises. `close` is its owner's business."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._identity = embedder.identity

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on."""
        return self._identity

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages. Raises ModelError."""
        return self._checked(self._embedder.embed_passages, texts)

    def at_hand(self, texts: Sequence[str]) -> bool:
        """Return whether the vectors of questions are there without a model being asked; see `Remembering`."""
        ask: Callable[[Sequence[str]], bool] | None = getattr(self._embedder, "at_hand", None)
        with as_model_errors("embedder", self._identity.name):
            return ask is not None and ask(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions. Raises ModelError."""
        return self._checked(self._embedder.embed_queries, texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count each text's tokens. Raises ModelError."""
        with as_model_errors("embedder", self._identity.name):
            counts = list(self._embedder.count_tokens(texts))
        if len(counts) != len(texts):
            raise _wrong("embedder", self._identity.name, f"{len(counts)} counts of tokens for {len(texts)} texts")
        return counts

    def close(self) -> None:
        """Do nothing: its maker closes it."""

    def _checked(self, embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Vectors:
        wanted = (len(texts), self._identity.dimensions)
        with as_model_errors("embedder", self._identity.name):
            made = np.asarray(embed(texts), dtype=np.float32)
        if made.shape != wanted:
            raise _wrong("embedder", self._identity.name, f"vectors of shape {made.shape} instead of {wanted}")
        lengths = np.sqrt((made * made).sum(axis=1))
        if not (np.abs(lengths - 1.0) <= LENGTH_TOLERANCE).all():
            raise _wrong("embedder", self._identity.name, "a vector whose length is not 1")
        return made


class GuardedReranker:
    """A reranker of the user's own; the stage checks its scores. `close` is its owner's business."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._identity = reranker.identity

    @property
    def identity(self) -> RerankerIdentity:
        """What the scores depend on."""
        return self._identity

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Score each text. Raises ModelError."""
        with as_model_errors("reranker", self._identity.name):
            return np.asarray(self._reranker.score(query, texts), dtype=np.float64)

    def relevance(self, raw: Scores) -> Scores:
        """Bring raw scores onto [0, 1]. Raises ModelError."""
        with as_model_errors("reranker", self._identity.name):
            return np.asarray(self._reranker.relevance(raw), dtype=np.float64)

    def close(self) -> None:
        """Do nothing: its maker closes it."""


class GuardedStream:
    """A reply of a generator of the user's own."""

    def __init__(self, name: str, stream: TextStream) -> None:
        self._name = name
        self._stream = stream

    def __iter__(self) -> Self:
        """Return itself: a reply is read once."""
        return self

    def __next__(self) -> str:
        """Return the next piece. Raises ModelError."""
        with as_model_errors("generator", self._name):
            piece = next(self._stream, None)
        if piece is None:
            raise StopIteration
        return piece

    def close(self) -> None:
        """Stop the model."""
        self._stream.close()


class GuardedGenerator:
    """A generator of the user's own. `close` is its owner's business."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    @property
    def identity(self) -> GeneratorIdentity:
        """Which model answers."""
        return self._generator.identity

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        seconds: float = 120.0,
    ) -> TextStream:
        """Begin a reply; see `Generator.stream`."""
        with as_model_errors("generator", self._generator.identity.name):
            reply = self._generator.stream(
                messages, max_tokens=max_tokens, temperature=temperature, stop=stop, seconds=seconds
            )
        return GuardedStream(self._generator.identity.name, closable(reply))

    def close(self) -> None:
        """Do nothing: its maker closes it."""


def guarded_chunker(name: str, chunker: Chunker) -> Chunker:
    """Hold a chunker to its promise: stretches of the document's own text, numbered from 0."""

    def cut(document: Document) -> tuple[Chunk, ...]:
        with as_model_errors("chunker", name):
            chunks = tuple(chunker(document))
        for ordinal, chunk in enumerate(chunks):
            told = (chunk.document, chunk.ordinal, chunk.text)
            if told != (document.id, ordinal, document.text[chunk.start : chunk.end]) or chunk.start < 0:
                raise _wrong("chunker", name, f"a passage {ordinal} that is no stretch of its document")
        return chunks

    return cut


def guarded_enricher(name: str, enricher: Enricher) -> Enricher:
    """Hold an enricher to its promise: fields that can be stored."""

    def enrich(chunk: Chunk) -> Metadata:
        with as_model_errors("enricher", name):
            return clean_metadata(enricher(chunk))

    return enrich


def _wrong(what: str, name: str, gave: str) -> ModelError:
    return ModelError(f"The {what} {name!r} gave {gave}.", "Try it with its suite in `twofold.testing`.")


__all__ = ["NO_PLUGINS", "CustomChunker", "CustomEnricher", "CustomReader", "OpenPlugins", "Plugins"]

KINDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "embedder": ("twofold.embedders", "embed_passages"),
        "reranker": ("twofold.rerankers", "score"),
        "generator": ("twofold.generators", "stream"),
        "retriever": ("twofold.retrievers", "search"),
        "transformer": ("twofold.transformers", "transform"),
        "chunker": ("twofold.chunkers", "__call__"),
        "reader": ("twofold.readers", "read"),
        "resolver": ("twofold.principals", "principals"),
    }
)
"""The group in which a part is looked for, and what it must have."""

Part = TypeVar("Part")
SEARCH_KINDS = ("retriever", "transformer")
INGEST_KINDS = ("reader", "chunker")
RESERVED_NAMES = frozenset({"bm25", "vector", "fused", "graph"})


class CustomChunker(NamedTuple):
    """A chunker, and the name that a recipe knows it by: another name for whatever cuts otherwise."""

    name: str
    cut: Chunker


@dataclass(frozen=True, slots=True, eq=False)
class Plugins:
    """Parts of the user's own, as objects. Their maker closes them.

    `retrievers` and `transformers` take part in every search, each under its name; `rerankers` and `generators` are
    there to be named in `rerank.model` and `generator`, before the built-in ones of the same name. `readers` take files
    before the built-in ones. `chunker` and `enricher` stand in for those of the settings, `pruner` for the one that
    `answer.context.prune` has.
    """

    retrievers: Mapping[str, Retriever] = field(default_factory=dict)
    transformers: Mapping[str, QueryTransformer] = field(default_factory=dict)
    rerankers: Mapping[str, Reranker] = field(default_factory=dict)
    generators: Mapping[str, Generator] = field(default_factory=dict)
    readers: tuple[CustomReader, ...] = ()
    chunker: CustomChunker | None = None
    enricher: CustomEnricher | None = None
    pruner: SentencePruner | None = None

    def __post_init__(self) -> None:
        """Refuse a name that stands for something else in a trace. Raises InvalidInputError."""
        for name in self.retrievers:
            _check_name(name)


NO_PLUGINS = Plugins()


class OpenPlugins:
    """The user's own parts of one index: those passed, and those found by name, each made once.

    Safe to use from several threads. Entry points that fail to load, or give no such part, raise ModelError.
    """

    def __init__(self, given: Plugins = NO_PLUGINS) -> None:
        self.given = given
        self._turn = threading.Lock()
        self._made: dict[tuple[str, str], Any] = {}

    @property
    def enriching(self) -> CustomEnricher | None:
        """The enricher that was passed, None for the built-in ones."""
        own = self.given.enricher
        return None if own is None else CustomEnricher(own.name, guarded_enricher(own.name, own.enrich))

    @property
    def pruner(self) -> SentencePruner | None:
        """The pruner that was passed, None for the built-in one."""
        return None if self.given.pruner is None else GuardedPruner(self.given.pruner)

    def embedder(self, name: str) -> Embedder | None:
        """Return an installed embedder; None for an unknown name."""
        found = self._installed("embedder", name)
        return None if found is None else GuardedEmbedder(found)

    def resolver(self, name: str) -> PrincipalResolver:
        """Return an installed part that says who callers are. Raises NotFoundError for an unknown name."""
        found: PrincipalResolver | None = self._installed("resolver", name)
        if found is None:
            raise NotFoundError(
                f"There is no extension {name!r}.", f"Install what offers it as {KINDS['resolver'][0]}."
            )
        return found

    def reranker(self, name: str) -> Reranker | None:
        """Return a reranker by its name: one that was passed, else an installed one, else None."""
        found = self.given.rerankers.get(name) or self._installed("reranker", name)
        return None if found is None else GuardedReranker(found)

    def generator(self, name: str) -> Generator | None:
        """Return a generator by its name: one that was passed, else an installed one, else None."""
        found = self.given.generators.get(name) or self._installed("generator", name)
        return None if found is None else GuardedGenerator(found)

    def retrievers(self, names: Sequence[str]) -> tuple[tuple[str, Retriever], ...]:
        """Return those that were passed, and the installed ones of these names, each under its name.

        Raises NotFoundError for a name of no retriever and no transformer.
        """
        found = {**self.given.retrievers, **self._named("retriever", names, SEARCH_KINDS)}
        for name in found:
            _check_name(name)
        return tuple((name, GuardedRetriever(name, one)) for name, one in found.items())

    def transformers(self, names: Sequence[str]) -> tuple[tuple[str, QueryTransformer], ...]:
        """Return those that were passed, and the installed ones of these names. Errors as for `retrievers`."""
        found = {**self.given.transformers, **self._named("transformer", names, SEARCH_KINDS)}
        return tuple((name, GuardedTransformer(name, one)) for name, one in found.items())

    def readers(self, names: Sequence[str]) -> tuple[CustomReader, ...]:
        """Return those that were passed, and the installed ones of these names.

        Raises NotFoundError for a name of no reader and no chunker.
        """
        return (*self.given.readers, *self._named("reader", names, INGEST_KINDS).values())

    def chunking(self, names: Sequence[str]) -> CustomChunker | None:
        """Return the chunker that was passed, else the installed one of these names, else None for the built-in ones.

        Raises NotFoundError as `readers` does, InvalidInputError for two chunkers.
        """
        found = {} if self.given.chunker else self._named("chunker", names, INGEST_KINDS)
        if len(found) > 1:
            raise InvalidInputError(f"There are two chunkers: {', '.join(found)}.", "Name one in plugins.ingest.")
        for own in (self.given.chunker, *(CustomChunker(name, cut) for name, cut in found.items())):
            if own is not None:
                return CustomChunker(own.name, guarded_chunker(own.name, own.cut))
        return None

    def close(self) -> None:
        """Free what was found by name and can be closed. Calling it twice does nothing more."""
        with self._turn:
            while self._made:
                _, made = self._made.popitem()
                if callable(getattr(made, "close", None)):
                    made.close()

    def _named(self, kind: str, names: Sequence[str], kinds: Sequence[str]) -> Mapping[str, Any]:
        """Return those of the names that are of this kind; each must be of one of the `kinds`, or have been passed."""
        passed = {*self.given.retrievers, *self.given.transformers} if kind in SEARCH_KINDS else set()
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


def custom_or_built_in(
    given: Mapping[str, Part], built_in: Callable[[str], Part | None], own: Callable[[str], Part | None], name: str
) -> Part | None:
    """Open a part by name: one that was passed, else a built-in one, else an installed one.

    Raises NotFoundError for an unknown name.
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
        raise InvalidInputError(f"There are several {kind}s {name!r}: {said}.", "Uninstall all but one.")
    with as_model_errors(kind, name):
        made = next(iter(points)).load()()
    if not callable(getattr(made, needed, None)):
        raise ModelError(f"The {kind} {name!r} has no {needed}.", "See docs/extending.md for what it must have.")
    return made


def _check_name(name: str) -> None:
    if not name.isprintable() or not name.strip() or name in RESERVED_NAMES or name.startswith("query "):
        raise InvalidInputError(f"A retriever cannot be called {name!r}.", "Give it a name of its own.")
