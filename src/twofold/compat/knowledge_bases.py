"""KBManager: knowledge bases by name, filled from files, whose retrievers see what was added."""

from collections.abc import Mapping
from os import PathLike
from types import TracebackType
from typing import Self

from twofold.compat.voicevault import HybridRetriever, SingleRetriever
from twofold.config.load import load_settings
from twofold.domain.ports import Embedder
from twofold.factory.places import INDEX_FOLDER
from twofold.index import Index
from twofold.indexing.types import SyncReport


class KBManager:
    """The knowledge bases below `TWOFOLD_HOME`; each is an ordinary index.

    Retrievers that are registered here are reloaded after each `ingest`. Close it, or use it in a `with` statement.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._retrievers: list[SingleRetriever] = []

    def list_kbs(self) -> list[str]:
        """Return the names of all knowledge bases, in order."""
        folder = load_settings().home / INDEX_FOLDER
        return sorted(one.name for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []

    def ingest(self, kb_name: str, *paths: str | PathLike[str]) -> SyncReport:
        """Add files and folders to a knowledge base, which is made on first use; errors as for `Index.sync`."""
        with Index(kb_name, embedder=self._embedder) as index:
            report = index.sync(*paths)
        for one in self._retrievers:
            one.reload()
        return report

    def delete(self, kb_name: str) -> None:
        """Delete a knowledge base for good. Raises NotFoundError if it does not exist."""
        Index(kb_name, embedder=self._embedder, create=False).drop()

    def register(self, retriever: SingleRetriever) -> None:
        """Reload a retriever whenever something is ingested."""
        self._retrievers.append(retriever)

    def retriever(self, *kb_names: str, settings: Mapping[str, object] | None = None) -> HybridRetriever:
        """Return a retriever over these knowledge bases, or over all; the caller closes it."""
        return HybridRetriever(kb_names or self.list_kbs(), settings)

    def close(self) -> None:
        """Close the retrievers that were registered."""
        for one in self._retrievers:
            one.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
