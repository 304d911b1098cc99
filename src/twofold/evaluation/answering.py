"""Judged questions answered of the documents' own sentences: how sure each answer is of itself, and if it is right."""

from collections.abc import Mapping

from twofold.answer.certainty import p_correct
from twofold.answer.engine import reading_of
from twofold.answer.extract import evidence_for, extract
from twofold.answer.sources import sources_of, weights_of
from twofold.evaluation.dataset import JudgedCollection
from twofold.evaluation.run import searched
from twofold.indexing.components import IndexingComponents
from twofold.search.plan import SearchPlan


def answered_all(
    parts: IndexingComponents, judged: JudgedCollection, plan: SearchPlan, names: Mapping[str, str], sentences: int
) -> list[tuple[float | None, bool]]:
    """Answer every question of the documents' own sentences; return the chance of each answer, and if it was right.

    `names` are as for `find_all`. Raises ModelError as it does.
    """
    reading = reading_of(parts, plan)
    told: list[tuple[float | None, bool]] = []
    for question in judged.queries:
        found = searched(parts, question.text, plan)
        sources = sources_of(found.hits)
        chosen = extract(
            question.text, weights_of(found.hits, parts.analyzer.query(question.text)), sources, reading, sentences
        )
        by_number = {one.number: names.get(one.document, one.source) for one in sources}
        grades = judged.grades[question.id]
        right = any(grades.get(by_number[one.unit.source], 0) > 0 for one in chosen)
        told.append((p_correct(evidence_for(chosen)) if chosen else 0.0, right))
    return told
