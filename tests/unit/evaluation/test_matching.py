"""Which documents of an index are meant by the names that somebody judged."""

from pathlib import Path

import pytest

from twofold.domain.errors import InvalidInputError, ReadError
from twofold.domain.types import DocumentInfo, document_id
from twofold.evaluation.dataset import Question
from twofold.evaluation.matching import as_written, matched
from twofold.evaluation.qrels import Judgement
from twofold.evaluation.queries import Judged


def info(source: str) -> DocumentInfo:
    return DocumentInfo(document_id(source), source, "", "text/plain", {}, "", 1, 1)


INDEX = [info("/notes/git/undo.md"), info("/notes/stash.md"), info("/old/stash.md"), info("tower.txt")]


def judged(*rows: tuple[str, str, int]) -> Judged:
    queries = tuple(Question(name, f"what is {name}") for name in ("q1", "q2"))
    return Judged("mine", Path("mine.csv"), queries, tuple(Judgement(*row) for row in rows))


@pytest.mark.parametrize("name", [INDEX[0].id, "/notes/git/undo.md", "undo.md", "git/undo.md", "/git/undo.md"])
def test_a_document_is_named_by_id_source_or_ending(name: str) -> None:
    found = matched(judged(("q1", name, 2)), INDEX)

    assert found.collection.grades == {"q1": {name: 2}}
    assert found.names == {INDEX[0].id: name}
    assert (found.unmatched, found.collection.missing_documents, found.collection.left_out) == ((), 0, 1)


def test_two_names_of_one_document_are_one() -> None:
    found = matched(judged(("q1", "undo.md", 1), ("q2", "git/undo.md", 1)), INDEX)

    assert found.collection.grades == {"q1": {"undo.md": 1}, "q2": {"undo.md": 1}}
    with pytest.raises(ReadError, match="two scores"):
        matched(judged(("q1", "undo.md", 1), ("q1", "git/undo.md", 2)), INDEX)


def test_an_ending_stands_at_the_edge_of_a_folder() -> None:
    found = matched(judged(("q1", "do.md", 1), ("q1", "tower.txt", 1)), INDEX)

    assert found.unmatched == ("do.md",)
    assert found.collection.missing_documents == 1
    assert found.collection.grades == {"q1": {"do.md": 1, "tower.txt": 1}}


def test_an_ending_of_two_documents_is_refused_and_both_are_named() -> None:
    with pytest.raises(InvalidInputError, match=r"2 documents end in 'stash\.md'") as caught:
        matched(judged(("q1", "stash.md", 1)), INDEX)

    assert "/old/stash.md" in caught.value.hint
    assert not matched(judged(("q1", "old/stash.md", 1)), INDEX).unmatched


def test_judgements_of_another_index_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="no judged document"):
        matched(judged(("q1", "elsewhere.md", 1)), INDEX)


def test_questions_without_a_relevant_document_count_nowhere() -> None:
    collection = as_written(judged(("q1", "a", 1), ("q2", "a", 0), ("q3", "a", 1)))

    assert [question.id for question in collection.queries] == ["q1"]
    assert (collection.left_out, collection.missing_queries) == (1, 1)
    with pytest.raises(InvalidInputError, match="no query has a relevant"):
        as_written(judged(("q1", "a", 0)))
