"""Checklist 69: many questions are embedded at once."""

from support.indexes import GIT, Counted, indexed


def test_the_model_is_called_once_for_many_questions() -> None:
    model = Counted()
    questions = [f"question {number}" for number in range(70)]
    with indexed(GIT, embedder=model) as index:
        together = index.search_many(questions)
        calls = list(model.asked)
        alone = [index.search(question) for question in questions[:3]]

    assert calls == [tuple(questions)]
    assert [[(hit.chunk_id, hit.score) for hit in one.hits] for one in together[:3]] == [
        [(hit.chunk_id, hit.score) for hit in one.hits] for one in alone
    ]


def test_questions_asked_twice_are_embedded_once() -> None:
    model = Counted()
    with indexed(GIT, embedder=model) as index:
        undo, redo, again = index.search_many(["undo", "redo", "undo"])

    assert model.asked == [("undo", "redo")]
    assert [hit.chunk_id for hit in undo.hits] == [hit.chunk_id for hit in again.hits]
    assert (undo.query, redo.query) == ("undo", "redo")
