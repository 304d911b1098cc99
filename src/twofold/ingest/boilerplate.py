"""Blocks of a document that are no content of it: taking them out of its text, and finding those that files share.

A block that stands, word for word, in many files of one sync is a licence, a footer or a banner, not what one of them
says. It knows no format.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from twofold.domain.types import Block, BlockKind, Document, Dropped

SHARED = "shared block"
_GAP = "\n\n"
_LEAST_FILES = 5
_SHARE = 0.3  # of the files that were looked at
_LEAST_CHARACTERS = 12
_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST})
_MAX_LENGTH = 1_000


def without(text: str, blocks: Sequence[Block], gone: Iterable[int]) -> tuple[str, tuple[Block, ...]]:
    """Cut blocks, by their numbers, out of a text; the others keep their text and move up."""
    left_out = set(gone)
    parts: list[str] = []
    kept: list[Block] = []
    length = 0
    for number, block in enumerate(blocks):
        if number in left_out:
            continue
        if parts:
            parts.append(_GAP)
            length += len(_GAP)
        body = text[block.start : block.end]
        parts.append(body)
        kept.append(replace(block, start=length, end=length + len(body)))
        length += len(body)
    return "".join(parts), tuple(kept)


class SharedBlocks:
    """Counts in how many files of a sync each block of prose stands, and leaves out those that many share."""

    def __init__(self, known: Iterable[Document] = ()) -> None:
        self._files = 0
        self._counts: Counter[bytes] = Counter()
        for document in known:
            self._count(document)

    def cleaned(self, documents: Sequence[Document]) -> list[Document]:
        """Return some documents of a sync without what they share with each other or with those before."""
        for document in documents:
            self._count(document)
        least = max(_LEAST_FILES, _SHARE * self._files)
        shared = {key for key, count in self._counts.items() if count >= least}
        return [_cleaned(document, shared) for document in documents] if shared else list(documents)

    def _count(self, document: Document) -> None:
        left_out = (_key(one.text) for one in document.dropped if one.reason == SHARED)
        keys = {*_keys(document).values(), *left_out}
        if keys:
            self._files += 1
            self._counts.update(keys)


def _cleaned(document: Document, shared: set[bytes]) -> Document:
    gone = [number for number, key in _keys(document).items() if key in shared]
    if not gone or len(gone) == len(document.blocks):
        return document
    told = Counter(
        " ".join(document.text[block.start : block.end].split())[:_MAX_LENGTH]
        for block in (document.blocks[number] for number in gone)
    )
    text, blocks = without(document.text, document.blocks, gone)
    dropped = (*document.dropped, *(Dropped(each, SHARED, None, count) for each, count in told.items()))
    return replace(document, text=text, blocks=blocks, dropped=dropped)


def _keys(document: Document) -> Mapping[int, bytes]:
    """Name the prose of a document by its words: the number of each block with a hash."""
    found: dict[int, bytes] = {}
    for number, block in enumerate(document.blocks):
        text = document.text[block.start : block.end]
        if block.kind in _PROSE and not block.metadata and len(text.strip()) >= _LEAST_CHARACTERS:
            found[number] = _key(text)
    return found


def _key(text: str) -> bytes:
    words = " ".join(text.casefold().split())[:_MAX_LENGTH]
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=12).digest()
