"""What a file's name says of its document: `ADOBE_2022_10K.pdf` is "Adobe 2022 10-K".

The name stands in front of the heading path of each passage where it says what the title does not: a table on page 60
of an annual report names neither the company nor the year.
"""

import re

_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}(?:(?<=\.log)\.\d{1,3})?(?:\.(?:gz|bz2|xz))?$")
_MARKS = re.compile(r"[\s_+,;()\[\]{}]+|(?<=[^\d\W])[-.](?=\w)|(?<=\d)[-.](?=[^\d\W])|-{2,}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z]|(?:19|20)\d\d$)")
_QUARTER = re.compile(
    r"(?<=\d{4})(?=[QH][1-4]$)|(?<=[QH][1-4])(?=(?:19|20)\d\d$)|(?<=^FY)(?=(?:19|20)\d\d$)", re.IGNORECASE
)
_FORM = re.compile(r"(10|20|40|8|6)-?([KQF])(/?A)?", re.IGNORECASE)
_HASH = re.compile(r"(?=.*\d)[0-9a-f]{8,}(?:-[0-9a-f]{4,})*", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_MAX_CAPITALS = 3  # longer words in capitals are words, these are abbreviations
_MAX_WORDS = 12
_NO_WORDS = frozenset({
    "copy", "doc", "document", "draft", "dsc", "file", "final", "html", "img", "index", "kopie", "main", "new", "page",
    "pdf", "readme", "rev", "scan", "tmp", "untitled", "version",
})  # fmt: skip


def words_of_name(source: str) -> tuple[str, ...]:
    """Return the words of a file's name; none where it is no file's name or says too little.

    >>> words_of_name("filings/ADOBE_2022_10K.pdf")
    ('Adobe', '2022', '10-K')
    >>> words_of_name("notes.md"), words_of_name("4983")
    ((), ())
    """
    name = source.replace("\\", "/").rpartition("/")[2]
    if not _SUFFIX.search(name):
        return ()
    stem = _SUFFIX.sub("", name)
    words = [shown for part in _MARKS.split(stem) for shown in _split(part) if not _HASH.fullmatch(part)]
    telling = [word for word in words if word.casefold() not in _NO_WORDS]
    if not (1 < len(telling) <= _MAX_WORDS and any(_LETTER.search(word) for word in telling)):
        return ()
    return tuple(telling)


def document_name(source: str, title: str) -> str:
    """Return a file's name as words where it says what the title does not: a number, or nothing of what it says.

    >>> document_name("3M_2018_10K.pdf", "10-K - 02/07/2019 - 3M Company")
    '3M 2018 10-K'
    >>> document_name("backup-dump.html", "SQL Dump")
    ''
    """
    words, known = words_of_name(source), _plain(title)
    missing = [word for word in words if _plain(word) not in known]
    tells = len(missing) == len(words) or any(_DIGIT.search(word) for word in missing)
    return " ".join(words) if missing and tells else ""


def _split(part: str) -> list[str]:
    return [_shown(word) for camel in _CAMEL.split(part) for word in _QUARTER.split(camel) if word.strip("-.")]


def _shown(word: str) -> str:
    word = word.strip("-.")
    form = _FORM.fullmatch(word)
    if form:
        return f"{form[1]}-{form[2].upper()}{(form[3] or '').upper()}"
    return word.capitalize() if word.isalpha() and word.isupper() and len(word) > _MAX_CAPITALS else word


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
