"""Filters as JSON: typed trees and flat requests, and that nothing else gets in."""

import json

import pytest

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Condition, Filter, Floor, Not, Operator, Or
from twofold.query.filter_json import filter_from_json, parse_json_filter
from twofold.query.parse import MAX_FILTER_LENGTH

YEAR = {"field": "year", "op": ">=", "value": 2020}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (YEAR, Condition("year", Operator.GE, 2020)),
        ({"and": [YEAR]}, And((Condition("year", Operator.GE, 2020),))),
        ({"or": []}, Or()),
        ({"not": {"and": []}}, Not(And())),
        ({"field": "a", "op": "!=", "value": True}, Not(Condition("a", Operator.EQ, True))),
        (
            {"field": "a", "op": "in", "value": ["x", 1]},
            Or((Condition("a", Operator.EQ, "x"), Condition("a", Operator.EQ, 1))),
        ),
        ({"field": "a", "op": "exists"}, Condition("a", Operator.EXISTS)),
        ({"field": "a", "op": "prefix", "value": "x"}, Condition("a", Operator.PREFIX, "x")),
        (
            {"path_contains": "/x"},
            Or((Condition("source", Operator.CONTAINS, "/x"), Condition("path", Operator.CONTAINS, "/x"))),
        ),
        ({"min_entity_density": 0.2}, Floor("entity_density", Operator.GE, 0.2)),
        ({"repository": "r", "source_type_in": ["web"]},
         And((Condition("repository", Operator.EQ, "r"), Condition("source_type", Operator.EQ, "web")))),
    ],
)  # fmt: skip
def test_a_json_value_is_this_tree(value: object, expected: Filter) -> None:
    assert repr(parse_json_filter(json.dumps(value))) == repr(filter_from_json(value)) == repr(expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        "null",
        "1",
        '"year"',
        '{"and": {}}',
        '{"and": [1]}',
        '{"and": [], "or": []}',
        '{"field": "a", "op": "==", "value": null}',
        '{"field": "a", "op": "==", "value": [1]}',
        '{"field": "a", "op": "==", "value": NaN}',
        '{"field": "a", "op": "<", "value": 1e999}',
        '{"field": "a", "op": "~", "value": 1}',
        '{"field": "a", "op": "contains", "value": 1}',
        '{"field": "a", "op": "=="}',
        '{"field": "a", "op": "exists", "value": 1}',
        '{"field": 1, "op": "exists"}',
        '{"field": "a", "op": "exists", "more": 1}',
        '{"field": "a", "field": "b", "op": "exists"}',
        '{"source_type": "azure_devops"}',
        '{"source_type": [{"$ne": 1}]}',
        '{"date_from": "yesterday"}',
        '{"date_from": "2025-02-30"}',
        '{"date_from": 2025}',
        '{"min_entity_density": true}',
        '{"min_entity_density": "0.12"}',
        '{"repository": ["a"]}',
        '{"file_types": [".sql"]}',
        '{"date_from": "2025-01-01", "drop": 1}',
        '{"field": "a", "op": "==", "value": ' + "9" * 5_000 + "}",
        "[" * 30_000,
        '{"not": ' * 5_000 + YEAR.__repr__().replace("'", '"') + "}" * 5_000,
        '{"and": [' + ", ".join([json.dumps(YEAR)] * 1_100) + "]}",
        " " * (MAX_FILTER_LENGTH + 1),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_json_filter(text)

    assert caught.value.hint
    assert len(str(caught.value)) < 300
