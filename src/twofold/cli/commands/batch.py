"""`search --batch`: many questions from a file, embedded together in groups, each answered with one line of JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from twofold.cli.context import OpenedIndex
from twofold.cli.options import parsed_filter
from twofold.cli.render.results import write_json
from twofold.cli.render.terminal import Line, lines_of
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import Filter
from twofold.query.any_filter import filter_of
from twofold.query.filter_json import filter_from_json
from twofold.query.operators import all_of
from twofold.search.engine import SearchOptions
from twofold.search.explain import explained
from twofold.search.result import SearchResult
from twofold.text.quantities import counted

BATCH_SIZE = 64
FIELDS = ("query", "id", "k", "mode", "filter")
_REMEDY = f'A line holds "query", and may hold {", ".join(FIELDS[1:])}.'


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong with a line, and how to fix it."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class AnsweredLine:
    """What became of one line: its number, from 1, the id that it gave itself, and a result or an error."""

    line: int
    id: str | int | None
    result: SearchResult | None
    error: Refused | None


@dataclass(frozen=True, slots=True)
class _Question:
    number: int
    id: str | int | None
    query: str
    options: SearchOptions


def answer_batch(opened: OpenedIndex, path: Path, options: SearchOptions) -> None:
    """Answer every line of a file, in its order. Raises InvalidInputError at the end if some could not be asked."""
    refused = asked = 0
    lines = lines_of(path)
    while some := list(islice(lines, BATCH_SIZE)):
        for one in _answer_lines(opened, [_question(line, options) for line in some]):
            write_json(one)
            asked += 1
            refused += one.error is not None
    if refused:
        raise InvalidInputError(
            f"{counted(refused, 'line')} of {asked:,} could not be asked; the others are answered.",
            "Each of their lines above says why.",
        )


def _answer_lines(opened: OpenedIndex, questions: Sequence[_Question | AnsweredLine]) -> Iterator[AnsweredLine]:
    """Answer some lines; those that are asked alike are searched for together."""
    done = {one.line: one for one in questions if isinstance(one, AnsweredLine)}
    alike: list[tuple[SearchOptions, list[_Question]]] = []
    for one in questions:
        if isinstance(one, _Question):
            group = next((group for options, group in alike if options == one.options), None)
            if group is None:
                alike.append((one.options, group := []))
            group.append(one)
    for options, group in alike:
        done.update((one.line, one) for one in _searched(opened, group, options))
    for one in questions:
        yield done[one.line if isinstance(one, AnsweredLine) else one.number]


def _searched(opened: OpenedIndex, group: Sequence[_Question], options: SearchOptions) -> Iterator[AnsweredLine]:
    """Search for a group at once; if a question in it cannot be asked, or answers are kept, one by one."""
    if not opened.settings.cache.size:
        try:
            found = opened.searching.search_many([one.query for one in group], options)
        except InvalidInputError:
            pass
        else:
            for one, result in zip(group, found, strict=True):
                yield AnsweredLine(one.number, one.id, explained(result, opened.settings.analyzer), None)
            return
    for one in group:
        try:
            result = opened.searching.search(one.query, options)
            yield AnsweredLine(one.number, one.id, explained(result, opened.settings.analyzer), None)
        except InvalidInputError as error:
            yield _refused(one.number, one.id, error)


def _refused(number: int, identity: str | int | None, error: InvalidInputError) -> AnsweredLine:
    return AnsweredLine(number, identity, None, Refused(error.message, error.hint))


def _question(line: Line, options: SearchOptions) -> _Question | AnsweredLine:
    if isinstance(line.held, InvalidInputError):
        return _refused(line.number, None, line.held)
    identity = line.held.get("id")
    known = identity if isinstance(identity, str | int) and not isinstance(identity, bool) else None
    try:
        return _read(line.number, known, line.held, options)
    except InvalidInputError as error:
        return _refused(line.number, known, error)


def _read(number: int, identity: str | int | None, held: Mapping[str, object], options: SearchOptions) -> _Question:
    unknown = [name for name in held if name not in FIELDS]
    if unknown:
        raise InvalidInputError(f"There is no field {unknown[0]!r}.", _REMEDY)
    if identity is None and held.get("id") is not None:
        raise InvalidInputError("The id is neither text nor a whole number.", _REMEDY)
    query, k, mode = held.get("query"), held.get("k"), held.get("mode")
    if not isinstance(query, str):
        raise InvalidInputError("The line has no query that is text.", _REMEDY)
    if k is not None and (not isinstance(k, int) or isinstance(k, bool)):
        raise InvalidInputError("k is no whole number.", _REMEDY)
    if mode is not None and not isinstance(mode, str):
        raise InvalidInputError("The mode is no text.", _REMEDY)
    own = replace(
        options,
        k=options.k if k is None else k,
        mode=options.mode if mode is None else mode,
        filter=all_of(filter_of(options.filter), _filter(held.get("filter"))),
    )
    return _Question(number, identity, query, own)


def _filter(held: object) -> Filter:
    if held is None or isinstance(held, str):
        return parsed_filter([held] if held else [])
    return filter_from_json(held)
