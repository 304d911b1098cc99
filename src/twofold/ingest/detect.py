"""What a file is: by its content first, by its suffix second.

A suffix that lies is not believed. Where it claims a format that no text editor writes and the content is not that
format, the file is damaged or mislabeled, and is refused rather than read as text.
"""

import re
from io import BytesIO
from json import loads
from pathlib import PurePosixPath
from zipfile import BadZipFile, ZipFile

from twofold.domain.errors import ReadError
from twofold.ingest.decode import decode
from twofold.ingest.media_types import (
    BINARY_MAGIC,
    CLAIMS,
    CSV,
    DOCX,
    EML,
    EPUB,
    HTML,
    JSON,
    JSON_LINES,
    MAN,
    MARKDOWN,
    MBOX,
    NOTEBOOK,
    ODF,
    OLE_KINDS,
    OOXML,
    PDF,
    PICTURE_MAGIC,
    PLAIN,
    RECORDING_MAGIC,
    RECORDINGS,
    RTF,
    SHEBANGS,
    SRT,
    SUFFIXES,
    TSV,
    VTT,
    WAV,
    XML,
)

_HEAD_BYTES = 65_536
_SRT = re.compile(r"\s*\d+[ \t]*\n[ \t]*\d{1,2}:\d\d:\d\d[,.]\d{1,3}\s*-->")
_HTML = re.compile(
    r"(?:\s|<\?xml[^>]{0,200}\?>|<!--(?:[^-]|-(?!->)){0,2000}-->)*<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])",
    re.IGNORECASE,
)
_JSON = re.compile(r"\s*(?:[{\[\"]|-?\d|(?:true|false|null)\s*$)")
_TAG = re.compile(r"</(?:p|div|h[1-6]|table|ul|ol|span|a|section|article|td)>|<br ?/?>", re.IGNORECASE)
_XML = re.compile(r"\s*<\?xml\s|\s*<(?:svg|rss|feed|opml)[\s>]")
_HEADER_LINE = re.compile(r"([A-Za-z][A-Za-z0-9-]*):(?:\s|$)")
_MAIL_HEADERS = frozenset(
    {
        "from",
        "to",
        "cc",
        "subject",
        "date",
        "received",
        "message-id",
        "mime-version",
        "return-path",
        "delivered-to",
        "reply-to",
        "sender",
        "content-type",
        "x-mailer",
    }
)
_MARKDOWN_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_MARKDOWN_SIGN = re.compile(r"^(?:[*+-] \S|\d+\. \S|```|~~~|> \S)|\[[^\]\n]+\]\([^)\s]+\)|\*\*\w", re.MULTILINE)
_MIN_TABLE_LINES = 5
_TAR_MARK = slice(257, 262)
_UNPACK = "Unpack it and add the folder, or leave it out with .twofoldignore."
_MAN_NAME = re.compile(r"\.(?:[1-9][a-z0-9]{0,10}|[ln]|man|mdoc|roff|troff|nroff)$", re.IGNORECASE)
_MAN_BEGINS = re.compile(r"\s*(?:[.'\\])")
_MAN_MACRO = re.compile(r"^[.'][ \t]*(?:TH|Dd|so)[ \t]+\S", re.MULTILINE)
_WEAK = frozenset({"", ".txt", ".text", ".dat", ".data", ".log", ".out", ".bak", ".md", ".markdown"})


def detect(name: str, data: bytes) -> str:
    """Name the media type of a file. `name` may be any text; only its suffix is looked at.

    Raises ReadError of kind `unsupported` for content that no reader takes, `encrypted` for locked Office files,
    `malformed` for content that is not what the suffix claims, such as words in a `.pdf`.
    """
    binary = _sniff_binary(name, data)
    if binary:
        return binary
    suffix = suffix_of(name)
    head = _head_of(data, suffix)
    by_suffix = SUFFIXES.get(suffix, "")
    if _is_man(name, head):
        return MAN
    marked = _sniff_marked_text(head, by_suffix)
    if not marked and suffix in CLAIMS:
        raise _false_claim(suffix)
    return marked or _sniff_json(data, head, suffix) or _by_suffix_or_shape(head, suffix)


def _head_of(data: bytes, suffix: str) -> str:
    """Return the beginning as text. Raise ReadError, which names what the suffix claims, if it is not text."""
    try:
        return decode(data[:_HEAD_BYTES]).text
    except ReadError as error:
        if suffix in CLAIMS:
            raise _false_claim(suffix) from error
        raise


def _is_man(name: str, head: str) -> bool:
    """Return whether a file is a manual page by its name (`ls.1`, not `x.log.1`) and by what it begins with."""
    return bool(_MAN_NAME.search(name) and _MAN_BEGINS.match(head) and _MAN_MACRO.search(head))


def _no_decoder(what: str) -> ReadError:
    return ReadError(
        f"{what} cannot be read; a WAV file can",
        "Make one by `ffmpeg -i FILE -ar 16000 -ac 1 FILE.wav`, or leave it out with .twofoldignore.",
        "unsupported",
    )


def _false_claim(suffix: str) -> ReadError:
    if suffix in RECORDINGS:  # most begin with no mark of their own
        return _no_decoder(f"a recording ({suffix})")
    return ReadError(
        f"its name says {CLAIMS[suffix]} ({suffix}), but its content is not one",
        "Restore it from a good copy, or give it the suffix of what it holds.",
        "malformed",
    )


def suffix_of(name: str) -> str:
    """Return a name's suffix in lower case, with its dot; of `Makefile` the empty string."""
    return PurePosixPath(name.replace("\\", "/")).suffix.lower()


def _sniff_binary(name: str, data: bytes) -> str:
    if b"%PDF-" in data[:1024]:
        return PDF
    if data.startswith(b"PK\x03\x04"):
        return _sniff_zip(name, data)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _sniff_ole(data)
    marked = _sniff_magic(data)
    if not marked:
        _refuse_binary(data)
    return marked


def _sniff_magic(data: bytes) -> str:
    """Return the type of what begins with a mark of its own, "" for anything else."""
    if data.startswith(b"RIFF") and data[8:12] == b"WAVE":
        return WAV
    marks = (*PICTURE_MAGIC, (b"{\\rtf", RTF))
    return next((media_type for magic, media_type in marks if data.startswith(magic)), "")


def _refuse_binary(data: bytes) -> None:
    for magic, what in RECORDING_MAGIC:
        if data.startswith(magic):
            raise _no_decoder(what)
    for magic, what in BINARY_MAGIC:
        if data.startswith(magic):
            hint = _UNPACK if what.endswith(" archive") else "Leave it out with .twofoldignore."
            raise ReadError(f"{what} cannot be read as a document", hint, "unsupported")
    if data[_TAR_MARK] == b"ustar":
        raise ReadError("a tar archive cannot be read as a document", _UNPACK, "unsupported")


def _sniff_zip(name: str, data: bytes) -> str:
    try:
        with ZipFile(BytesIO(data)) as archive:
            names = archive.namelist()
            mimetype = _declared_type(archive) if "mimetype" in names[:16] else ""
    except (BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
        raise ReadError("the ZIP container is damaged", "Save or download the file again.") from error
    if mimetype in ODF or mimetype == EPUB:
        return mimetype
    held = set(names)
    for part, media_type in OOXML:
        if part in held:
            return media_type
    if "META-INF/container.xml" in held:
        return EPUB
    # Word writes main documents under other names now and then; the folder still tells.
    if any(part.startswith("word/") for part in held) and suffix_of(name) == ".docx":
        return DOCX
    raise ReadError("a ZIP archive is not a document", "Unpack it and add the folder.", "unsupported")


def _declared_type(archive: ZipFile) -> str:
    """Read an archive's own statement of its type: the stored first entry of ODF and EPUB files."""
    import zlib

    try:
        with archive.open("mimetype") as entry:
            return entry.read(200).decode("ascii", "replace").strip()
    except (BadZipFile, zlib.error, RuntimeError, NotImplementedError, OSError, EOFError, ValueError):
        return ""


def _sniff_ole(data: bytes) -> str:
    """Recognize OLE2 files by the names in their directory, which are UTF-16."""
    for stream, media_type, what, hint in OLE_KINDS:
        if stream.encode("utf-16-le") in data:
            if media_type:
                return media_type
            kind = "encrypted" if stream == "EncryptedPackage" else "unsupported"
            raise ReadError(what, hint, kind)
    raise ReadError("an OLE2 file of unknown kind cannot be read", "Save it in a newer format.", "unsupported")


def _sniff_marked_text(head: str, by_suffix: str) -> str:
    """Recognize text formats that carry an unmistakable mark."""
    is_xml = _XML.match(head) is not None
    marks = (
        (VTT, head.startswith("WEBVTT") and not head[6:7].strip()),
        (SRT, _SRT.match(head) is not None),
        (HTML, _HTML.match(head) is not None or (is_xml and "<html" in head[:2048].lower())),
        (XML, is_xml),
        (MBOX, head.startswith("From ") and _is_mail(head.partition("\n")[2])),
        (EML, by_suffix in ("", PLAIN, EML, MBOX) and _is_mail(head, 1 if by_suffix == EML else 2)),
    )
    for media_type, is_marked in marks:
        if is_marked:
            return media_type
    interpreter = head.partition("\n")[0] if head.startswith("#!") else ""
    return next((media_type for word, media_type in SHEBANGS if word in interpreter), "")


def _is_mail(head: str, least: int = 2) -> bool:
    """Return whether a text opens with that many headers of mail and nothing else before the first empty line."""
    found: set[str] = set()
    for line in head.split("\n")[:200]:
        if not line.strip():
            break
        if line[0] in " \t" and found:
            continue
        header = _HEADER_LINE.match(line)
        if header is None:
            return False
        found.add(header[1].lower())
    return len(found & _MAIL_HEADERS) >= least


def _sniff_json(data: bytes, head: str, suffix: str) -> str:
    """Recognize JSON. What names itself JSON is believed if it opens like JSON; other names must parse."""
    by_suffix = SUFFIXES.get(suffix, "")
    start = head.lstrip()[:1]
    if by_suffix in (JSON, JSON_LINES, NOTEBOOK) and _JSON.match(head):
        return _notebook_or(head, by_suffix)
    if start not in ("{", "[") or (by_suffix and suffix not in _WEAK):
        return ""
    first, _, rest = head.strip().partition("\n")
    if start == "{" and _parses(first) and (not rest.strip() or _parses(rest.split("\n")[0])):
        return JSON_LINES if rest.strip() else JSON
    return _notebook_or(head, JSON) if _parses(decode(data).text) else ""


def _notebook_or(head: str, media_type: str) -> str:
    """Recognize notebooks among JSON: they are written with `cells` first or `nbformat` among few keys."""
    is_notebook = '"cells"' in head and ('"cell_type"' in head or '"nbformat"' in head)
    if media_type == JSON:
        return NOTEBOOK if is_notebook and head.lstrip().startswith("{") else JSON
    return media_type


def _parses(text: str) -> bool:
    try:
        loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _by_suffix_or_shape(head: str, suffix: str) -> str:
    by_suffix = SUFFIXES.get(suffix, "")
    if by_suffix == HTML:
        return HTML if "<" in head else PLAIN
    if by_suffix in (JSON, JSON_LINES, NOTEBOOK) and not head.lstrip().startswith(("//", "/*", "#")):
        return by_suffix  # its reader says what is wrong; configuration files open with comments now and then
    if by_suffix in (JSON, JSON_LINES, NOTEBOOK, VTT, SRT, EML, MBOX, XML):
        return PLAIN  # the name promises a mark that the content does not carry, but it is legible as it stands
    if by_suffix and suffix not in _WEAK:
        return by_suffix
    if by_suffix == MARKDOWN:
        return MARKDOWN
    return _by_shape(head)


def _by_shape(head: str) -> str:
    if head.lstrip().startswith("<") and len(_TAG.findall(head[:8192])) > 1:
        return HTML
    if _MARKDOWN_HEADING.search(head) and _MARKDOWN_SIGN.search(head):
        return MARKDOWN
    lines = [line for line in head.split("\n")[:40] if line.strip()][:20]
    if len(lines) < _MIN_TABLE_LINES:
        return PLAIN
    for delimiter, least, media_type in (("\t", 1, TSV), (";", 2, CSV), ("|", 2, CSV), (",", 2, CSV)):
        counts = {line.count(delimiter) for line in lines}
        if len(counts) == 1 and counts.pop() >= least:
            return media_type
    return PLAIN
