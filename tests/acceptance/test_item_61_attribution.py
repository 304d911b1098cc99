"""Checklist item 61: every answer says where each of its sentences is from, whatever the model does about it."""

from support.fake_llm_server import chatting, saying
from twofold import Index
from twofold.answer.types import REFUSAL, Answer
from twofold.models.embedders.hashing import HashingEmbedder

GUIDE = (
    "# Undoing\n\nTo undo the last commit but keep your changes, use git reset --soft HEAD~1. It moves the branch.\n\n"
    "# Stashing\n\nA stash puts changes aside. Bring them back with git stash pop.\n"
)
TOWER = "The Eiffel tower stands in Paris. It is 330 metres tall."


def made() -> Index:
    index = Index(":memory:", embedder=HashingEmbedder())
    index.add(GUIDE, source="docs/git.md", title="Git")
    index.add(TOWER, source="tower.txt")
    return index


def hold(index: Index, answer: Answer) -> None:
    """Hold every citation to its document, and every sentence to the answer's text."""
    for citation in answer.citations:
        assert index.document(citation.document).text[citation.start : citation.end] == citation.quote
        assert answer.sources[citation.number - 1].document == citation.document
    for sentence in answer.sentences:
        assert answer.text[sentence.start : sentence.end] == sentence.text
        markers = "".join(f" [{answer.citations[one].number}]" for one in sentence.citations)
        assert answer.text[sentence.end :].startswith(markers)


def test_extracts_are_the_documents_own_sentences_each_with_its_source() -> None:
    with made() as index:
        answer = index.ask("How do I undo the last commit?", settings={"answer.min_answerability": 0.0})
        hold(index, answer)

    assert answer.mode == "extractive"
    assert answer.sentences[0].text.startswith("To undo the last commit")
    assert all(one.supported and one.citations for one in answer.sentences)
    assert answer.citations[0].source == "docs/git.md"


def test_a_model_that_cites_nothing_is_cited_all_the_same() -> None:
    reply = "The Eiffel tower is in Paris. You can undo the last commit with git reset --soft HEAD~1."
    with made() as index, chatting(saying(lambda _: reply)) as address:
        answer = index.ask("Tower? Commit?", llm=f"{address}#m", settings={"answer.min_answerability": 0.0})
        hold(index, answer)

    assert [answer.citations[one.citations[0]].source for one in answer.sentences] == ["tower.txt", "docs/git.md"]


def test_a_marker_to_the_wrong_passage_is_put_right_and_one_to_nowhere_counted() -> None:
    with made() as index:
        order = [one.source for one in index.ask("Eiffel tower", settings={"answer.min_answerability": 0.0}).sources]
        wrong = order.index("docs/git.md") + 1
        reply = f"The Eiffel tower stands in Paris [{wrong}]. It is 330 metres tall [17]."
        with chatting(saying(lambda _: reply)) as address:
            answer = index.ask("Eiffel tower", llm=f"{address}#m", settings={"answer.min_answerability": 0.0})
        hold(index, answer)

    assert {one.source for one in answer.citations} == {"tower.txt"}
    assert answer.removed.markers == 1


def test_below_the_threshold_the_refusal_comes_with_the_nearest_passages() -> None:
    with made() as index:
        answer = index.ask("Which enzyme digests lactose?", settings={"answer.min_answerability": 0.9})

    assert answer.p_answerable is not None
    assert answer.p_answerable < 0.9
    assert answer.text == REFUSAL
    assert answer.refused
    assert answer.sources
    assert answer.citations == ()


def test_an_empty_index_is_refused_and_not_an_error() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        answer = index.ask("Anything?")

    assert answer.refused
    assert answer.sources == ()
