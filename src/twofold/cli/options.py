"""The options that several commands share, so that they are spelt and explained alike everywhere."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import Filter
from twofold.domain.types import MetadataValue
from twofold.query.any_filter import filter_of
from twofold.query.operators import all_of
from twofold.search.engine import PLAIN, ResultOptions, boosts_from

_PLACES = (
    "a name under TWOFOLD_HOME, a path (with / in it, or . or ~ in front), or postgresql://HOST/DATABASE?index=NAME"
)
IndexOption = Annotated[
    str | None,
    typer.Option(
        "--index",
        "-i",
        metavar="NAME",
        help=f"The index: {_PLACES}.",
        show_default=False,
    ),
]
IndexesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--index",
        "-i",
        metavar="NAME",
        help=f"The index: {_PLACES}; repeat for more.",
        show_default=False,
    ),
]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="NAME|DATE",
        help="Use the index as of a snapshot: its name, or a date (UTC) for the last one up to it.",
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


FACET_HELP = "Count documents by a field: author, author:5, modified:year, price:0,10,100; repeat for more."
BOOST_HELP = "Count words of the title or the heading more: title^3; repeat for more."
RECENCY_HELP = "Let scores fall with age: 30d, modified:2y, modified:30d:0.3."
MMR_HELP = "Trade relevance against novelty: 1 is relevance alone; try 0.7."
SCORE_HELP = "Score by a formula: '0.7 * score + 0.3 / (1 + age_days)'; see docs/results.md."
EXTRACT_HELP = "Read filters such as `from 2022` or `pdf files` out of the question."


def _option(name: str, metavar: str, says: str, *more: str) -> object:
    return typer.Option(name, *more, metavar=metavar, help=says, show_default=False)


_TEXTS = list[str] | None
RESULT_OPTIONS: Mapping[str, tuple[Any, object]] = {
    "facets": (Annotated[_TEXTS, _option("--facet", "FIELD", FACET_HELP)], None),
    "sort": (Annotated[_TEXTS, _option("--sort", "FIELD", "Order by a field: modified:desc; repeat for ties.")], None),
    "collapse": (Annotated[bool, typer.Option("--collapse", help="Show the best passage of each document.")], False),
    "boosts": (Annotated[_TEXTS, _option("--boost", "FIELD^N", BOOST_HELP)], None),
    "recency": (Annotated[str, _option("--recency", "HALF-LIFE", RECENCY_HELP)], ""),
    "pin": (Annotated[_TEXTS, _option("--pin", "DOC", "Show this document or passage first; repeat for more.")], None),
    "hide": (Annotated[_TEXTS, _option("--hide", "DOC", "Leave this document or passage out; repeat for more.")], None),
    "mmr": (Annotated[float | None, _option("--mmr", "SHARE", MMR_HELP)], None),
    "score": (Annotated[str, _option("--score", "FORMULA", SCORE_HELP)], ""),
    "extract_filters": (
        Annotated[
            bool | None,
            typer.Option("--extract-filters/--no-extract-filters", help=EXTRACT_HELP, show_default=False),
        ],
        None,
    ),
    "keep": (Annotated[_TEXTS, _option("--keep", "PHRASE", "Do not read this phrase as a filter; repeat.")], None),
    "cursor": (Annotated[str, _option("--cursor", "CURSOR", "Show the page of a cursor; `start` is the first.")], ""),
}
"""What is asked of the results: each option with its default."""


def asks_results(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds the options of these names to a command, which gets them as `results`."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def wrapper(*arguments: object, **named: object) -> None:
            results = result_options(**{name: named.pop(name) for name in names})
            command(*arguments, results=results, **named)

        own = [one for one in inspect.signature(command).parameters.values() if one.name != "results"]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in ((name, RESULT_OPTIONS[name]) for name in names)
        ]
        wrapper.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]  # what typer reads
        wrapper.__annotations__ = {one.name: one.annotation for one in (*own, *added)}
        return wrapper

    return decorated


def result_options(**said: object) -> ResultOptions:
    """Return what is asked of the results, of the options that were given."""
    given = {name: value for name, value in said.items() if value not in (None, "", [], False)}
    if said.get("extract_filters") is False:
        given["extract_filters"] = False
    if not given:
        return PLAIN
    if "boosts" in given:
        given["boosts"] = boosts_from(given["boosts"])  # type: ignore[arg-type]  # texts, as the option has it
    return ResultOptions(**given)  # type: ignore[arg-type]  # each as its option has it


_FLAGS: Mapping[str, str] = {
    "sort": "--sort",
    "recency": "--recency",
    "pin": "--pin",
    "hide": "--hide",
    "score": "--score",
    "keep": "--keep",
}


def words_of(options: ResultOptions, without: Sequence[str] = ()) -> Iterator[str]:
    """Yield the options as one types them, less those that are left out."""
    for name, flag in _FLAGS.items():
        value = getattr(options, name) if name not in without else ()
        for one in (value,) if isinstance(value, str) and value else value:
            yield from (flag, one)
    for field, factor in options.boosts.items():
        yield from ("--boost", f"{field}^{factor:g}")
    if options.mmr is not None:
        yield from ("--mmr", f"{options.mmr:g}")
    if options.collapse and "collapse" not in without:
        yield "--collapse"
    if options.extract_filters and "extract_filters" not in without:
        yield "--extract-filters"
    elif "extract_filters" in without:
        yield "--no-extract-filters"
