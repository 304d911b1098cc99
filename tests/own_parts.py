"""Parts that a user could write: plain, importable, some of them broken on purpose."""

from collections.abc import Mapping, Sequence

from twofold.domain.ports import Retrieved
from twofold.domain.types import Block, BlockKind, Chunk, Document
from twofold.ingest.own_readers import OwnReader
from twofold.ingest.reading import Extract, Source


def read_shouting(source: Source) -> Extract:
    text = source.data.decode().upper()
    return Extract(text, (Block(BlockKind.PARAGRAPH, 0, len(text)),), title="shouted")


def read_badly(source: Source) -> Extract:
    raise ZeroDivisionError(source.name)


def read_nothing(_: Source) -> Extract:
    return "not an extract"  # type: ignore[return-value]


def shouting() -> OwnReader:
    return OwnReader(read_shouting, "text/x-shout", (".shout",))


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
