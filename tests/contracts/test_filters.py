"""Every store means by a filter what a plain evaluator means, whatever stands in its fields and values."""

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from support.factories import entry, fingerprint, query, vector
from twofold.domain.filters import And, Condition, Filter, Not, Operator, Or, fields_of, matches
from twofold.domain.ports import Scope, Snapshot, Store
from twofold.domain.types import MetadataValue, Scalar
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemoryStore

FIELDS = [
    "year",
    "tags",
    "draft",
    "name",
    "modified",
    "type",
    "source",
    "title",
    "weight",
    "odd 'field\"",
    "page",
    "absent",
]
WORDS = [
    "",
    "a",
    "A",
    "ab",
    "red",
    "100%",
    "_b",
    "*",
    "?",
    "[ab]",
    "ä",
    "🎉",
    "\x00",
    "a\x00b",
    "2020",
    "true",
    "\\",
    "'",
]
DATES = ["2024-12-31", "2025-01-01", "2025-01-01T10:00:00+00:00", "2025-02"]
NUMBERS: list[int | float] = [-1, 0, 1, 2, 2020, 2020.5, 0.1, -0.0, 1e300, 5e-324, 2**53, 2**53 + 1, 2**63 - 1, 1.0]
SCALARS: list[Scalar] = [*WORDS, *DATES, *NUMBERS, True, False]
DOCUMENTS = 10
PASSAGES = 3  # of each document
TREES = 10_000


def drawn_metadata(draw: random.Random) -> dict[str, MetadataValue]:
    made: dict[str, MetadataValue] = {}
    for field in draw.sample(FIELDS[:-1], draw.randint(0, 6)):
        count = draw.choice([1, 1, 1, 0, 2, 3])
        made[field] = draw.choice(SCALARS) if count == 1 else tuple(draw.choices(SCALARS, k=count))
    return made


def drawn_filter(draw: random.Random, depth: int) -> Filter:
    kind = draw.choice(["test", "test", "and", "or", "not"]) if depth else "test"
    if kind == "test":
        return Condition(draw.choice(FIELDS), draw.choice(list(Operator)), draw.choice(SCALARS))
    if kind == "not":
        return Not(drawn_filter(draw, depth - 1))
    parts = tuple(drawn_filter(draw, depth - 1) for _ in range(draw.randint(0, 3)))
    return And(parts) if kind == "and" else Or(parts)


def evaluated(condition: Filter, fields: Mapping[str, MetadataValue]) -> bool:
    """The plain evaluator: another one than `matches`, so that the two can disagree."""
    if isinstance(condition, And):
        return not [part for part in condition.parts if not evaluated(part, fields)]
    if isinstance(condition, Or):
        return bool([part for part in condition.parts if evaluated(part, fields)])
    if isinstance(condition, Not):
        return not evaluated(condition.part, fields)
    held = fields.get(condition.field, ())
    return any(compared(condition.op, one, condition.value) for one in (held if isinstance(held, tuple) else [held]))


def compared(op: Operator, held: Scalar, asked: Scalar) -> bool:
    texts = isinstance(held, str) and isinstance(asked, str)
    truths = isinstance(held, bool) and isinstance(asked, bool)
    numbers = not any(isinstance(one, str | bool) for one in (held, asked))
    if op is Operator.EXISTS:
        return True
    if op is Operator.PREFIX:
        return texts and str(held)[: len(str(asked))] == asked
    if op is Operator.CONTAINS:
        return texts and str(held).find(str(asked)) >= 0
    if not (texts or truths or numbers):
        return False
    less, equal = held < asked, held == asked  # type: ignore[operator]
    return {
        Operator.EQ: equal,
        Operator.LT: less,
        Operator.LE: less or equal,
        Operator.GT: not less and not equal,
        Operator.GE: not less,
    }[op]


@pytest.fixture(scope="module", params=["memory", "local"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store filled once: no test here changes it."""
    made: Store = MemoryStore() if request.param == "memory" else LocalStore(tmp_path_factory.mktemp("filters") / "kb")
    draw = random.Random(43)  # noqa: S311
    endings = [".sql", ".MD", "", ".tar.gz", ".é"]
    made.ensure_fingerprint(fingerprint())
    for number in range(DOCUMENTS):
        own = [drawn_metadata(draw) for _ in range(PASSAGES)]
        name = f"f{number % 3}/{number}{endings[number % 5]}"
        one = entry("word\n" * PASSAGES, name, drawn_metadata(draw), own=own)
        paged = [replace(held, chunk=replace(held.chunk, page=page)) for page, held in enumerate(one.chunks)]
        made.upsert([replace(one, chunks=tuple(paged) if number % 2 else one.chunks)])
    yield made
    made.close()


def passing(view: Snapshot, condition: Filter) -> set[str]:
    found = view.search_bm25(query("word"), DOCUMENTS * PASSAGES, Scope(filter=condition))
    return {chunk.id for chunk in view.chunks(found.keys.tolist())}


def passing_by_vector(view: Snapshot, condition: Filter) -> set[str]:
    found = view.search_vectors(vector("word"), DOCUMENTS * PASSAGES, Scope(filter=condition))
    return {chunk.id for chunk in view.chunks(found.keys.tolist())}


def fields_in(view: Snapshot) -> Mapping[str, Mapping[str, MetadataValue]]:
    return {chunk.id: fields_of(info, chunk) for info in view.documents() for chunk in view.chunks_of(info.id)}


def test_ten_thousand_trees_mean_what_a_plain_evaluator_says(store: Store) -> None:
    draw = random.Random(44)  # noqa: S311
    with store.view() as view:
        held = fields_in(view)
        sizes = set()
        for number in range(TREES):
            condition = drawn_filter(draw, 4)
            expected = {name for name, fields in held.items() if evaluated(condition, fields)}
            found = passing(view, condition) if number % 8 else passing_by_vector(view, condition)
            assert found == expected, condition
            sizes.add(len(expected))
    assert len(sizes) > DOCUMENTS / 2  # not all or nothing


SQL = ["' OR '1'='1", "'; DROP TABLE document; --", '" OR ""="', "1); DELETE FROM chunk; --", "x' UNION SELECT 1,2,3--"]
PATTERNS = ["%", "_", "%%", "a%", "*", "?", "[a-z]*", "^.*$", "(a+)+$", "\\", "\\%", "\\0", "{}", "$", "~"]
PATHS = ["$.year", "$[0]", "$.*", "..", "../../x", "/etc/passwd", "$..name", 'a"."b', "json('x')", "metadata->'$.x'"]
NAMES = ["kind", "value", "rowid", "?1", ":name", "@x", "document.row", "sqlite_master", "NULL", "__class__", "{0}"]
BYTES = ["\x00", "a\x00b", "\ud800", "\udfff x", "\ud83d\ude00", "\u202e", "\ufeff", "\x1b[31m", "\r\n", "é", "e\u0301"]
LARGE = ["x" * 100_000, "'" * 10_000, "%" * 10_000, "\x00" * 1_000]
TEXTS = [*SQL, *PATTERNS, *PATHS, *NAMES, *BYTES, *LARGE]
ODD_NUMBERS: list[int | float] = [
    math.nan, math.inf, -math.inf, 10**400, -(10**400), 2**63, -(2**63), 2**64, 1e308, -0.0,
]  # fmt: skip
INJECTIONS: list[Condition] = [
    *(Condition(text, Operator.EXISTS) for text in TEXTS),
    *(Condition(text, op, text) for text in TEXTS for op in (Operator.EQ, Operator.CONTAINS)),
    *(Condition(field, op, text) for text in TEXTS for field in ("name", "source") for op in Operator),
    *(Condition("weight", op, number) for number in ODD_NUMBERS for op in Operator),
]


def test_payloads_in_fields_and_values_are_only_fields_and_values(store: Store) -> None:
    assert len(INJECTIONS) >= 500
    with store.view() as view:
        held = fields_in(view)
        for test in INJECTIONS:
            for condition in (test, Not(test)):
                expected = {name for name, fields in held.items() if matches(condition, fields)}
                assert passing(view, condition) == expected
        assert len(passing(view, And())) == DOCUMENTS * PASSAGES
