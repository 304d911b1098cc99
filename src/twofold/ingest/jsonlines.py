"""JSON and JSON Lines: one block for each record, well-known fields recognised, the rest as `path: value` lines."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind, Metadata
from twofold.ingest.decode import decode
from twofold.ingest.front_matter import plain_metadata
from twofold.ingest.reading import Extract, Source, TextBuilder, clean, one_line

_TEXT_FIELDS = ("text", "content", "body", "page_content", "contents", "passage", "abstract", "description")
_TITLE_FIELDS = ("title", "name", "headline", "subject", "label")
_ID_FIELDS = ("_id", "id", "uuid", "key", "doc_id", "docid")
_REMEDY = "Mend the file, or rename it to .txt to have it read as it is."

Json = Any


def read_json(source: Source) -> Extract:
    """Read a JSON file: an array's items are its records, else an object's only list of objects, else the whole."""
    decoded = decode(source.data)
    held = _parse(clean(decoded.text), "the file")
    records = _records(held)
    metadata = plain_metadata(_fields_for_metadata(records[0])) if len(records) == 1 else {}
    title = _first_text(records[0], _TITLE_FIELDS) if len(records) == 1 else ""
    return _extract(iter(records), title, {**decoded.metadata, **metadata})


def read_json_lines(source: Source) -> Extract:
    """Read JSON Lines: each line that is not empty is a record."""
    decoded = decode(source.data)
    lines = enumerate(clean(decoded.text).split("\n"), 1)
    records = (_parse(line, f"line {number}") for number, line in lines if line.strip())
    return _extract(records, "", decoded.metadata)


def _parse(text: str, what: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) and error.lineno > 1 else ""
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deep or a number too long"
        raise ReadError(f"{what} is not valid JSON: {reason}{place}", _REMEDY) from error


def _records(held: Json) -> list[Json]:
    """Find the records; what stands beside an object's list of them comes first, as a record of its own."""
    if isinstance(held, list):
        return held
    if isinstance(held, dict) and _text_field(held) is None:
        lists = [
            name for name, value in held.items() if isinstance(value, list) and value and isinstance(value[0], dict)
        ]
        if len(lists) == 1:
            beside = {name: value for name, value in held.items() if name != lists[0]}
            return [*([beside] if beside else []), *held[lists[0]]]
    return [held]


def _extract(records: Iterator[Json], title: str, metadata: Metadata) -> Extract:
    builder = TextBuilder()
    for number, record in enumerate(records, 1):
        own_title = _first_text(record, _TITLE_FIELDS)
        own_id = _first_text(record, _ID_FIELDS)
        place = f"record {number}" + (f" ({own_id[:80]})" if own_id else "")
        heading = (own_title,) if own_title else ()
        builder.add(BlockKind.PARAGRAPH, _render_record(record), heading=heading, place=place)
    return builder.extract(title, metadata)


def _render_record(record: Json) -> str:
    if not isinstance(record, dict):
        return "\n".join(_lines("", record))
    main = _text_field(record)
    rest = {name: value for name, value in record.items() if name != main and value not in (None, "", [], {})}
    lines = list(_lines("", rest))
    return "\n".join([record[main], *lines]) if main else "\n".join(lines)


def _text_field(record: Mapping[str, Json]) -> str | None:
    """Find the field that holds a record's text, whatever its capitals."""
    names = {name.lower(): name for name in record}
    for candidate in _TEXT_FIELDS:
        name = names.get(candidate)
        if name is not None and isinstance(record[name], str) and record[name].strip():
            return name
    return None


def _first_text(record: Json, candidates: tuple[str, ...]) -> str:
    """Give the first of the fields that holds a short text or a whole number."""
    if not isinstance(record, dict):
        return ""
    names = {name.lower(): name for name in record}
    for candidate in candidates:
        value = record.get(names.get(candidate, ""))
        if isinstance(value, str | int) and not isinstance(value, bool) and 0 < len(text := _scalar(value)) < 300:  # noqa: PLR2004 longer is no title
            return one_line(text)
    return ""


def _fields_for_metadata(record: Json) -> Mapping[str, Json]:
    if not isinstance(record, dict):
        return {}
    main = _text_field(record)
    return {
        name: value
        for name, value in record.items()
        if name != main and name.lower() != "title" and not (isinstance(value, str) and len(value) > 300)  # noqa: PLR2004 longer is text
    }


def _lines(path: str, value: Json) -> Iterator[str]:
    """Flatten a value into `path: value` lines, in order and without recursion."""
    waiting = [(path, value)]
    while waiting:
        at, held = waiting.pop()
        if isinstance(held, dict):
            prefix = f"{at}." if at else ""
            waiting.extend((f"{prefix}{name}", inner) for name, inner in reversed(held.items()))
        elif isinstance(held, list) and any(isinstance(inner, dict | list) for inner in held):
            waiting.extend((f"{at}[{number}]", inner) for number, inner in reversed(list(enumerate(held))))
        else:
            text = ", ".join(map(_scalar, held)) if isinstance(held, list) else _scalar(held)
            if text:
                yield f"{at}: {text}" if at else text


def _scalar(value: Json) -> str:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, bool | int | float) else str(value)
