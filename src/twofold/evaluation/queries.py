"""Questions about the user's documents, with the documents that answer them: as people write them, or as TREC does.

CSV: `query,relevant` or `query,relevant,grade`, one pair a line, with or without a header line. JSON lines:
`{"query", "relevant"}`, where `relevant` is a document, a list of them, or an object of grades by document.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.evaluation.dataset import Question, read_questions
from twofold.evaluation.qrels import Judgement, either_columns, lines, malformed, objects, read_judgements

_HEADERS: Final = {"query", "question"}
_PAIR: Final = 2


@dataclass(frozen=True, slots=True)
class Judged:
    """Questions and judgements as they stand in files; documents have the names that the judgements give them."""

    name: str
    path: Path
    questions: tuple[Question, ...]
    judgements: tuple[Judgement, ...]


def read_judged(qrels: Path, queries: Path | None) -> Judged:
    """Read judgements with their questions: a `.csv` or `.jsonl` of pairs, or qrels with a file of queries.

    Queries are `{"_id", "text"}` a line in a `.jsonl`, else an id, a tab and the text. Raises NotFoundError for a file
    that is missing, ReadError with the number of a line that is malformed, InvalidInputError for qrels without queries.
    """
    _there(qrels)
    if queries is not None:
        _there(queries)
        read = read_questions if queries.suffix.lower() == ".jsonl" else _tabbed_questions
        return Judged(qrels.stem, qrels, tuple(read(queries)), tuple(read_judgements(qrels, either_columns)))
    pairs = {".csv": _csv_pairs, ".jsonl": _json_pairs}.get(qrels.suffix.lower())
    if pairs is None:
        raise InvalidInputError(
            f"{qrels} says which queries by their ids, not what they are.",
            "Add --queries FILE; or write pairs of query and document into a .csv or .jsonl.",
        )
    return _numbered(qrels, list(pairs(qrels)))


def read_query_list(path: Path) -> tuple[str, ...]:
    """Read questions, none twice: `{"_id", "text"}` a line in a `.jsonl`, else each a line, perhaps after id and tab.

    Raises NotFoundError for a file that is missing, ReadError with the number of a line that is malformed.
    """
    _there(path)
    if path.suffix.lower() == ".jsonl":
        texts = [question.text for question in read_questions(path)]
    else:
        texts = [line.partition("\t")[2] if "\t" in line.strip() else line for _, line in lines(path)]
    return tuple(dict.fromkeys(text for text in (" ".join(one.split()) for one in texts) if text))


def _numbered(path: Path, pairs: Sequence[Judgement]) -> Judged:
    """Turn questions written out into ids q1, q2, … in the order in which they first stand there."""
    ids = {text: f"q{number}" for number, text in enumerate(dict.fromkeys(pair.query for pair in pairs), start=1)}
    questions = tuple(Question(name, text) for text, name in ids.items())
    return Judged(path.stem, path, questions, tuple(pair._replace(query=ids[pair.query]) for pair in pairs))


def _csv_pairs(path: Path) -> Iterator[Judgement]:
    numbered = list(lines(path))
    for place, (number, line) in enumerate(numbered):
        try:
            (cells,) = csv.reader([line.rstrip("\r\n")], strict=True, skipinitialspace=True)
        except (csv.Error, ValueError) as error:
            raise malformed(path, number, "it is not CSV") from error
        if place == 0 and cells[0].strip().lower() in _HEADERS:
            continue
        if not _PAIR <= len(cells) <= _PAIR + 1:
            raise malformed(path, number, f"it has {len(cells)} columns, not a query, a document and perhaps a grade")
        grade = cells[2].strip() if len(cells) > _PAIR else "1"
        if not grade.lstrip("+-").isdecimal() or len(grade) > 9:  # noqa: PLR2004  # no grade has ten digits
            raise malformed(path, number, f"its grade {grade!r} is not a whole number")
        yield _pair(cells[0], cells[1], int(grade), (path, number))


def _json_pairs(path: Path) -> Iterator[Judgement]:
    for number, record in objects(path):
        query, relevant = record.get("query"), record.get("relevant")
        if isinstance(relevant, str):
            relevant = [relevant]
        if isinstance(relevant, list):
            relevant = dict.fromkeys(relevant, 1) if all(isinstance(one, str) for one in relevant) else None
        if not isinstance(query, str) or not isinstance(relevant, dict):
            raise malformed(path, number, "it needs a query and what is relevant: a document, or several")
        for document, grade in relevant.items():
            if isinstance(grade, bool) or not isinstance(grade, int):
                raise malformed(path, number, f"the grade of {document!r} is not a whole number")
            yield _pair(query, document, grade, (path, number))


def _pair(query: str, document: str, grade: int, where: tuple[Path, int]) -> Judgement:
    if not query.strip() or not document.strip():
        raise malformed(*where, "its query or its document is empty")
    return Judgement(query.strip(), document.strip(), grade)


def _tabbed_questions(path: Path) -> Iterator[Question]:
    seen = set()
    for number, line in lines(path):
        name, text = (part.strip() for part in line.partition("\t")[::2])
        if not name or not text:
            raise malformed(path, number, "it is not an id, a tab and a text")
        if name in seen:
            raise malformed(path, number, f"the id {name!r} stands in an earlier line")
        seen.add(name)
        yield Question(name, text)


def _there(path: Path) -> None:
    if not path.is_file():
        raise NotFoundError(f"there is no file {path}.", "Name a file of judgements or of questions.")
