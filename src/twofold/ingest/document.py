"""From what a reader found to a document. It knows no reader, so that importing it costs next to nothing."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final, cast

from twofold.domain.errors import check_kind, check_several, check_table
from twofold.domain.types import Block, Document, Dropped, Metadata, PageWords, document_id
from twofold.ingest.readers.types import Extract, clean
from twofold.ingest.source_types import SOURCE_TYPE, source_type_of

METADATA_HINT: Final = "Write names as text, and values: metadata={'year': 2025}."


def content_hash(data: bytes) -> str:
    """Name bytes by their content: thirty-two hexadecimal digits of their BLAKE2b hash."""
    return blake2b(data, digest_size=16).hexdigest()


def document_from(source_name: str, extract: Extract, media_type: str, hashed: str) -> Document:
    """Make the document of what a reader found; `hashed` is `content_hash` of the bytes that were read."""
    return Document(
        id=document_id(source_name),
        source=source_name,
        text=extract.text,
        title=extract.title,
        media_type=media_type,
        blocks=extract.blocks,
        metadata={SOURCE_TYPE: source_type_of(media_type), **extract.metadata},
        content_hash=hashed,
        dropped=extract.dropped,
        words=extract.words,
    )


def check_documents(documents: object) -> None:
    """Raise InvalidInputError for what is no list of documents, and for documents with parts of another kind."""
    check_several("`documents`", documents, "Give a list of `Document`s; `add` takes text.")
    for one in cast("Iterable[object]", documents):
        check_kind("A document", one, Document, "Make it with `Document`; `add` takes text.")
        for name in ("id", "source", "text", "title", "media_type", "content_hash"):
            check_kind(f"`{name}` of a document", getattr(one, name), str, "Give text.")
        check_table("`metadata`", cast("Document", one).metadata, METADATA_HINT)
        for name, kind in (("blocks", Block), ("dropped", Dropped), ("words", PageWords)):
            given = getattr(one, name)
            check_kind(f"`{name}` of a document", given, tuple | list, f"Give a tuple of {kind.__name__}.")
            for part in given:
                check_kind(f"A part of `{name}`", part, kind, f"Give a tuple of {kind.__name__}.")


def document_of_text(text: str, source: str, title: str, metadata: Metadata, identity: str | None) -> Document:
    """Make a document of text that somebody holds; without a source the text itself names it."""
    for what, given in (("The text", text), ("`source`", source), ("`title`", title)):
        check_kind(f"{what} of a document", given, str, "Give text; `add_file` reads files of any format.")
    if identity is not None:
        check_kind("The id of a document", identity, str, "Keep it to letters, digits, `.`, `_` and `-`.")
    check_table("`metadata`", metadata, METADATA_HINT)
    cleaned = clean(text)
    hashed = content_hash(cleaned.encode())
    name = clean(source) or (identity if identity is not None else f"text {hashed[:12]}")
    return Document(
        id=identity if identity is not None else document_id(name),
        source=name,
        text=cleaned,
        title=clean(title),
        metadata=metadata,
        content_hash=hashed,
    )
