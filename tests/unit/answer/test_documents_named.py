"""Two documents are cited where the question, or the sentence that answers, names both by their titles."""

from collections.abc import Mapping

import pytest

from support.scripted_reranker import Dictated
from twofold import Index
from twofold.answer.types import Answer
from twofold.domain.ports import Scale
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.plugins import Plugins

NANTONG = "Nantong is a city in Jiangsu province."
JINGDEZHEN = "Jingdezhen is a city in northeastern Jiangxi province."
SAME = "Are Nantong and Jingdezhen in the same province?"
RAMSAY = "Kate Ramsay resigned in May to become a lobbyist for Boston Beer Company."
BREWER = "The brewer was founded in 1984."
FOUNDED = "When was the company founded for which Kate Ramsay resigned?"


def asked(
    question: str, texts: Mapping[str, str], scores: Mapping[str, float], last: int | None = None, **settings: object
) -> Answer:
    """Ask documents by their titles; the model reads `scores` into their sentences, -9 into others."""
    reads = Dictated({**scores, "": -9.0}, Scale.LOGIT, last=last)
    chosen = {"answer.min_answerability": 0.0, "rerank.model": "own", **settings}
    with Index(":memory:", embedder=HashingEmbedder(), plugins=Plugins(rerankers={"own": reads})) as index:
        for title, text in texts.items():
            index.add(text, source=f"{title}.md", title=title)
        return index.ask(question, settings=chosen)


def cited(answer: Answer) -> list[str]:
    return [one.source.removesuffix(".md") for one in answer.citations]


def test_a_question_that_names_two_documents_cites_both() -> None:
    """The second sentence is less likely than any that would follow the first: 8 and -1, where 2 · 2.3 is the most."""
    texts = {"Nantong": NANTONG, "Jingdezhen": JINGDEZHEN, "Lion": "Lions sleep by day."}

    answer = asked(SAME, texts, {"Jiangsu": 8.0, "Jiangxi": -1.0})

    assert answer.text == f"{NANTONG} [1]\n\n{JINGDEZHEN} [2]"
    assert [(one.title, one.where) for one in answer.links] == [("Jingdezhen", "question")]
    assert not answer.rounds


def test_a_document_that_the_first_sentence_names_goes_on_where_that_ends() -> None:
    """Its title says in parentheses what it is. The sentence is read for the question with the first one."""
    texts = {"Kate Ramsay": RAMSAY, "Boston Beer Company (brewer)": BREWER, "Lion": "Lions sleep by day."}

    answer = asked(FOUNDED, texts, {"lobbyist": 8.0, "brewer": -2.0})

    assert cited(answer) == ["Kate Ramsay", "Boston Beer Company (brewer)"]
    assert [(one.title, one.where) for one in answer.links] == [("Boston Beer Company", "sentence")]


@pytest.mark.parametrize(
    ("question", "title"),
    [
        pytest.param("Which harbors does Nantong have?", "Harbors", id="a word, not a name"),
        pytest.param("Is Nantong in Old Jiangsu?", "Jiangsu (old)", id="of the first sentence, and the same"),
        pytest.param("Where is Nantong Airport?", "Airport Nantong", id="in another order"),
    ],
)
def test_a_title_is_named_word_for_word_with_a_capital(question: str, title: str) -> None:
    texts = {"Nantong": NANTONG.replace("Jiangsu", "a"), title: "It is an old one."}

    answer = asked(question, texts, {"city": 8.0})

    assert cited(answer)[:1] == ["Nantong"]
    assert ("Jiangsu" in title) == bool(answer.links)


def test_the_longer_of_two_titles_is_meant() -> None:
    texts = {
        "Act of War: Direct Action": "Act of War: Direct Action is a game with a story by Dale Brown.",
        "Direct action": "Direct action is a form of activism.",
    }

    answer = asked("Who wrote Act of War: Direct Action?", texts, {"game": 8.0})

    assert cited(answer) == ["Act of War: Direct Action"]


def test_there_are_three_sentences_at_most_and_those_of_documents_named_come_before_others() -> None:
    """Without them the second and third would be those of the first document, which are hardly less likely."""
    texts = {
        "Nantong": f"{NANTONG}\n\nNantong is a port.\n\nNantong has a tower.",
        "Jingdezhen": JINGDEZHEN,
        "Suzhou": "Suzhou is a city of canals.",
    }
    scores = {"Jiangsu": 8.0, "port": 7.9, "tower": 7.8, "Jiangxi": -1.0, "canals": -2.0}
    question = "Are Nantong, Jingdezhen and Suzhou in the same province?"

    three, one = asked(question, texts, scores), asked(question, texts, scores, **{"answer.sentences": 1})

    assert cited(three) == ["Nantong", "Jingdezhen", "Suzhou"]
    assert cited(one) == ["Nantong"]


def test_a_title_that_many_documents_share_names_none_of_them() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add(NANTONG, source="nantong.md", title="Nantong")
        for number in range(3):
            index.add(f"Volume {number} of something else.", source=f"{number}.md", title="Yearbook")
        answer = index.ask("Is Nantong in the Yearbook?", settings={"answer.min_answerability": 0.0})

    assert not answer.links


def test_without_a_cross_encoder_the_sentence_is_chosen_by_its_words() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add(NANTONG, source="nantong.md", title="Nantong")
        index.add(f"It makes porcelain. {JINGDEZHEN}", source="jingdezhen.md", title="Jingdezhen")
        answer = index.ask(SAME, settings={"answer.min_answerability": 0.0})

    assert {one.source for one in answer.citations} == {"nantong.md", "jingdezhen.md"}
    assert JINGDEZHEN in answer.text


def test_where_the_model_fails_the_sentences_chosen_stay_with_a_warning() -> None:
    """It reads the passages and the first sentences, and is gone when that of the other document is to be read."""
    texts = {"Nantong": NANTONG, "Jingdezhen": JINGDEZHEN}

    answer = asked(SAME, texts, {"Jiangsu": 8.0, "Jiangxi": -1.0}, last=2)

    assert cited(answer) == ["Nantong"]
    assert [one.stage for one in answer.warnings] == ["extract"]
