"""Jupyter notebooks, rendered as Markdown: text cells as they are, code and printed output in fences."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from twofold.domain.errors import ReadError
from twofold.domain.types import Metadata
from twofold.ingest.decode import decode
from twofold.ingest.readers.markdown import extract_markdown
from twofold.ingest.readers.types import Extract, Source, clean

_TICKS = re.compile(r"`{3,}")
_ESCAPE_CODES = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_MAX_OUTPUT = 20_000  # characters of one cell's output; progress bars and dumps fill megabytes


def read_notebook(source: Source) -> Extract:
    """Read a notebook. Blocks lie under the headings of its text cells; places are `cell 3`, counted from 1."""
    cells, language, metadata = _parse(source)
    parts: list[str] = []
    starts: list[int] = []
    numbers: list[int] = []
    length = 0
    for number, cell in enumerate(cells, 1):
        body = clean("\n\n".join(_render_cell(cell, language)))
        if body:
            starts.append(length)
            numbers.append(number)
            parts.append(body)
            length += len(body) + 2
    whole = extract_markdown("\n\n".join(parts), metadata)
    blocks = (replace(block, place=f"cell {numbers[bisect_right(starts, block.start) - 1]}") for block in whole.blocks)
    return replace(whole, blocks=tuple(blocks))


def _parse(source: Source) -> tuple[list[Any], str, Metadata]:
    decoded = decode(source.data)
    try:
        held = json.loads(decoded.text)
    except (ValueError, RecursionError) as error:
        raise ReadError("the notebook is not valid JSON", "Open it in Jupyter and save it again.") from error
    cells = held.get("cells") if isinstance(held, dict) else None
    if cells is None and isinstance(held, dict) and isinstance(held.get("worksheets"), list):
        sheets = (sheet for sheet in held["worksheets"] if isinstance(sheet, dict))
        cells = [cell for sheet in sheets for cell in _as_list(sheet.get("cells"))]
    if not isinstance(cells, list):
        raise ReadError("the notebook has no cells", "Open it in Jupyter and save it again.")
    return cells, _language(held.get("metadata")), decoded.metadata


def _language(metadata: Any) -> str:  # noqa: ANN401 parsed JSON
    for name, field in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(name) if isinstance(metadata, dict) else None
        language = part.get(field) if isinstance(part, dict) else None
        if isinstance(language, str) and language.isidentifier():
            return language
    return ""


def _render_cell(cell: Any, language: str) -> Iterator[str]:  # noqa: ANN401 parsed JSON
    if not isinstance(cell, dict):
        return
    body = _joined(cell.get("source", cell.get("input")))
    if cell.get("cell_type") != "code":
        if body.strip():
            yield body.strip("\n")
        return
    if body.strip():
        yield _fenced(body.strip("\n"), language)
    outputs = "\n".join(filter(None, (_output_text(output).strip("\n") for output in _as_list(cell.get("outputs")))))
    if outputs.strip():
        yield _fenced(outputs[:_MAX_OUTPUT], "")


def _output_text(output: Any) -> str:  # noqa: ANN401 parsed JSON
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
    data = output.get("data")
    text = output.get("text", data.get("text/plain") if isinstance(data, dict) else None)
    return _ESCAPE_CODES.sub("", _joined(text))


def _joined(value: Any) -> str:  # noqa: ANN401 parsed JSON
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _as_list(value: Any) -> list[Any]:  # noqa: ANN401 parsed JSON
    return value if isinstance(value, list) else []


def _fenced(body: str, language: str) -> str:
    longest = max((len(run) for run in _TICKS.findall(body)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"
