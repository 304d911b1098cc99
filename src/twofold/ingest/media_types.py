"""The media types twofold reads, and the names, marks and suffixes they are known by. Tables only."""

from types import MappingProxyType

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
XLS = "application/vnd.ms-excel"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODP = "application/vnd.oasis.opendocument.presentation"
EPUB = "application/epub+zip"
RTF = "application/rtf"
HTML = "text/html"
XML = "application/xml"
MARKDOWN = "text/markdown"
ASCIIDOC = "text/asciidoc"
REST = "text/x-rst"
LATEX = "application/x-tex"
MAN = "text/troff"
PLAIN = "text/plain"
CSV = "text/csv"
TSV = "text/tab-separated-values"
JSON = "application/json"
JSON_LINES = "application/jsonl"
NOTEBOOK = "application/x-ipynb+json"
SRT = "application/x-subrip"
VTT = "text/vtt"
EML = "message/rfc822"
MBOX = "application/mbox"
PYTHON = "text/x-python"
PNG = "image/png"
JPEG = "image/jpeg"
TIFF = "image/tiff"
WAV = "audio/wav"
PICTURES = frozenset({PNG, JPEG, TIFF})
"""Files that are one picture or more: their text is recognized."""

CODE_SUFFIXES = MappingProxyType(
    {
        ".py": PYTHON,
        ".pyi": PYTHON,
        ".pyw": PYTHON,
        ".c": "text/x-c",
        ".h": "text/x-c",
        ".cc": "text/x-c++",
        ".cpp": "text/x-c++",
        ".cxx": "text/x-c++",
        ".hh": "text/x-c++",
        ".hpp": "text/x-c++",
        ".cs": "text/x-csharp",
        ".java": "text/x-java",
        ".kt": "text/x-kotlin",
        ".kts": "text/x-kotlin",
        ".scala": "text/x-scala",
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".cjs": "text/javascript",
        ".jsx": "text/javascript",
        ".ts": "text/x-typescript",
        ".tsx": "text/x-typescript",
        ".go": "text/x-go",
        ".rs": "text/x-rust",
        ".swift": "text/x-swift",
        ".php": "text/x-php",
        ".rb": "text/x-ruby",
        ".pl": "text/x-perl",
        ".pm": "text/x-perl",
        ".lua": "text/x-lua",
        ".r": "text/x-r",
        ".jl": "text/x-julia",
        ".sh": "text/x-sh",
        ".bash": "text/x-sh",
        ".zsh": "text/x-sh",
        ".ps1": "text/x-powershell",
        ".sql": "text/x-sql",
        ".css": "text/css",
        ".scss": "text/css",
        ".dart": "text/x-dart",
        ".zig": "text/x-zig",
        ".hs": "text/x-haskell",
        ".ex": "text/x-elixir",
        ".exs": "text/x-elixir",
        ".vue": "text/x-vue",
        ".proto": "text/x-protobuf",
        ".yaml": "text/x-yaml",
        ".yml": "text/x-yaml",
        ".toml": "text/x-toml",
        ".ini": "text/x-ini",
        ".cfg": "text/x-ini",
        ".conf": "text/x-ini",
        ".jsonc": "text/x-jsonc",
        ".json5": "text/x-jsonc",
        ".tf": "text/x-terraform",
        ".diff": "text/x-diff",
        ".patch": "text/x-diff",
    }
)
CODE = frozenset(CODE_SUFFIXES.values())

SUFFIXES = MappingProxyType(
    {
        **CODE_SUFFIXES,
        ".pdf": PDF,
        ".rtf": RTF,
        ".html": HTML,
        ".htm": HTML,
        ".xhtml": HTML,
        ".xml": XML,
        ".svg": XML,
        ".md": MARKDOWN,
        ".markdown": MARKDOWN,
        ".mdx": MARKDOWN,
        ".qmd": MARKDOWN,
        ".rmd": MARKDOWN,
        ".adoc": ASCIIDOC,
        ".asciidoc": ASCIIDOC,
        ".asc": ASCIIDOC,
        ".rst": REST,
        ".rest": REST,
        ".tex": LATEX,
        ".latex": LATEX,
        ".ltx": LATEX,
        ".txt": PLAIN,
        ".text": PLAIN,
        ".log": PLAIN,
        ".csv": CSV,
        ".tsv": TSV,
        ".tab": TSV,
        ".json": JSON,
        ".geojson": JSON,
        ".jsonl": JSON_LINES,
        ".ndjson": JSON_LINES,
        ".ipynb": NOTEBOOK,
        ".srt": SRT,
        ".vtt": VTT,
        ".eml": EML,
        ".mbox": MBOX,
    }
)

ODF = frozenset({ODT, ODS, ODP, f"{ODT}-template", f"{ODS}-template", f"{ODP}-template"})

OOXML = (
    ("word/document.xml", DOCX),
    ("word/document2.xml", DOCX),
    ("ppt/presentation.xml", PPTX),
    ("xl/workbook.xml", XLSX),
    ("xl/workbook.bin", XLSB),
)

_OLD_OFFICE = "Save it as .docx, .pptx or .pdf."
OLE_KINDS = (
    ("EncryptedPackage", "", "the Office file is locked with a password", "Save a copy without a password."),
    ("WordDocument", "", "Word files older than 2007 (.doc) cannot be read", _OLD_OFFICE),
    ("PowerPoint Document", "", "PowerPoint files older than 2007 (.ppt) cannot be read", _OLD_OFFICE),
    ("Workbook", XLS, "", ""),
    ("Book", XLS, "", ""),
    ("__substg1.0_", "", "Outlook's .msg files cannot be read", "Save the message as .eml."),
)

SHEBANGS = (
    ("python", PYTHON),
    ("bash", "text/x-sh"),
    ("zsh", "text/x-sh"),
    ("/sh", "text/x-sh"),
    ("env sh", "text/x-sh"),
    ("node", "text/javascript"),
    ("perl", "text/x-perl"),
    ("ruby", "text/x-ruby"),
    ("Rscript", "text/x-r"),
)

RECORDINGS = (".mp3", ".ogg", ".oga", ".opus", ".flac", ".m4a", ".aac", ".wma")
"""Suffixes of recordings that need a decoder."""

CLAIMS = MappingProxyType(
    {
        ".pdf": "a PDF document",
        ".rtf": "an RTF document",
        **dict.fromkeys((".doc", ".docx", ".docm", ".dotx"), "a Word document"),
        **dict.fromkeys((".xlsx", ".xlsm", ".xlsb"), "an Excel workbook"),
        **dict.fromkeys((".ppt", ".pptx", ".pptm", ".ppsx"), "a PowerPoint presentation"),
        **dict.fromkeys((".odt", ".ods", ".odp", ".ott"), "an OpenDocument file"),
        ".epub": "an EPUB book",
        ".msg": "an Outlook message",
        **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".bmp", ".webp", ".heic"), "an image"),
        **dict.fromkeys((".wav", *RECORDINGS), "a recording"),
        **dict.fromkeys((".mp4", ".mkv", ".mov", ".avi", ".webm"), "a film"),
        **dict.fromkeys((".zip", ".tar", ".gz", ".tgz", ".7z", ".rar", ".xz", ".zst", ".bz2"), "an archive"),
        **dict.fromkeys((".exe", ".dll", ".so", ".dylib", ".wasm", ".class", ".pyc"), "a program"),
        **dict.fromkeys((".sqlite", ".sqlite3"), "an SQLite database"),
    }
)
"""Suffixes of formats that no text editor writes, and what a file with such a name claims to be."""

PICTURE_MAGIC = (
    (b"\x89PNG\r\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
)

RECORDING_MAGIC = ((b"ID3", "an MP3 recording"), (b"OggS", "an Ogg recording"), (b"fLaC", "a FLAC recording"))

BINARY_MAGIC = (
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh91AY&SY", "a bzip2 archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xfd7zXZ\x00", "an XZ archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\x00asm", "a program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"RIFF", "a RIFF recording or image"),
    (b"\x1aE\xdf\xa3", "a Matroska film"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
)
