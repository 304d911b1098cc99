"""Parts that a user could write: plain, importable, some of them broken on purpose."""

from collections.abc import Mapping, Sequence

import numpy as np

from twofold.domain.ports import EmbedderIdentity, RerankerIdentity, Retrieved, Scale
from twofold.domain.types import Block, BlockKind, Chunk, Document, Scores, Vectors
from twofold.ingest.readers.custom import CustomReader
from twofold.ingest.readers.types import Extract, Source


def read_shouting(source: Source) -> Extract:
    text = source.data.decode("utf-8", "replace").upper()
    return Extract(text, (Block(BlockKind.PARAGRAPH, 0, len(text)),), title="shouted")


def read_badly(source: Source) -> Extract:
    raise ZeroDivisionError(source.name)


def read_nothing(_: Source) -> Extract:
    return "not an extract"  # type: ignore[return-value]


def shouting() -> CustomReader:
    return CustomReader(read_shouting, "text/x-shout", (".shout",))


def cut_lines(document: Document) -> tuple[Chunk, ...]:
    """Cut a document into its lines."""
    chunks: list[Chunk] = []
    start = 0
    for line in document.text.splitlines(keepends=True):
        text = line.strip()
        if text:
            begin = start + line.index(text)
            chunks.append(Chunk(document.id, len(chunks), text, begin, begin + len(text)))
        start += len(line)
    return tuple(chunks)


def lines() -> object:
    return cut_lines


class Listed:
    """A retriever that knows by heart which passages answer what."""

    def __init__(self, found: Sequence[tuple[str, float]] = ()) -> None:
        self._found = found

    def search(self, query: str, k: int) -> Sequence[Retrieved]:
        return [Retrieved(name, score) for name, score in self._found if query][:k]


class Breaking:
    """Fails at everything it is asked, with an error of its own."""

    def search(self, query: str, k: int) -> Sequence[Retrieved]:
        raise KeyError(query, k)

    def transform(self, query: str, context: Mapping[str, str] | None) -> str:
        raise ConnectionResetError(query, context)


class Glossary:
    """Writes abbreviations out."""

    def transform(self, query: str, context: Mapping[str, str] | None) -> str:
        del context
        return query.replace("VCS", "version control system") if "VCS" in query else ""


class Reversing:
    """A reranker that turns the order round: the shorter a text, the better it fits."""

    @property
    def identity(self) -> RerankerIdentity:
        return RerankerIdentity("reversing", "1", Scale.RELEVANCE)

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        del query
        return np.array([1.0 / (1.0 + len(text)) for text in texts])

    def relevance(self, raw: Scores) -> Scores:
        return raw

    def close(self) -> None:
        """Nothing is open."""


class Fixed:
    """An embedder of three dimensions that gives what it is told to give."""

    def __init__(self, rows: Sequence[float] = (1.0, 0.0, 0.0), error: Exception | None = None) -> None:
        self._row = rows
        self._error = error
        self.closed = 0

    @property
    def identity(self) -> EmbedderIdentity:
        return EmbedderIdentity("fixed", "1", 3)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self._error is not None:
            raise self._error
        return np.array([self._row for _ in texts], dtype=np.float32).reshape(len(texts), -1 if texts else 3)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_passages(texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(text.split()) for text in texts]

    def close(self) -> None:
        self.closed += 1


def offered() -> Listed:
    """What an entry point may name: it is called without arguments."""
    return Listed([("cats_chunk_0", 1.0)])


def read_ending(ending: str, source: Source) -> Extract:
    """Read a file and put an ending behind it."""
    text = source.data.decode() + ending
    return Extract(text, (Block(BlockKind.PARAGRAPH, 0, len(text)),))
