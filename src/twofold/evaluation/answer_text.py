"""Questions judged by the text of their answers: a passage is relevant where one of the answers stands in it.

No document has to be named, so the same questions measure any way of cutting and any index. JSON lines: `{"query",
"answers"}`, or `{"_id", "text", "answers"}` as some published collections have it, where `answers` is a text or a list
of texts of which any will do; `answer` is read too. CSV: `query,answer`, a line for each answer, with or without a
header line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from csv import Error, reader
from dataclasses import replace
from pathlib import Path
from typing import Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.evaluation.dataset import JudgedCollection, Question
from twofold.evaluation.metrics import hit_rate, precision, reciprocal_rank
from twofold.evaluation.qrels import lines, malformed, objects
from twofold.evaluation.report import Metric
from twofold.evaluation.run import searched
from twofold.evaluation.runs import Run, ScoredDocument
from twofold.indexing.components import IndexingComponents
from twofold.search.plan import SearchPlan
from twofold.text.unicode_normalization import fold

STANDARD: Final = (
    Metric("hit rate@1", hit_rate, 1),
    Metric("hit rate@5", hit_rate, 5),
    Metric("hit rate@10", hit_rate, 10),
    Metric("MRR@10", reciprocal_rank, 10),
    Metric("P@5", precision, 5),
)
_COMPUTABLE: Final = frozenset({hit_rate, reciprocal_rank, precision})
_HEADERS: Final = {"query", "question"}
_PAIR: Final = 2

_RUN_ON = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts that put no blanks between words, or endings straight after them: Thai to Khmer, CJK, kana and Hangul."""

_BETWEEN = re.compile(r"(?<!\d)[.,]|[.,](?!\d)|[^\w.,]|_")
_WORD = rf"[^\W{_RUN_ON}]"


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """Questions, and for each question's id the normalized answers of which any will do."""

    name: str
    questions: tuple[Question, ...]
    answers: Mapping[str, tuple[str, ...]]

    @property
    def collection(self) -> JudgedCollection:
        """The questions as a judged collection, with no judgement yet."""
        return JudgedCollection(self.name, "", (), self.questions, {one.id: {} for one in self.questions})


def read_answers(path: Path) -> AnswerKey:
    """Read questions with their answers, `.csv` or `.jsonl`.

    Raises NotFoundError for a file that is missing, ReadError with the number of a line that is malformed,
    InvalidInputError for another kind of file or one that holds no question.
    """
    if not path.is_file():
        raise NotFoundError(f"there is no file {path}.", "Name a file of questions with their answers.")
    read = {".csv": _from_csv, ".jsonl": _from_json}.get(path.suffix.lower())
    if read is None:
        raise InvalidInputError(f"{path} would not be read as answers.", "Name a .jsonl or a .csv file.")
    named: dict[str, Question] = {}
    answers: dict[str, dict[str, None]] = {}
    for text, name, some in read(path):
        question = named.setdefault(name or text, Question(name or f"q{len(named) + 1}", text))
        answers.setdefault(question.id, {}).update(dict.fromkeys(some))
    if not named:
        raise InvalidInputError(f"{path} contains no question.", "See docs/evaluating.md for its form.")
    return AnswerKey(path.stem, tuple(named.values()), {name: tuple(some) for name, some in answers.items()})


def normalized(text: str) -> str:
    """Return a text folded in case and encoding, its words apart by one blank, without punctuation.

    Points and commas inside numbers stay, so that 1.2 is not 12, nor 1 and 2.

    >>> normalized("It cost  $1,200.50 -- “too much”.")
    'it cost 1,200.50 too much'
    """
    return " ".join(_BETWEEN.sub(" ", fold(text)).split())


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    """Return whether any of the normalized answers stands in a text, as whole words where words are apart.

    >>> holds_answer("They gave up 308 points.", ["308"]), holds_answer("Room 1308", ["308"])
    (True, False)
    """
    flat = normalized(text)
    return any(answer in flat and _whole(answer, flat) for answer in answers)


def _whole(answer: str, flat: str) -> bool:
    """Return whether an answer stands in a text with edges of words, where it begins and ends with such words."""
    before = rf"(?<!{_WORD})(?<!\d[.,])" if re.match(_WORD, answer) else ""
    after = rf"(?!{_WORD})(?![.,]\d)" if re.match(_WORD, answer[-1]) else ""
    return re.search(before + re.escape(answer) + after, flat) is not None


def check_metrics(metrics: Sequence[Metric]) -> None:
    """Raise InvalidInputError for a metric that must know every relevant passage, which nobody has listed."""
    wrong = next((one.name for one in metrics if one.compute not in _COMPUTABLE), None)
    if wrong is not None:
        raise InvalidInputError(f"{wrong} cannot be read from answers.", "Use hit rate@K, MRR@K or P@K.")


def find_passages(
    parts: IndexingComponents, answered: AnswerKey, plan: SearchPlan, most: int
) -> tuple[Run, dict[str, dict[str, int]]]:
    """Return the `most` best passages for each question, and a grade of 1 for each of them that holds an answer.

    Raises ModelError as `find_all` does.
    """
    run: dict[str, tuple[ScoredDocument, ...]] = {}
    grades: dict[str, dict[str, int]] = {}
    for question in answered.questions:
        hits = searched(parts, question.text, replace(plan, k=most)).hits
        answers = answered.answers[question.id]
        run[question.id] = tuple(ScoredDocument(hit.chunk_id, hit.score) for hit in hits)
        grades[question.id] = {hit.chunk_id: 1 for hit in hits if holds_answer(hit.text, answers)}
    return run, grades


def _from_json(path: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for number, record in objects(path):
        text, given = record.get("query", record.get("text")), record.get("answers", record.get("answer"))
        some = [given] if isinstance(given, str) else given
        name = record.get("_id", "")
        if not isinstance(text, str) or not text.strip() or not isinstance(some, list):
            raise malformed(path, number, "it needs a query and its answers: a text, or several")
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise malformed(path, number, "its _id is neither text nor a whole number")
        yield text.strip(), str(name), _checked(some, path, number)


def _from_csv(path: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for place, (number, line) in enumerate(lines(path)):
        try:
            (cells,) = reader([line.rstrip("\r\n")], strict=True, skipinitialspace=True)
        except (Error, ValueError) as error:
            raise malformed(path, number, "it is not CSV") from error
        if place == 0 and cells[0].strip().lower() in _HEADERS:
            continue
        if len(cells) != _PAIR or not cells[0].strip():
            raise malformed(path, number, f"it has {len(cells)} columns, not a query and an answer")
        yield cells[0].strip(), "", _checked(cells[1:], path, number)


def _checked(some: Sequence[object], path: Path, number: int) -> tuple[str, ...]:
    texts = [normalized(one) if isinstance(one, str) else "" for one in some]
    if not texts or not all(texts):
        raise malformed(path, number, "an answer of it is no text, or holds no letter and no digit")
    return tuple(texts)
