"""From what a reader found to a document. It knows no reader, so that importing it costs next to nothing."""

from collections.abc import Mapping
from hashlib import blake2b

from twofold.domain.errors import check_kind
from twofold.domain.types import Document, Metadata, document_id
from twofold.ingest.readers.types import Extract, clean
from twofold.ingest.source_types import SOURCE_TYPE, source_type_of


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


def document_of_text(text: str, source: str, title: str, metadata: Metadata, identity: str | None) -> Document:
    """Make a document of text that somebody holds; without a source the text itself names it."""
    for what, given in (("The text", text), ("`source`", source), ("`title`", title)):
        check_kind(f"{what} of a document", given, str, "Give text; `add_file` reads files of any format.")
    check_kind("`metadata`", metadata, Mapping, "Write names and values: metadata={'year': 2025}.")
    for name in metadata:
        check_kind("The name of a field of `metadata`", name, str, "Write it as text.")
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
