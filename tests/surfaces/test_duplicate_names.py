"""A name that stands twice in one JSON object is refused wherever JSON is given: readers differ in which one counts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twofold.config.load import load_settings
from twofold.domain.errors import InvalidInputError
from twofold.query.filter_json import parse_json_filter

Run = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("ready")
FILTERS = [
    '{"file_type": [".md"], "file_type": [".txt"]}',
    '{"and": [{"field": "type", "op": "==", "value": ".md", "value": ".txt"}]}',
    '{"not": {"field": "a", "op": "exists"}, "not": {"field": "b", "op": "exists"}}',
]


@pytest.mark.parametrize("text", FILTERS)
def test_a_filter(run: Run, text: str) -> None:
    done = run("search", "commit", "-i", "notes", "-f", text)

    assert (done.code, done.out) == (2, "")
    assert "twice" in done.err
    with pytest.raises(InvalidInputError, match="twice"):
        parse_json_filter(text)


def test_a_setting(run: Run) -> None:
    rules = '{"year > 2020": 1, "year > 2020": 2}'

    done = run("--set", f'boost={{"rules": {rules}}}', "search", "commit", "-i", "notes")

    assert (done.code, done.out) == (2, "")
    assert "boost (override) cannot be" in done.err
    with pytest.raises(InvalidInputError, match=r"boost"):
        load_settings(overrides={"boost": f'{{"rules": {rules}}}'})


def test_a_line_of_a_batch_and_its_filter(run: Run) -> None:
    lines = ['{"query": "commit", "query": "tower"}', '{"query": "commit", "filter": {"a": 1, "a": 2}}']

    done = run("search", "--batch", "-", "-i", "notes", given="\n".join(lines))

    assert done.code == 2
    assert ["twice" in json.loads(line)["error"]["message"] for line in done.out.splitlines()] == [True, True]


def test_a_turn_of_a_conversation(run: Run, tmp_path: Path) -> None:
    turns = tmp_path / "turns.jsonl"
    turns.write_text('{"role": "user", "text": "a", "text": "b"}\n')

    done = run("search", "commit", "-i", "notes", "--history", turns)

    assert done.code == 2
    assert "twice" in done.err
