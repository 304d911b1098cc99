"""The filter tree, and `matches`: what every store must mean by it.

A filter looks at a passage's fields: its document's metadata, and `source`, `title`, `media_type` and `type`, together
with its own metadata, its `page` and its `section`, the path of headings above it. A missing field fails every test but
`Not`; nothing raises. A field that holds several values passes if one of them does.
"""

import operator
from collections.abc import Callable, Hashable, Mapping
from enum import StrEnum
from typing import Any

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Chunk, Document, DocumentInfo, Metadata, MetadataValue, Scalar


class Operator(StrEnum):
    """How a field is compared. Strings compare by code point, so ISO dates compare as dates."""

    EQ = "=="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    PREFIX = "prefix"
    CONTAINS = "contains"
    EXISTS = "exists"


MAX_SUFFIX_LENGTH = 16  # characters

ORDERINGS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQ: operator.eq,
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of one field with one value. `EXISTS` looks at no value."""

    __test__ = False  # not a test for pytest to collect

    field: str
    op: Operator
    value: Scalar = ""


@dataclass(frozen=True, slots=True)
class Floor(Condition):
    """A lower bound of a field that also replaces the bound a profile's own filter sets for it."""


@dataclass(frozen=True, slots=True)
class And:
    """All of them; of none, true."""

    parts: tuple["Filter", ...] = ()


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of them; of none, false."""

    parts: tuple["Filter", ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite, a missing field included."""

    part: "Filter"


Filter = Condition | And | Or | Not

MATCH_ALL = And()

Label = Callable[[Scalar], Hashable | None]
"""Says under which label a field's value is counted; None for not at all."""


def fields_of(document: Document | DocumentInfo, chunk: Chunk | None = None) -> Mapping[str, MetadataValue]:
    """Return what filters may look at: a document's fields, and with them a passage's own, its `page` among them.

    The document's `source`, `title` and `media_type` win over metadata of the same name. `type` is the suffix of the
    source, such as `.md`, in addition to a `type` of the metadata. A name that the document and its passage
    both hold has the values of both: `lang` "en" of a document and "de" of its passage are ("en", "de").
    """
    own: dict[str, MetadataValue] = {
        "source": document.source,
        "title": document.title,
        "media_type": document.media_type,
    }
    suffix = suffix_of(document.source)
    if suffix:
        said = document.metadata.get("type", ())
        own["type"] = (*values_of(said), suffix)
    fields = {**document.metadata, **own}
    return fields if chunk is None else together(fields, passage_fields(chunk))


def passage_fields(chunk: Chunk) -> Metadata:
    """Return what a passage adds to its document's fields: its metadata, `page` and `section` where it has them."""
    if chunk.page is None and not chunk.heading:
        return chunk.metadata
    own: dict[str, MetadataValue] = {} if chunk.page is None else {"page": chunk.page}
    if chunk.heading:
        own["section"] = " > ".join(chunk.heading)
    return together(chunk.metadata, own)


def together(some: Metadata, more: Metadata) -> Mapping[str, MetadataValue]:
    """Join fields; a name in both has the values of both."""
    return {
        **some,
        **{name: (*values_of(some[name]), *values_of(held)) if name in some else held for name, held in more.items()},
    }


def values_of(held: MetadataValue) -> tuple[Scalar, ...]:
    """Return a field's values: of a single one a tuple of one."""
    return held if isinstance(held, tuple) else (held,)


def suffix_of(source: str) -> str:
    """Return the suffix of a path or an address in lower case, with its dot: `.md` of `docs/Plan.MD`.

    Empty for `Makefile`, for `.profile`, and where what stands behind the last dot is more than a short word.
    """
    name = source[max(source.rfind("/"), source.rfind("\\")) + 1 :]
    front, _, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if front and suffix.isalnum() and len(suffix) <= MAX_SUFFIX_LENGTH else ""


def field_names(condition: Filter) -> frozenset[str]:
    """Return the fields that a filter looks at.

    >>> sorted(field_names(Or((Condition("year", Operator.GE, 2020), Not(Condition("draft", Operator.EXISTS))))))
    ['draft', 'year']
    """
    match condition:
        case Condition(field):
            return frozenset({field})
        case Not(part):
            return field_names(part)
        case And(parts) | Or(parts):
            return frozenset[str]().union(*map(field_names, parts))


def matches(condition: Filter, fields: Mapping[str, MetadataValue]) -> bool:
    """Return whether a passage, or a document, with these fields passes."""
    match condition:
        case And(parts):
            return all(matches(part, fields) for part in parts)
        case Or(parts):
            return any(matches(part, fields) for part in parts)
        case Not(part):
            return not matches(part, fields)
        case Condition(name, op, value):
            held = fields.get(name)
            return held is not None and any(passes(op, one, value) for one in values_of(held))


def passes(op: Operator, held: Scalar, asked: Scalar) -> bool:
    """Compare two values. Values of different kinds (text, number, truth) never match, and never raise."""
    if op is Operator.EXISTS:
        return True
    if kind_of(held) != kind_of(asked):
        return False
    if op in ORDERINGS:
        return bool(ORDERINGS[op](held, asked))
    if not isinstance(held, str) or not isinstance(asked, str):
        return False
    return held.startswith(asked) if op is Operator.PREFIX else asked in held


def kind_of(value: Scalar) -> str:
    """Name a value's kind: `truth`, `number` or `text`. A truth value is no number here."""
    if isinstance(value, bool):
        return "truth"
    return "text" if isinstance(value, str) else "number"
