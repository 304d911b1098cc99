"""Fiscal years in short form: a reader sees the year 2022 in `FY2022`, and both retrievers one unknown word.

Reports write "2022" or "fiscal 2022" over their columns. BM25 gets the year as a word of its own next to what was
typed, and the embedder reads the form written out: it knows `fiscal` and `2022`, and cuts `fy2022` into splinters.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

_SHORT = re.compile(r"(?<![\w.])FY(?:\s?((?:19|20)\d\d)|['\u2019]?(\d\d))(?!\w)", re.IGNORECASE)
_FIRST_OF_A_CENTURY = 70  # FY70 is 1970, FY69 is 2069


def written_out(text: str) -> str:
    """Return a text with its fiscal years in words.

    >>> written_out("FY2022 and FY23, not the FYI or an Fy7")
    'fiscal year 2022 and fiscal year 2023, not the FYI or an Fy7'
    """
    return _SHORT.sub(lambda found: f"fiscal year {_year(found)}", text)


def with_years(query: Callable[[str], Mapping[str, float]]) -> Callable[[str], Mapping[str, float]]:
    """Return what weighs a question's terms as `query` does, and the years of its fiscal years with them."""

    def weigh(text: str) -> Mapping[str, float]:
        years = " ".join(map(_year, _forms(text)))
        return {**query(years), **query(text)} if years else query(text)

    return weigh


def notes_on(text: str) -> Iterator[str]:
    """Yield, for the trace, each short form of a text once with what it is searched for as well."""
    for form, year in dict.fromkeys((found[0], _year(found)) for found in _forms(text)):
        yield f"{form} stands for fiscal year {year} too"


def _forms(text: str) -> Iterable[re.Match[str]]:
    return _SHORT.finditer(text) if "fy" in text.lower() else ()


def _year(found: re.Match[str]) -> str:
    whole, short = found.groups()
    if whole:
        return str(whole)
    return f"{'19' if int(short) >= _FIRST_OF_A_CENTURY else '20'}{short}"
