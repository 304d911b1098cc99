"""Judged questions answered of the documents' own sentences: how sure each answer is of itself, and if it is right."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from twofold.answer.certainty import p_correct
from twofold.answer.engine import reading_of
from twofold.answer.extract import Extracts, assembled, selection
from twofold.answer.plan import AnswerPlan
from twofold.answer.plan import Question as Asked
from twofold.answer.sources import answering, sources_of
from twofold.evaluation.answer_text import AnswerKey, holds_answer
from twofold.evaluation.dataset import JudgedCollection, Question
from twofold.evaluation.run import searched
from twofold.indexing.components import IndexingComponents
from twofold.search.plan import SearchPlan

IsRight = Callable[[str, Extracts], bool]
"""Whether what is shown answers the question of this id."""


def cites_relevant(judged: JudgedCollection, names: Mapping[str, str]) -> IsRight:
    """Return the judge to whom an answer is right that cites a relevant document; `names` are as for `find_all`."""

    def is_right(question: str, made: Extracts) -> bool:
        grades = judged.grades[question]
        return any(grades.get(names.get(one.document, one.source), 0) > 0 for one in made.citations)

    return is_right


def shows_answer(answered: AnswerKey) -> IsRight:
    """Return the judge to whom an answer is right that shows one of the question's answers."""
    return lambda question, made: holds_answer(made.text, answered.answers[question])


def answer_all(
    parts: IndexingComponents, questions: Sequence[Question], plan: SearchPlan, sentences: int, is_right: IsRight
) -> Iterator[tuple[float | None, bool]]:
    """Answer every question of the documents' own sentences; yield the chance of each answer, and if it was right.

    Raises ModelError where a search or the cross-encoder fails.
    """
    reading, how = reading_of(parts, plan), AnswerPlan(sentences=sentences)
    for question in questions:
        found = searched(parts, question.text, plan)
        asked = Asked(question.text, terms=parts.analyzer.query(question.text))
        sources = sources_of(answering(found.hits))
        made = assembled(asked, selection(asked, how, found, sources, reading)[0], sources)
        yield p_correct(made.evidence) if made.text else 0.0, is_right(question.id, made)
