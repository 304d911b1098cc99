"""The options that several commands share, so that they are spelt and explained alike everywhere."""

from collections.abc import Sequence
from typing import Annotated

import typer

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import Filter
from twofold.domain.types import MetadataValue
from twofold.query.any_filter import filter_of
from twofold.query.operators import all_of

IndexOption = Annotated[
    str | None,
    typer.Option(
        "--index",
        "-i",
        metavar="NAME",
        help="The index: a name under TWOFOLD_HOME, or a path (it contains / or begins with . or ~).",
        show_default=False,
    ),
]
IndexesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--index",
        "-i",
        metavar="NAME",
        help="The index: a name under TWOFOLD_HOME, or a path (it contains / or begins with . or ~); repeat for more.",
        show_default=False,
    ),
]
KOption = Annotated[int | None, typer.Option("-k", help="How many passages.", show_default=False)]
ModeOption = Annotated[str | None, typer.Option("--mode", "-m", help="hybrid, bm25 or vector.", show_default=False)]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile", metavar="NAME", help="Search as this profile does; `twofold config profiles`.", show_default=False
    ),
]
RerankOption = Annotated[
    str | None,
    typer.Option(
        "--rerank",
        metavar="MODEL",
        help="Rerank the best passages with this model; none for no reranking.",
        show_default=False,
    ),
]
MetaOption = Annotated[
    list[str] | None, typer.Option("--meta", metavar="KEY=VALUE", help="A field to filter by; repeat for more.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, one object a line.")]
EmbedderOption = Annotated[
    str | None,
    typer.Option("--embedder", metavar="MODEL", help="The model that turns text into vectors.", show_default=False),
]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        "-f",
        metavar="FILTER",
        help="Only documents that pass: 'type in [.md, .txt] and year >= 2020 and not title contains draft', "
        "author=Ada, source^=docs/, title~=plan, or JSON; repeat for more.",
        show_default=False,
    ),
]


def fields_from(assignments: list[str]) -> dict[str, MetadataValue]:
    """Return the fields that `KEY=VALUE` texts name. Raise InvalidInputError for a text without a key or a sign."""
    fields: dict[str, MetadataValue] = {}
    for one in assignments:
        key, sign, value = one.partition("=")
        if not (key.strip() and sign):
            raise InvalidInputError(
                f"--meta {one} gives no value.", "Write --meta KEY=VALUE, such as --meta author=Ada."
            )
        fields[key.strip()] = value
    return fields


def parsed_filter(texts: Sequence[str]) -> Filter:
    """Read filters such as `author=Ada`, `year >= 2020 and not draft`, `type in [.md, .txt]`, `{"date_from": "2025"}`.

    What begins with `{` is JSON. Raises InvalidInputError.
    """
    return all_of(*map(filter_of, texts))
