"""A segment's columns answer every test as the plain evaluator does, built at once or merged from pieces."""

import json
from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.filters import Condition, Operator, fields_of, matches
from twofold.domain.types import Chunk, DocumentInfo, Metadata, MetadataValue, Scalar
from twofold.stores.local.field_index import Columns, Joined, Lookup, build_columns, merge_columns
from twofold.stores.local.serialization import FieldsRow

scalars: st.SearchStrategy[Scalar] = st.one_of(
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.integers(-2, 2),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1.0, -0.0, 0.5, True, False, "", "a", "ab", "b\n", "\n", "ü", "\x00", "a🎉"]),
)
values: st.SearchStrategy[MetadataValue] = st.one_of(scalars, st.lists(scalars, max_size=3).map(tuple))
fields = st.dictionaries(st.sampled_from(["x", "y", "title", "page"]), values, max_size=3)
passages = st.lists(st.tuples(st.integers(0, 2), fields, st.one_of(st.none(), st.integers(0, 2))), max_size=12)
asked = st.one_of(scalars, st.sampled_from([float("nan"), float("inf"), 10**30, "\ud800"]))
tests = st.builds(
    Condition, st.sampled_from(["x", "y", "title", "page", "source", "none"]), st.sampled_from(Operator), asked
)


def rows(held: Sequence[tuple[int, Metadata, int | None]], shared: Metadata) -> list[FieldsRow]:
    ordered = sorted(held, key=lambda one: one[0])
    return [
        FieldsRow(number, f"{number}.md", "t", "text/plain", json.dumps(shared), page, json.dumps(own))
        for number, own, page in ordered
    ]


def expected(row: FieldsRow, test: Condition) -> bool:
    def read(text: str) -> Mapping[str, MetadataValue]:
        return {name: tuple(one) if isinstance(one, list) else one for name, one in json.loads(text).items()}

    info = DocumentInfo("", row.source, row.title, row.media_type, read(row.shared), "", 0, 0)
    return matches(test, fields_of(info, Chunk("", 0, "", 0, 0, page=row.page, metadata=read(row.own))))


def marked(columns: Columns, count: int, test: Condition) -> list[bool]:
    passing = np.zeros(count, dtype=np.bool_)
    Lookup(columns).mark(test, passing)
    found: list[bool] = passing.tolist()
    return found


@given(passages, fields, tests)
def test_a_look_up_says_what_the_evaluator_says(
    held: list[tuple[int, Metadata, int | None]], shared: Metadata, test: Condition
) -> None:
    made = rows(held, shared)

    assert marked(build_columns(made), len(made), test) == [expected(row, test) for row in made]


@given(passages, fields, st.data())
def test_merging_pieces_gives_the_bytes_of_building_what_lives(
    held: list[tuple[int, Metadata, int | None]], shared: Metadata, data: st.DataObject
) -> None:
    made = rows(held, shared)
    cut = data.draw(st.integers(0, len(made)))
    alive = data.draw(st.lists(st.booleans(), min_size=len(made), max_size=len(made)))
    remap = np.where(alive, np.cumsum(alive) - 1, -1).astype(np.int64)
    pieces = [build_columns(made[:cut]), build_columns(made[cut:])]
    merged = merge_columns(pieces, [remap[:cut], remap[cut:]])
    built = build_columns([row for row, lives in zip(made, alive, strict=True) if lives])

    for name in ("groups", "values", "offsets", "slots"):
        assert np.array_equal(getattr(merged, name), getattr(built, name))
        assert getattr(merged, name).dtype == getattr(built, name).dtype


@given(st.lists(st.text("ab\n", max_size=4), max_size=60), st.text("ab\n", max_size=3))
def test_texts_that_contain_something_are_found_all_at_once(texts: list[str], wanted: str) -> None:
    assert Joined.of(texts).containing(wanted).tolist() == [wanted in one for one in texts]
