"""JSON and JSON Lines: one block for each record, well-known fields recognized, the rest as `path: value` lines.

A record's scalars and lists of scalars are also fields of its passages, to filter by.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind, Metadata
from twofold.ingest.decode import decode
from twofold.ingest.readers.front_matter import plain_metadata
from twofold.ingest.readers.types import Extract, Source, TextBuilder, clean, one_line

_TEXT_FIELDS = (
    "text", "content", "body", "page_content", "chunk_text", "contents", "passage", "chunk", "abstract", "description",
)  # fmt: skip
_TITLE_FIELDS = ("title", "name", "headline", "subject", "label")
_ID_FIELDS = ("_id", "id", "chunk_id", "uuid", "key", "doc_id", "docid")
MAX_FIELDS = 64
MAX_VALUES = 100
MAX_VALUE_LENGTH = 300  # characters; longer is text
_MIN_VECTOR = 16  # this many numbers in a row are a vector, which nobody searches for or filters by
_REMEDY = "Correct the file, or rename it to .txt to have it read as it is."

Json = Any


def read_json(source: Source) -> Extract:
    """Read a JSON file: an array's items are its records, else an object's only list of objects, else the whole."""
    decoded = decode(source.data)
    held = _parse(clean(decoded.text), "the file")
    records = _records(held)
    if len(records) != 1:
        return _extract(map(_without_vectors, records), decoded.metadata)
    (record,) = map(_without_vectors, records)
    fields = {name: value for name, value in _fields(record).items() if name.lower() != "title"}
    builder = TextBuilder()
    _add(builder, 1, record, {})
    return builder.extract(_first_text(record, _TITLE_FIELDS), {**decoded.metadata, **fields})


def read_json_lines(source: Source) -> Extract:
    """Read JSON Lines: each line that is not empty is a record."""
    decoded = decode(source.data)
    lines = enumerate(clean(decoded.text).split("\n"), 1)
    records = (_parse(line, f"line {number}") for number, line in lines if line.strip())
    return _extract(map(_without_vectors, records), decoded.metadata)


def _parse(text: str, what: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) and error.lineno > 1 else ""
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deep or a number too long"
        raise ReadError(f"{what} is not valid JSON: {reason}{place}", _REMEDY) from error


def _records(held: Json) -> list[Json]:
    """Find the records; the other fields of an object with a list of them come first, as a record of its own."""
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


def _extract(records: Iterable[Json], metadata: Metadata) -> Extract:
    builder = TextBuilder()
    for number, record in enumerate(records, 1):
        _add(builder, number, record, _fields(record))
    return builder.extract("", metadata)


def _add(builder: TextBuilder, number: int, record: Json, fields: Metadata) -> None:
    own_title = _first_text(record, _TITLE_FIELDS)
    own_id = _first_text(record, _ID_FIELDS)
    place = f"record {number}" + (f" ({own_id[:80]})" if own_id else "")
    heading = (own_title,) if own_title else ()
    builder.add(BlockKind.PARAGRAPH, _render_record(record), heading=heading, place=place, metadata=fields)


def _without_vectors(record: Json) -> Json:
    if not isinstance(record, dict):
        return record
    return {name: value for name, value in record.items() if not _is_vector(value)}


def _is_vector(value: Json) -> bool:
    return isinstance(value, list) and len(value) >= _MIN_VECTOR and all(type(one) in (int, float) for one in value)


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
    """Return the first of the fields that holds a short text or a whole number."""
    if not isinstance(record, dict):
        return ""
    names = {name.lower(): name for name in record}
    for candidate in candidates:
        value = record.get(names.get(candidate, ""))
        if isinstance(value, str | int) and not isinstance(value, bool) and 0 < len(text := _scalar(value)) < 300:  # noqa: PLR2004 longer is no title
            return one_line(text)
    return ""


def _fields(record: Json) -> Metadata:
    """Return what to filter a record by: scalars and lists of scalars, at most 64 fields of at most 100 short values.

    The text itself is not one of them. What stands under `metadata` counts as fields of the record.
    """
    if not isinstance(record, dict):
        return {}
    main = _text_field(record)
    nested = record.get("metadata")
    beside = {**(nested if isinstance(nested, dict) else {}), **record}
    kept = {name: _short(value) for name, value in beside.items() if name != main}
    return dict(islice(plain_metadata(kept).items(), MAX_FIELDS))


def _short(value: Json) -> Json:
    """Return a value that is short enough to filter by, with the long ones of a list left out; None for another."""
    if isinstance(value, list):
        return [one for one in value if one is not None and _short(one) is not None][:MAX_VALUES]
    return None if isinstance(value, dict) or (isinstance(value, str) and len(value) > MAX_VALUE_LENGTH) else value


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
