"""`search --batch`: many questions from a file, embedded together in groups, each answered with one line of JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from twofold.cli.asked import Opened
from twofold.cli.data import write_json
from twofold.cli.filters import parsed_filter
from twofold.cli.lines import Line, lines_of
from twofold.cli.screen import counted
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import Filter
from twofold.pipeline.explaining import explained
from twofold.pipeline.results import SearchResult
from twofold.query.any_filter import filter_of
from twofold.query.filter_json import filter_from_json
from twofold.query.operators import all_of
from twofold.searcher import Asking

AT_ONCE = 64
FIELDS = ("query", "id", "k", "mode", "filter")
_REMEDY = f'A line holds "query", and may hold {", ".join(FIELDS[1:])}.'


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong with a line, and how to mend it."""

    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Answered:
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
    asking: Asking


def answer_batch(opened: Opened, path: Path, asking: Asking) -> None:
    """Answer every line of a file, in its order. Raises InvalidInputError at the end if some could not be asked."""
    refused = asked = 0
    lines = lines_of(path)
    while some := list(islice(lines, AT_ONCE)):
        for one in _answered(opened, [_question(line, asking) for line in some]):
            write_json(one)
            asked += 1
            refused += one.error is not None
    if refused:
        raise InvalidInputError(
            f"{counted(refused, 'line')} of {asked:,} could not be asked; the others are answered.",
            "Each of their lines above says why.",
        )


def _answered(opened: Opened, questions: Sequence[_Question | Answered]) -> Iterator[Answered]:
    """Answer some lines; those that are asked alike are searched for together."""
    done = {one.line: one for one in questions if isinstance(one, Answered)}
    alike: list[tuple[Asking, list[_Question]]] = []
    for one in questions:
        if isinstance(one, _Question):
            group = next((group for asking, group in alike if asking == one.asking), None)
            if group is None:
                alike.append((one.asking, group := []))
            group.append(one)
    for asking, group in alike:
        done.update((one.line, one) for one in _searched(opened, group, asking))
    for one in questions:
        yield done[one.line if isinstance(one, Answered) else one.number]


def _searched(opened: Opened, group: Sequence[_Question], asking: Asking) -> Iterator[Answered]:
    """Search for a group at once; if a question in it cannot be asked, or answers are kept, one by one."""
    if not opened.settings.cache.size:
        try:
            found = opened.searching.search_many([one.query for one in group], asking)
        except InvalidInputError:
            pass
        else:
            for one, result in zip(group, found, strict=True):
                yield Answered(one.number, one.id, explained(result, opened.settings.analyser), None)
            return
    for one in group:
        try:
            result = opened.searching.search(one.query, asking)
            yield Answered(one.number, one.id, explained(result, opened.settings.analyser), None)
        except InvalidInputError as error:
            yield _refused(one.number, one.id, error)


def _refused(number: int, identity: str | int | None, error: InvalidInputError) -> Answered:
    return Answered(number, identity, None, Refused(error.message, error.remedy))


def _question(line: Line, asking: Asking) -> _Question | Answered:
    if isinstance(line.held, InvalidInputError):
        return _refused(line.number, None, line.held)
    identity = line.held.get("id")
    known = identity if isinstance(identity, str | int) and not isinstance(identity, bool) else None
    try:
        return _read(line.number, known, line.held, asking)
    except InvalidInputError as error:
        return _refused(line.number, known, error)


def _read(number: int, identity: str | int | None, held: Mapping[str, object], asking: Asking) -> _Question:
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
        asking,
        k=asking.k if k is None else k,
        mode=asking.mode if mode is None else mode,
        filter=all_of(filter_of(asking.filter), _filter(held.get("filter"))),
    )
    return _Question(number, identity, query, own)


def _filter(held: object) -> Filter:
    if held is None or isinstance(held, str):
        return parsed_filter([held] if held else [])
    return filter_from_json(held)
