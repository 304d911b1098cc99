"""The field `source_type`: what kind of file a document was, and where it came from. Tables and two small functions."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from twofold.domain.filters import values_of
from twofold.domain.types import Document, Metadata
from twofold.ingest import media_types as kinds

SOURCE_TYPE = "source_type"
LOCAL_FILE = "local_file"
UPLOAD = "upload"
OTHER = "other"

SOURCE_TYPES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(kinds.CODE, "code"),
        **dict.fromkeys((kinds.XLSX, kinds.XLSB, kinds.XLS, kinds.ODS, f"{kinds.ODS}-template"), "excel"),
        **dict.fromkeys((kinds.DOCX, kinds.ODT, f"{kinds.ODT}-template", kinds.RTF), "word"),
        **dict.fromkeys((kinds.PPTX, kinds.ODP, f"{kinds.ODP}-template"), "presentation"),
        **dict.fromkeys((kinds.PLAIN, kinds.ASCIIDOC, kinds.REST, kinds.LATEX, kinds.MAN), "text"),
        **dict.fromkeys((kinds.CSV, kinds.TSV), "csv"),
        **dict.fromkeys((kinds.JSON, kinds.JSON_LINES), "json"),
        **dict.fromkeys((kinds.SRT, kinds.VTT), "subtitles"),
        kinds.WAV: "recording",
        **dict.fromkeys((kinds.EML, kinds.MBOX), "email"),
        kinds.PDF: "pdf",
        **dict.fromkeys(kinds.PICTURES, "image"),
        kinds.HTML: "html",
        kinds.EPUB: "epub",
        kinds.XML: "xml",
        kinds.MARKDOWN: "markdown",
        kinds.NOTEBOOK: "notebook",
    }
)
"""The kind of file for each media type that is read; a reader of the user's own gives `other`."""


def source_type_of(media_type: str) -> str:
    """Return the kind of file: `excel` for any spreadsheet, `other` for a media type that has no row."""
    return SOURCE_TYPES.get(media_type, OTHER)


def from_origin(document: Document, origin: str) -> Document:
    """Return a document whose `source_type` also says where it came from.

    One whose front matter or record states a `source_type` of its own keeps that alone.
    """
    if document.metadata.get(SOURCE_TYPE) != source_type_of(document.media_type):
        return document
    return replace(document, metadata={**document.metadata, SOURCE_TYPE: (source_type_of(document.media_type), origin)})


def origin_of(metadata: Metadata) -> str:
    """Return the last value of `source_type`, which says where a document came from; empty without one.

    >>> origin_of({"source_type": ("excel", "local_file")})
    'local_file'
    """
    held = values_of(metadata.get(SOURCE_TYPE, ()))
    return str(held[-1]) if held else ""
