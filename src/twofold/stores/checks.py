"""What every store refuses alike: too many settings of an index; documents and fields that cannot be kept."""

import math
from collections.abc import Mapping, Sequence

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import values_of
from twofold.domain.types import MAX_INTEGER, Document, Entry, IndexedChunk, Metadata, MetadataValue
from twofold.kernels import are_unicode

MAX_PREFERENCES = 256
MAX_NAME_LENGTH = 128  # characters
MAX_VALUE_LENGTH = 16_384
MAX_CHARACTERS = 65_536


def checked_settings(values: Mapping[str, str]) -> dict[str, str]:
    """Return a copy by rising name. Raises InvalidInputError where it is too much, or text is not Unicode.

    A name such as `search.k` has 1 to 128 characters.
    """
    if len(values) > MAX_PREFERENCES or sum(map(len, (*values, *values.values()))) > MAX_CHARACTERS:
        raise InvalidInputError(
            f"An index keeps at most {MAX_PREFERENCES} settings of {MAX_CHARACTERS:,} characters in all.",
            "Keep fewer with the index, and the others in a twofold.yaml.",
        )
    for name, value in values.items():
        if not 0 < len(name) <= MAX_NAME_LENGTH or len(value) > MAX_VALUE_LENGTH or not are_unicode([name + value]):
            raise InvalidInputError(
                f"An index cannot keep the setting {name[:40]!r}.",
                f"A name has up to {MAX_NAME_LENGTH} characters, a value up to {MAX_VALUE_LENGTH:,}, all Unicode.",
            )
    return dict(sorted(values.items()))


def check_entries(entries: Sequence[Entry]) -> None:
    """Raise InvalidInputError for a document, or a passage of one, that no store keeps."""
    for entry in entries:
        check_document(entry.document)
        check_passages(entry.document, entry.chunks)


def check_document(document: Document) -> None:
    """Raise InvalidInputError for a document without an id, or with text or fields that no store keeps."""
    check_metadata(document.metadata)
    texts = [document.id, document.source, document.title, document.media_type, document.content_hash, document.text]
    metadata = (text for named in document.metadata.items() for text in texts_of(named))
    blocks = (text for block in document.blocks for text in (*block.heading, block.place, block.header))
    if not document.id or not are_unicode([*texts, *metadata, *blocks]):
        raise InvalidInputError(
            f"The document {document.source!r} has an empty id, or text that is not Unicode.",
            "Clean its text and metadata first.",
        )


def check_passages(document: Document, chunks: Sequence[IndexedChunk]) -> None:
    """Raise InvalidInputError for passages with text or fields that no store keeps."""
    texts: list[str] = []
    for indexed in chunks:
        chunk = indexed.chunk
        texts.append(chunk.text)
        if chunk.place or chunk.header or chunk.heading:
            texts += (chunk.place, chunk.header, *chunk.heading)
        if chunk.metadata:
            check_metadata(chunk.metadata)
            texts += (text for named in chunk.metadata.items() for text in texts_of(named))
    if not are_unicode(texts):
        raise InvalidInputError(
            f"A passage of {document.source!r} has text that is not Unicode.", "Clean its text first."
        )


def check_new_metadata(document: str, metadata: Metadata) -> None:
    """Raise InvalidInputError for fields of a document that no store keeps."""
    check_metadata(metadata)
    if not are_unicode([one for named in metadata.items() for one in texts_of(named)]):
        raise InvalidInputError(f"The metadata of {document!r} is not Unicode.", "Clean it first.")


def check_metadata(metadata: Metadata) -> None:
    """Raise InvalidInputError for what no filter could compare."""
    for name, held in metadata.items():
        for value in values_of(held):
            if not isinstance(value, str | int | float):
                raise InvalidInputError(
                    f"Metadata {name!r} is no text, number or truth.", "Give it as text; several values as a tuple."
                )
            if isinstance(value, float) and not math.isfinite(value):
                raise InvalidInputError(f"Metadata {name!r} is not a finite number.", "Leave it out or give a number.")
            if isinstance(value, int) and abs(value) > MAX_INTEGER:
                raise InvalidInputError(f"Metadata {name!r} is too large a number.", "Give it as text.")


def texts_of(named: tuple[str, MetadataValue]) -> list[str]:
    """Return the texts of a field: its name, and those of its values that are text."""
    name, held = named
    return [name, *(one for one in values_of(held) if isinstance(one, str))]
