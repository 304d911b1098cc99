"""Indexes as users make them, of a few documents; with an embedder that needs no files unless another is named."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from twofold import Index
from twofold.domain.errors import ModelError
from twofold.domain.ports import Embedder
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.result import SearchResult

GIT = {
    "reset.md": "# Undo\n\nUndo the last commit with git reset. The soft reset keeps your changes.",
    "revert.md": "# Revert\n\nMake a new commit that undoes an old one. Error ERR-12345 means a conflict.",
    "merge.md": "# Merge\n\nJoin two branches. A merge commit has two parents.",
    "stash.md": "# Stash\n\nPut changes aside for a while, and take them back later.",
    "errors.md": "# Errors\n\nThe err code 12345 is not ERR-99.",
}
NOTHING: Mapping[str, object] = {}


def indexed(
    texts: Mapping[str, str],
    settings: Mapping[str, object] = NOTHING,
    *,
    where: str | Path = ":memory:",
    embedder: Embedder | None = None,
) -> Index:
    """Make an index of texts by source; `settings` are overrides by their dotted names."""
    index = Index(where, overrides=settings, embedder=embedder or HashingEmbedder())
    for source, text in texts.items():
        index.add(text, source=source)
    return index


def sources(result: SearchResult) -> list[str]:
    """Give where the hits are from, best first."""
    return [hit.source for hit in result.hits]


class Counted(HashingEmbedder):
    """Keeps what it was asked, call by call."""

    def __init__(self, dimensions: int = 64) -> None:
        super().__init__(dimensions)
        self.asked: list[tuple[str, ...]] = []

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(tuple(texts))
        return super().embed_queries(texts)


class Mute(HashingEmbedder):
    """Embeds passages and fails at questions, as a model does whose server is gone."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise ModelError("the model is gone.", f"Bring it back for {len(texts)} texts.")


def as_bits(result: SearchResult) -> list[object]:
    """Return hits to be held against those of another index, bit for bit."""
    return [(hit.chunk_id, hit.score.hex(), hit.text, repr(hit.trace)) for hit in result.hits]
