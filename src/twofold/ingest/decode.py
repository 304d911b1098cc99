"""From bytes to text: byte order marks, then UTF-8, then a declared encoding, then detection. It knows no formats."""

import codecs
import re

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ReadError
from twofold.domain.types import Metadata

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LEGACY = (
    "cp1252",
    "cp1250",
    "cp1251",
    "koi8_r",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp932",
    "euc_jp",
    "gb18030",
    "big5",
    "cp949",
)
_SAMPLE_BYTES = 65_536
_FEW_HIGH_BYTES = 16
_CONTROLS = bytes(code for code in range(32) if code not in b"\a\b\t\n\v\f\r\x1b")
_TERMINAL_CONTROLS = b"\a\b\v\x1b"  # logs and manual pages hold them, but not for the most part
_MAX_CONTROL_SHARE = 0.02
_MAX_TERMINAL_SHARE = 0.2
_MAX_UNDETECTED_SHARE = 0.3
_MAX_GARBLED_SHARE = 0.05
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
_GARBLED = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd-\uffff\ue000-\uf8ff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, and the encoding it was read with (Python's name for it)."""

    text: str
    encoding: str

    @property
    def metadata(self) -> Metadata:
        """What a document should say of its encoding: nothing when it is UTF-8."""
        return {} if self.encoding == "utf-8" else {"encoding": self.encoding}


def decode(data: bytes, declared: str = "") -> Decoded:
    """Decode text of unknown encoding; `declared` is what the document says of itself, used if it is not UTF-8.

    A file that is UTF-8 but for a few broken bytes is read as UTF-8 with U+FFFD for those.
    Raises ReadError of kind `unsupported` for bytes that are not text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _legible(Decoded(data[len(mark) :].decode(encoding, "replace"), encoding))
    wide = _wide_encoding(data[:_SAMPLE_BYTES])
    if wide:
        return _legible(Decoded(data.decode(wide, "replace"), wide))
    if looks_binary(data):
        raise _not_text()
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _decode_legacy(data, declared)


def looks_binary(sample: bytes) -> bool:
    """Return whether too many bytes are control codes.

    Too many are more than one in fifty of those that no text file holds, of which one alone is forgiven, or more than
    one in five of those that steer terminals.
    """
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    steering = len(sample) - len(sample.translate(None, _TERMINAL_CONTROLS))
    return controls > max(1.0, len(sample) * _MAX_CONTROL_SHARE) or steering > max(
        1.0, len(sample) * _MAX_TERMINAL_SHARE
    )


def _legible(decoded: Decoded) -> Decoded:
    """Return what was decoded. Raise ReadError when more than one character in twenty is one that no text holds."""
    sample = decoded.text[:_SAMPLE_BYTES]
    if len(_GARBLED.findall(sample)) > max(1.0, len(sample) * _MAX_GARBLED_SHARE):
        raise _not_text()
    return decoded


def _not_text() -> ReadError:
    return ReadError("the file is not text", "Convert it to one of the supported formats.", "unsupported")


def _wide_encoding(sample: bytes) -> str:
    """Recognize UTF-16 without a mark by where its zero bytes are; the empty string when it is not that."""
    pairs = len(sample) // 2
    if pairs == 0:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > pairs * 0.4 and even < pairs * 0.05:
        return "utf-16-le"
    if even > pairs * 0.4 and odd < pairs * 0.05:
        return "utf-16-be"
    return ""


def _decode_legacy(data: bytes, declared: str) -> Decoded:
    if _is_damaged_utf8(data):
        return Decoded(data.decode("utf-8", "replace"), "utf-8 with damaged bytes")
    encoding = _known(declared) or _detect(data)
    if not encoding and _is_mostly_high(data[:_SAMPLE_BYTES]):
        raise ReadError("the file is not text in any known encoding", "Save it as UTF-8.", "unsupported")
    return _legible(Decoded(data.decode(encoding or "cp1252", "replace"), encoding or "cp1252"))


def _is_mostly_high(sample: bytes) -> bool:
    """Return whether so much is beyond ASCII that a text's encoding would have been detected."""
    high = len(sample) - len(sample.translate(None, bytes(range(128, 256))))
    return high > max(_FEW_HIGH_BYTES, len(sample) * _MAX_UNDETECTED_SHARE)


def _is_damaged_utf8(data: bytes) -> bool:
    """Return whether good multi-byte sequences outnumber broken ones ten to one."""
    text = data[: _SAMPLE_BYTES * 4].decode("utf-8", "replace")
    broken = text.count("\ufffd")
    good = sum(1 for character in text if character > "\x7f") - broken
    return good >= 10 * broken


def _known(declared: str) -> str:
    """Return Python's name of a declared text encoding, or nothing; UTF-16 in an ASCII-readable label is a lie."""
    try:
        found = codecs.lookup(declared.strip()) if declared.strip() else None
    except (LookupError, ValueError):
        return ""
    if found is None or not found._is_text_encoding or found.name.startswith(("utf", "idna", "punycode")):  # noqa: SLF001 codecs says it nowhere else
        return ""
    # Browsers read Latin-1 labels as its superset cp1252, and pages are written for browsers.
    return {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}.get(found.name, found.name)


def _detect(data: bytes) -> str:
    """Guess the encoding from the first lines with non-ASCII bytes; nothing when those bytes are too few."""
    first = _HIGH_BYTE.search(data)
    if first is None:
        return ""
    # Whole lines: a line feed is no part of any character in the encodings that are looked for.
    sample = data[data.rfind(b"\n", 0, first.start()) + 1 :][:_SAMPLE_BYTES]
    if len(sample) == _SAMPLE_BYTES:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    high = len(sample) - len(sample.translate(None, bytes(range(128, 256))))
    if high < _FEW_HIGH_BYTES:
        return ""
    from charset_normalizer import from_bytes

    matches = from_bytes(sample, cp_isolation=list(_LEGACY))
    best = matches.best()
    if best is None:
        return ""
    western = next((match for match in matches if match.encoding == "cp1252"), None)
    # Western and Central European texts share most letters; a tie goes to the encoding that is far more common.
    if western is not None and western.chaos <= best.chaos and western.coherence >= best.coherence:
        return "cp1252"
    return str(best.encoding)
