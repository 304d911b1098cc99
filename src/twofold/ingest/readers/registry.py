"""From bytes to text: the table of readers, and the one function that chooses among them."""

from collections.abc import Mapping
from types import MappingProxyType

from twofold.domain.errors import ReadError
from twofold.ingest import media_types as kinds
from twofold.ingest.archive import packed_as, unpack
from twofold.ingest.detect import detect
from twofold.ingest.readers.epub import read_epub
from twofold.ingest.readers.html.reader import read_html
from twofold.ingest.readers.jsonlines import read_json, read_json_lines
from twofold.ingest.readers.mail import mail_reader, mailbox_reader
from twofold.ingest.readers.markdown import read_markdown
from twofold.ingest.readers.notebook import read_notebook
from twofold.ingest.readers.ocr.image import read_image
from twofold.ingest.readers.office.docx import read_docx
from twofold.ingest.readers.office.odt import read_odt
from twofold.ingest.readers.office.pptx import read_pptx
from twofold.ingest.readers.office.sheets import read_sheets
from twofold.ingest.readers.office.tables import read_csv, read_tsv
from twofold.ingest.readers.pdf.reader import read_pdf
from twofold.ingest.readers.recording import read_no_recording
from twofold.ingest.readers.roff.reader import read_man
from twofold.ingest.readers.rtf import read_rtf
from twofold.ingest.readers.source_code import read_code, read_python
from twofold.ingest.readers.subtitles import read_subtitles
from twofold.ingest.readers.text import read_asciidoc, read_latex, read_rest, read_text
from twofold.ingest.readers.types import Extract, Reader, Source
from twofold.ingest.readers.xml_text import read_xml


def read(source: Source) -> Extract:
    """Read a file of any supported format, found out from its content. Raises ReadError."""
    opened = unpacked(source)
    return read_as(opened, media_type_of(opened))


def unpacked(source: Source) -> Source:
    """Return what a `.txt.gz`, `changelog.gz`, `.log.xz` or the like holds, other files as they are. Raises ReadError.

    A file that is too large, packed or unpacked, is refused.
    """
    if packed_as(source):
        check_size(source)
    return unpack(source)


def media_type_of(source: Source) -> str:
    """Name the media type of a file that is neither empty nor too large. Raises ReadError."""
    check_size(source)
    return detect(source.name, source.data)


def check_size(source: Source) -> None:
    """Refuse a file that is empty or too large. Raises ReadError."""
    size, most = len(source.data), source.limits.file_bytes
    if size > most:
        raise ReadError(f"the file has {size:,} bytes, more than the {most:,} allowed", "Split it.", "limit")
    if not source.data.strip():
        raise ReadError("the file is empty", "Leave it out with .twofoldignore.", "empty")


def read_as(source: Source, media_type: str) -> Extract:
    """Read a file whose media type is known. Raises ReadError, of kind `empty` if there is no text in it."""
    reader = READERS.get(media_type)
    if reader is None:
        raise ReadError(f"files of type {media_type} cannot be read", "Convert it to another format.", "unsupported")
    extract = reader(source)
    if not extract.blocks:
        raise ReadError("there is no text in the file", "Leave it out with .twofoldignore.", "empty")
    return extract


READERS: Mapping[str, Reader] = MappingProxyType(
    {
        **dict.fromkeys(kinds.CODE, read_code),
        kinds.PYTHON: read_python,
        kinds.PLAIN: read_text,
        kinds.MARKDOWN: read_markdown,
        kinds.ASCIIDOC: read_asciidoc,
        kinds.REST: read_rest,
        kinds.LATEX: read_latex,
        kinds.MAN: read_man,
        kinds.HTML: read_html,
        kinds.XML: read_xml,
        kinds.CSV: read_csv,
        kinds.TSV: read_tsv,
        kinds.JSON: read_json,
        kinds.JSON_LINES: read_json_lines,
        kinds.NOTEBOOK: read_notebook,
        kinds.SRT: read_subtitles,
        kinds.VTT: read_subtitles,
        kinds.EML: mail_reader(read),
        kinds.MBOX: mailbox_reader(read),
        kinds.PDF: read_pdf,
        **dict.fromkeys(kinds.PICTURES, read_image),
        kinds.WAV: read_no_recording,
        kinds.DOCX: read_docx,
        kinds.PPTX: read_pptx,
        kinds.XLSX: read_sheets,
        kinds.XLSB: read_sheets,
        kinds.XLS: read_sheets,
        kinds.ODS: read_sheets,
        kinds.ODT: read_odt,
        kinds.ODP: read_odt,
        f"{kinds.ODT}-template": read_odt,
        f"{kinds.ODP}-template": read_odt,
        f"{kinds.ODS}-template": read_sheets,
        kinds.EPUB: read_epub,
        kinds.RTF: read_rtf,
    }
)
"""Which reader takes which media type."""
