"""Judged collections on disk, in the layout of BEIR: `corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv`.

A corpus line is `{"_id", "title"?, "text"}`, a query line `{"_id", "text"}`; further fields are ignored. Judgements are
tab-separated `query-id`, `corpus-id`, `score` (a whole number, above 0 means relevant), with or without a header line.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.evaluation.qrels import beir_columns, by_query, malformed, objects, read_judgements

_SPLIT_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """One document of a judged collection."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """One query of a judged collection."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class JudgedCollection:
    """A corpus, the questions that can be scored, and their judgements: `grades[query][document]`.

    Only questions with at least one relevant judgement are in `queries`; averages are over these. `left_out` counts the
    other questions of the file, `missing_documents` the judgements of documents that are not in the corpus (they stay
    in `grades`: what cannot be found still counts in the ideal), `missing_queries` the judged query ids that are
    not in the file of queries.
    """

    name: str
    split: str
    documents: tuple[CorpusDocument, ...]
    queries: tuple[Question, ...]
    grades: Mapping[str, Mapping[str, int]]
    left_out: int = 0
    missing_documents: int = 0
    missing_queries: int = 0


def load(folder: Path, split: str = "test") -> JudgedCollection:
    """Read a folder whole.

    Raises NotFoundError when a file is absent, ReadError, with the file and the number of the line, when a line is
    malformed or an id is given twice, InvalidInputError when the split's name is no name or nothing is judged.
    """
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder {folder}.", "Name a folder that holds a judged collection.")
    qrels = _qrels(folder, split)
    judgements = tuple(read_judgements(qrels, beir_columns))
    documents = tuple(_documents(_there(folder / "corpus.jsonl")))
    asked = tuple(read_questions(_there(folder / "queries.jsonl")))
    grades = by_query(judgements, qrels)
    known = {document.id for document in documents}
    queries = tuple(q for q in asked if any(grade > 0 for grade in grades.get(q.id, {}).values()))
    if not queries:
        raise InvalidInputError(f"no query of {folder} has a relevant judgement.", "Compare the ids of its files.")
    return JudgedCollection(
        name=folder.resolve().name,
        split=split,
        documents=documents,
        queries=queries,
        grades={query.id: grades[query.id] for query in queries},
        left_out=len(asked) - len(queries),
        missing_documents=sum(judgement.document not in known for judgement in judgements),
        missing_queries=len(grades.keys() - {question.id for question in asked}),
    )


def load_corpus(folder: Path) -> tuple[CorpusDocument, ...]:
    """Read a folder's documents alone. Raises NotFoundError and ReadError as `load` does."""
    return tuple(_documents(_there(folder / "corpus.jsonl")))


def _qrels(folder: Path, split: str) -> Path:
    if not _SPLIT_NAME.fullmatch(split):
        raise InvalidInputError(
            f"{split!r} is no name of a split.", "Use letters, digits, - and _, such as test or dev."
        )
    path = folder / "qrels" / f"{split}.tsv"
    if not path.is_file():
        there = ", ".join(sorted(other.stem for other in (folder / "qrels").glob("*.tsv"))) or "none"
        raise NotFoundError(f"there are no judgements {path}.", f"Splits that are there: {there}.")
    return path


def _there(path: Path) -> Path:
    if not path.is_file():
        raise NotFoundError(
            f"there is no file {path}.",
            "A judged collection holds corpus.jsonl, queries.jsonl and qrels/test.tsv.",
        )
    return path


def _documents(path: Path) -> Iterator[CorpusDocument]:
    for number, record in _records(path):
        title = record.get("title")
        yield CorpusDocument(
            id=str(record["_id"]),
            title="" if title is None else _text(title, "title", path, number),
            text=_text(record.get("text"), "text", path, number),
        )


def read_questions(path: Path) -> Iterator[Question]:
    """Read a file of queries, `{"_id", "text"}` a line. Raises ReadError with the number of an invalid line."""
    for number, record in _records(path):
        yield Question(id=str(record["_id"]), text=_text(record.get("text"), "text", path, number))


def _records(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """Return each line's object with its number; each has an `_id`, no two the same."""
    seen: set[str] = set()
    for number, record in objects(path):
        name = record.get("_id")
        if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
            raise malformed(path, number, "its _id is neither text nor a whole number")
        if str(name) in seen:
            raise malformed(path, number, f"the _id {name!r} stands in an earlier line")
        seen.add(str(name))
        yield number, record


def _text(value: object, field: str, path: Path, number: int) -> str:
    if not isinstance(value, str):
        raise malformed(path, number, f"its {field} is not text")
    return value
