"""What the adapters share: passages as JSON values, names for documents, turns of a conversation."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Metadata, document_id
from twofold.index import Index
from twofold.query.history import Turn
from twofold.search.result import Hit

Shape = dict[str, Any]
"""A result as the earlier systems gave it: values of JSON."""

MAX_STEM_LENGTH = 64
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def name_for(index: Index, source: str) -> str:
    """Return the id of a document by its file's name: `doc1` for `doc1.txt`, whose first passage is `doc1_chunk_0`.

    Where another document has that name already, the beginning of the source's hash is put behind it.
    """
    stem = "".join(one if one in _PLAIN else "_" for one in PurePosixPath(source).stem)[:MAX_STEM_LENGTH]
    taken = {info.id: info.source for info in index.documents()}
    if stem and taken.get(stem, source) == source:
        return stem
    return f"{stem or 'document'}-{document_id(source)[:8]}"


def plain(metadata: Metadata) -> Shape:
    """Return fields as values of JSON: several values become a list."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in metadata.items()}


def raw_of(hit: Hit, retriever: str) -> float:
    """Return what one retriever said of a passage, on its own scale; 0 where it said nothing."""
    found = hit.trace.retriever(retriever)
    return 0.0 if found is None or found.raw is None else found.raw


def normalized_of(hit: Hit, retriever: str) -> float:
    """Return what the fusion made of one retriever's score; 0 where it was not asked."""
    found = hit.trace.retriever(retriever)
    return 0.0 if found is None else found.normalized


def turns_of(history: Sequence[Turn | Mapping[str, str]]) -> tuple[Turn, ...]:
    """Read a conversation: turns, or `{"role": "user", "content": "…"}`. Raises InvalidInputError for another role."""
    turns = []
    for one in history:
        turn = one if isinstance(one, Turn) else Turn(one.get("role", ""), one.get("content", ""))  # type: ignore[arg-type]
        if turn.role not in {"user", "assistant"}:
            raise InvalidInputError(f"There is no role {turn.role!r} in a conversation.", "Use user or assistant.")
        turns.append(turn)
    return tuple(turns)
