"""Markers that cite: `[1]`, `[1, 3]`, `[^2]`, `[Source: report.pdf, p.3]`; what each points to."""

import re
from collections.abc import Sequence

from twofold.answer.types import Source

MAX_NUMBERS = 64
_NUMBERS = (
    r"\^?(?:passages?|documents?|docs?|sources?|refs?|references?)?[ \t:#]{0,3}\d{1,4}"
    r"(?:[ \t]{0,3}[,;&\u2013\u2014-][ \t]{0,3}\^?[+\u2212-]?\d{1,4}){0,32}"
)
_SIGNED = r"(?<![\w\])])\[[ \t]{0,3}[+\u2212\u2013-][ \t]{0,1}\d{1,4}[ \t]{0,3}\]"  # `items[-1]` is no marker
MARKER = re.compile(
    rf"{_SIGNED}|[\[\u3010\uff3b][ \t]{{0,3}}{_NUMBERS}[ \t]{{0,3}}(?:\u2020[^\]\u3011]{{0,80}})?[\]\u3011\uff3d]"
    r"|[\[(\u3010\uff3b][ \t]{0,3}sources?[ \t]{0,3}:[^\[\]()\u3010\u3011]{0,300}"
    r"(?:\([^()\[\]]{0,80}\)[^\[\]()]{0,120})?[\])\u3011\uff3d]",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d{1,4})\s{0,3}[\u2013\u2014-]\s{0,3}(\d{1,4})")
_PAGE = re.compile(r",?\s*(?:p\.?|pp\.?|page)\s*(\d{1,6})\s*$", re.IGNORECASE)


def resolve(marker: str, sources: Sequence[Source]) -> tuple[int, ...]:
    """Return the numbers of the sources that a marker points to, in its order; none for one that points nowhere.

    `[2, 9]` with three sources gives (2,), `[-1]` none, `[Source: report.pdf, p.3]` every source of that file and page.
    """
    inside = marker[1:-1].strip()
    kind, colon, rest = inside.partition(":")
    if colon and kind.strip().lower() in {"source", "sources"} and not rest.strip().isdecimal():
        return tuple(number for named in rest.split(";") for number in _named(named, sources))
    known = {one.number for one in sources}
    wanted: list[int] = []
    spread = _RANGE.sub(lambda found: _spread(int(found[1]), int(found[2])), inside.partition("\u2020")[0])
    for number in map(int, re.findall(r"(?<![\d+\u2212\u2013-])\d{1,4}", spread)[:MAX_NUMBERS]):
        if number in known and number not in wanted:
            wanted.append(number)
    return tuple(wanted)


def _spread(first: int, last: int) -> str:
    return " ".join(map(str, range(first, min(last, first + MAX_NUMBERS) + 1)))


def _named(text: str, sources: Sequence[Source]) -> tuple[int, ...]:
    named = text.partition("|")[0].strip()
    page = _PAGE.search(named)
    name = (named[: page.start()] if page else named).strip().strip("\"'`").casefold()
    return tuple(
        one.number
        for one in sources
        if name
        and name in {one.filename.casefold(), one.source.casefold()}
        and (page is None or any(part.page == int(page[1]) for part in one.parts))
    )
