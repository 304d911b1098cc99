"""Charts of Office files as tables: a column for each series, a row for each category."""

from collections.abc import Sequence
from itertools import islice
from xml.etree.ElementTree import Element

from twofold.ingest.readers.xmltree import number_of, text_of

_MAX_POINTS = 5_000
_MAX_SERIES = 64


def chart_title(root: Element) -> str:
    """Return a chart's own title, or ""."""
    title = root.find(".//chart/title")
    return "" if title is None else "".join(text_of(part) for part in title.iter("t"))


def chart_rows(root: Element) -> list[list[str]]:
    """Return a chart's values as rows, the names of its series first; nothing for a chart without series."""
    series = list(islice(root.iter("ser"), _MAX_SERIES))
    if not series:
        return []
    names = [" ".join(_points(one, ("tx",))) for one in series]
    columns = [_points(one, ("val", "yVal")) for one in series]
    labels: Sequence[str] = next((found for one in series if (found := _points(one, ("cat", "xVal")))), [])
    rows = max(len(labels), *map(len, columns))
    table = [[_at(labels, row), *(_at(column, row) for column in columns)] for row in range(rows)]
    return [["", *names], *table]


def _at(values: Sequence[str], index: int) -> str:
    return values[index] if index < len(values) else ""


def _points(series: Element, names: Sequence[str]) -> list[str]:
    """Return cached points in the order of their index, gaps empty."""
    found = next((part for name in names if (part := series.find(name)) is not None), None)
    if found is None:
        return []
    points = {number_of(point, "idx"): _tidy(text_of(point.find("v"))) for point in found.iter("pt")}
    if not points:
        return [text_of(value) for value in found.iter("v")]
    return [points.get(index, "") for index in range(min(max(points) + 1, _MAX_POINTS))]


def _tidy(text: str) -> str:
    """Write a figure with at most twelve digits: `4.4000000000000004` is `4.4`."""
    try:
        return f"{float(text):.12g}" if "." in text else text
    except ValueError:
        return text
