"""Mail: one message (.eml) or many (.mbox), with what is attached. How attachments are read is passed in."""

import re
from collections.abc import Iterator
from dataclasses import replace
from email.errors import MessageError
from email.message import EmailMessage, Message
from email.parser import BytesParser
from email.policy import default
from email.utils import parsedate_to_datetime

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind, MetadataValue
from twofold.ingest.decode import decode
from twofold.ingest.readers.html.reader import extract_html
from twofold.ingest.readers.types import Extract, Reader, Source, TextBuilder, clean, one_line

_SEPARATOR = re.compile(rb"^From [^\r\n]*\r?\n", re.MULTILINE)
# The standard library's parsers of headers let many errors through for headers that are not what the RFCs say.
_HEADER_ERRORS = (MessageError, LookupError, ValueError, AttributeError, TypeError, AssertionError, RecursionError)
_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_READ = (*_SHOWN, "Message-ID")


def mail_reader(read_attachment: Reader) -> Reader:
    """Make the reader of one message; `read_attachment` is given attachments as sources one level deeper."""

    def read_mail(source: Source) -> Extract:
        """Read a message: subject as title, plain text before HTML, then what is attached."""
        return _read_message(source, source.data, read_attachment)

    return read_mail


def mailbox_reader(read_attachment: Reader) -> Reader:
    """Make the reader of mailboxes."""

    def read_mailbox(source: Source) -> Extract:
        """Read an mbox file: each message under its subject, at the place `message 3`."""
        builder, first = TextBuilder(), 1
        for number, data in enumerate(_messages(source.data), 1):
            message = _read_message(source, data, read_attachment)
            heading = (message.title,) if message.title else ()
            first = _add_apart(builder, message, heading, f"message {number}", first)
        return builder.extract()

    return read_mailbox


def _add_apart(builder: TextBuilder, extract: Extract, heading: tuple[str, ...], place: str, first: int) -> int:
    """Add what no passage may join to anything else: its parts are numbered from `first` on. Return the next number."""
    blocks = tuple(replace(block, part=first + block.part) for block in extract.blocks)
    builder.add_extract(replace(extract, blocks=blocks), heading=heading, place=place)
    return max((block.part for block in blocks), default=first) + 1


def _messages(data: bytes) -> Iterator[bytes]:
    """Cut a mailbox where a line starts with `From ` at its beginning or after an empty line."""
    starts = [found for found in _SEPARATOR.finditer(data) if _opens_message(data, found.start())]
    for place, found in enumerate(starts):
        end = starts[place + 1].start() if place + 1 < len(starts) else len(data)
        yield data[found.end() : end]


def _opens_message(data: bytes, start: int) -> bool:
    return start == 0 or data[max(0, start - 4) : start].endswith((b"\n\n", b"\n\r\n"))


def _read_message(source: Source, data: bytes, read_attachment: Reader) -> Extract:
    try:
        message = BytesParser(policy=default).parsebytes(data)
        headers = _headers(message)
        builder = TextBuilder()
        shown = [f"{name}: {headers[name]}" for name in _SHOWN if headers[name]]
        builder.add(BlockKind.PARAGRAPH, "\n".join(shown))
        attached = list(_add_parts(builder, message))
    except _HEADER_ERRORS as error:
        raise ReadError("the message is damaged beyond reading", "Save it again from the mail program.") from error
    unread = _add_attachments(builder, source, attached, read_attachment)
    metadata: dict[str, MetadataValue] = {
        "from": headers["From"],
        "to": headers["To"],
        "cc": headers["Cc"],
        "date": _iso_date(headers["Date"]) or headers["Date"],
        "message_id": headers["Message-ID"],
        "attachments": tuple(name for name, _ in attached),
        "attachments_not_read": tuple(unread),
    }
    return builder.extract(headers["Subject"], metadata)


def _headers(message: Message) -> dict[str, str]:
    """Return the headers that are shown, decoded, by name; the empty string for one that is missing or damaged.

    The standard library takes 30 µs to parse a header, which is most of the time of a short message: one of ASCII alone
    that is not encoded is taken as it stands.
    """
    raw = {name.lower(): str(value) for name, value in reversed(list(message.raw_items()))}
    found = {}
    for name in _READ:
        value = raw.get(name.lower(), "")
        found[name] = one_line(value) if value.isascii() and "=?" not in value else _parsed_header(message, name)
    return found


def _parsed_header(message: Message, name: str) -> str:
    try:
        return one_line(str(message.get(name, "")))
    except _HEADER_ERRORS:
        return ""


def _iso_date(date: str) -> str:
    try:
        return parsedate_to_datetime(date).isoformat() if date else ""
    except _HEADER_ERRORS:
        return ""


def _add_parts(builder: TextBuilder, message: Message) -> Iterator[tuple[str, bytes]]:
    """Add the body; give the attachments as (name, bytes)."""
    body = message.get_body(("plain", "html")) if isinstance(message, EmailMessage) else None
    if body is not None:
        _add_body(builder, body)
    for number, (part, parent) in enumerate(_leaves(message), 1):
        if part is body:
            continue
        if _is_attachment(part):
            name = one_line(part.get_filename() or "")
            suffix = ".eml" if part.get_content_type() == "message/rfc822" else ""
            yield name or f"attachment {number}{suffix}", _payload(part)
        elif part.get_content_maintype() == "text" and parent == "multipart/mixed":
            _add_body(builder, part)


def _leaves(message: Message) -> Iterator[tuple[Message, str]]:
    """Go through the parts that hold something, each with its parent's type; a message inside stays whole."""
    waiting: list[tuple[Message, str]] = [(message, "")]
    while waiting:
        part, parent = waiting.pop()
        inner = part.get_payload()
        if part.get_content_maintype() == "multipart" and isinstance(inner, list):
            kind = part.get_content_type()
            waiting.extend((each, kind) for each in reversed(inner) if isinstance(each, Message))
        else:
            yield part, parent


def _is_attachment(part: Message) -> bool:
    is_message = part.get_content_type() == "message/rfc822"
    return is_message or bool(part.get_filename()) or part.get_content_disposition() == "attachment"


def _add_body(builder: TextBuilder, body: Message) -> None:
    text = decode(_payload(body), str(body.get_content_charset() or "")).text
    if body.get_content_type() == "text/html":
        builder.add_extract(extract_html(text))
    else:
        builder.add_paragraphs(clean(text))


def _payload(part: Message) -> bytes:
    inner = part.get_payload()
    if isinstance(inner, list):
        return b"".join(each.as_bytes() for each in inner if isinstance(each, Message))
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _add_attachments(
    builder: TextBuilder, source: Source, attached: list[tuple[str, bytes]], read_attachment: Reader
) -> Iterator[str]:
    """Add what can be read of the attachments; name the others, each with its reason."""
    deeper = replace(source.limits, archive_depth=source.limits.archive_depth - 1)
    first = 1
    for name, data in attached[: source.limits.archive_entries]:
        if deeper.archive_depth < 0:
            yield f"{name}: nested too deep"
            continue
        try:
            extract = read_attachment(Source(name, data, deeper))
        except ReadError as error:
            yield f"{name}: {error.message}"
            continue
        builder.add(BlockKind.HEADING, name, place=f"attachment {name}", part=first)
        first = _add_apart(builder, extract, (name,), f"attachment {name}", first)
