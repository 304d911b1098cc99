"""Filters that a question says in words: `from 2022`, `since March 2023`, `pdf files`, `in the folder reports`.

They are read by rule, in English. A phrase that says where to look is taken out of the question and becomes a filter,
which the result names: what is read so may be meant as a word, as in `net sales in 2022` of a report from 2023, so it
is asked for, and any phrase can be kept. A period counts for any of the fields that usually hold a document's date.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import Condition, Filter, Operator, Or
from twofold.query.filter_syntax import render
from twofold.query.operators import all_of
from twofold.query.value_parsing import Period, read_period

DATE_FIELDS: Final = ("modified", "last_modified", "date", "published", "created")
SUFFIXES: Final[Mapping[str, tuple[str, ...]]] = {
    "pdf": (".pdf",),
    "word": (".docx", ".doc", ".odt", ".rtf"),
    "excel": (".xlsx", ".xls", ".xlsb", ".ods"),
    "powerpoint": (".pptx", ".ppt", ".odp"),
    "markdown": (".md", ".markdown"),
    "html": (".html", ".htm"),
    "text": (".txt",),
    "csv": (".csv",),
    "json": (".json", ".jsonl"),
    "python": (".py",),
    "epub": (".epub",),
}
_MONTHS: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december".split("|")  # noqa: SIM905
)
_DATE: Final = rf"(?:(?:{'|'.join(_MONTHS)})\s+)?[12]\d{{3}}(?:-\d{{2}}(?:-\d{{2}})?)?"
_TYPE: Final = re.compile(
    rf"\b(?:(?:only\s+)?(?:in|from|as|among)\s+(?:the\s+)?)?({'|'.join(SUFFIXES)})\s+(?:files?|documents?|docs)\b",
    re.IGNORECASE,
)
_FOLDER: Final = re.compile(
    r"\b(?:in|from|under|of)\s+(?:the\s+)?(?:(?:folder|directory)\s+([\w./-]+[\w])|([\w./-]*\w)\s+(?:folder|directory))\b",
    re.IGNORECASE,
)
_BETWEEN: Final = re.compile(
    rf"\b(?:between\s+({_DATE})\s+and|from\s+({_DATE})\s+(?:to|until|till))\s+({_DATE})\b(?![-.]?\w)", re.IGNORECASE
)
_WHEN: Final = re.compile(rf"\b(from|in|of|during|since|after|before|until)\s+({_DATE})\b(?![-.]?\w)", re.IGNORECASE)
_OPERATORS: Final[Mapping[str, Operator]] = {
    "since": Operator.GE,
    "after": Operator.GT,
    "before": Operator.LT,
    "until": Operator.LE,
}


def extracted(question: str, keep: Sequence[str] = ()) -> tuple[str, tuple[tuple[str, str], ...], Filter]:
    """Return the question without the phrases that say where to look, these with their filters, and all filters joined.

    The question itself comes back, with no filter, where nothing else would be left of it.

    >>> rest, said, _ = extracted("travel rules in pdf files from 2022")
    >>> rest, [phrase for phrase, _ in said]
    ('travel rules', ['in pdf files', 'from 2022'])
    """
    kept = {" ".join(one.lower().split()) for one in keep}
    found: list[tuple[int, int, Filter]] = []
    for start, end, condition in _read(question):
        phrase = " ".join(question[start:end].lower().split())
        if phrase not in kept and not any(start < last and first < end for first, last, _ in found):
            found.append((start, end, condition))
    found.sort(key=lambda one: one[0])
    rest = _without(question, found)
    if not found or not any(map(str.isalnum, rest)):
        return question, (), all_of()
    said = tuple((question[start:end], render(condition)) for start, end, condition in found)
    return rest, said, all_of(*(condition for _, _, condition in found))


def _without(question: str, found: Sequence[tuple[int, int, Filter]]) -> str:
    parts, at = [], 0
    for start, end, _ in found:
        parts.append(question[at:start])
        at = end
    return " ".join("".join([*parts, question[at:]]).split()) if found else question


def _read(question: str) -> Iterator[tuple[int, int, Filter]]:
    """Yield what can be read, the longer forms first; a quoted part is never read."""
    readers: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str]], Filter | None]]] = (
        (_BETWEEN, _between),
        (_FOLDER, _folder),
        (_TYPE, _type),
        (_WHEN, _when),
    )
    quoted = [match.span() for match in re.finditer(r'"[^"]*"', question)]
    for pattern, read in readers:
        for match in pattern.finditer(question):
            start, end = match.span()
            if any(first < end and start < last for first, last in quoted):
                continue
            condition = read(match)
            if condition is not None:
                yield start, end, condition


def _type(match: re.Match[str]) -> Filter:
    tests = tuple(Condition("type", Operator.EQ, suffix) for suffix in SUFFIXES[match[1].lower()])
    return tests[0] if len(tests) == 1 else Or(tests)


def _folder(match: re.Match[str]) -> Filter | None:
    name = (match[1] or match[2]).strip("./")
    if not name or name.lower() in {"the", "this", "that", "a", "which", "same"}:
        return None
    tests = (Condition("source", Operator.PREFIX, f"{name}/"), Condition("source", Operator.CONTAINS, f"/{name}/"))
    return Or(tests)


def _when(match: re.Match[str]) -> Filter | None:
    period = _period(match[2])
    return None if period is None else _dated(period, _OPERATORS.get(match[1].lower(), Operator.EQ))


def _between(match: re.Match[str]) -> Filter | None:
    first, last = _period(match[1] or match[2]), _period(match[3])
    if first is None or last is None or last.end <= first.start:
        return None
    return Or(tuple(all_of(first.test(field, Operator.GE), last.test(field, Operator.LE)) for field in DATE_FIELDS))


def _period(text: str) -> Period | None:
    """Read `2022`, `2022-05-01` or `May 2022`; None for what is in no calendar."""
    month, _, year = text.lower().rpartition(" ")
    written = f"{year}-{_MONTHS.index(month.strip()) + 1:02}" if month.strip() in _MONTHS else text
    try:
        return read_period(written)
    except InvalidInputError:
        return None


def _dated(period: Period, operator: Operator) -> Filter:
    return Or(tuple(period.test(field, operator) for field in DATE_FIELDS))
