"""JSON and JSON Lines: records, fields that are recognized, and everything else as lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import ReadError
from twofold.ingest.readers.jsonlines import read_json, read_json_lines
from twofold.ingest.readers.types import Extract, Source


def texts(extract: Extract) -> list[str]:
    return [extract.text[block.start : block.end] for block in extract.blocks]


def as_json(value: object) -> Extract:
    return read_json(Source("a.json", json.dumps(value).encode()))


def test_known_fields_are_recognized_in_each_record() -> None:
    duck = b'{"_id": "d1", "title": "Ducks", "text": "They swim.", "url": "http://x.example"}'
    lines = duck + b'\n\n{"Body": "b", "n": [1, 2]}\n'
    extract = read_json_lines(Source("a.jsonl", lines))

    assert texts(extract) == ["They swim.\n_id: d1\ntitle: Ducks\nurl: http://x.example", "b\nn: 1, 2"]
    assert [(block.heading, block.place) for block in extract.blocks] == [
        (("Ducks",), "record 1 (d1)"),
        ((), "record 2"),
    ]


def test_an_array_gives_a_block_for_each_item() -> None:
    assert texts(as_json([{"a": 1}, "two", [3, [4]]])) == ["a: 1", "two", "[0]: 3\n[1]: 4"]


def test_an_objects_only_list_of_objects_holds_the_records_after_what_stands_beside_it() -> None:
    held = {"items": [{"text": "x"}, {"text": "y"}], "version": 1}

    assert texts(as_json(held)) == ["version: 1", "x", "y"]


def test_a_single_object_is_a_document_with_title_and_metadata() -> None:
    extract = as_json({"title": "T", "content": "Long", "date": "2024-01-01", "tags": ["a"], "deep": {"x": 1}})

    assert (extract.title, dict(extract.metadata)) == ("T", {"date": "2024-01-01", "tags": ("a",)})
    assert texts(extract) == ["Long\ntitle: T\ndate: 2024-01-01\ntags: a\ndeep.x: 1"]


def test_nested_values_are_lines_of_path_and_value_in_order() -> None:
    assert texts(as_json({"b": {"c": [{"d": None}, {"e": True}], "f": 1.5}, "a": "z"})) == [
        "b.c[1].e: true\nb.f: 1.5\na: z"
    ]


@pytest.mark.parametrize("text", ['{"a": ', "[1,]", "[" * 200_000, '{"a": ' + "9" * 5000 + "}"])
def test_what_is_not_json_is_malformed_and_says_so(text: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_json(Source("a.json", text.encode()))

    assert (caught.value.kind, "not valid JSON" in caught.value.message) == ("malformed", True)


def test_a_broken_line_is_named() -> None:
    with pytest.raises(ReadError, match="line 3 is not valid JSON"):
        read_json_lines(Source("a.jsonl", b'{"a": 1}\n\n{"a"\n'))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.from_regex("[a-z]{1,5}", fullmatch=True),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.from_regex("[a-z]{1,5}", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=12,
)


def leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [value] if isinstance(value, str) else []


@given(VALUES)
def test_no_text_is_lost(value: object) -> None:
    extract = as_json(value)

    assert all(leaf in extract.text for leaf in leaves(value))
