"""Answers without a language model: the sentence that answers first, few of them, whole, and none twice."""

from pathlib import Path

from support.documents import Words, pdf_of
from support.scripted_reranker import Dictated
from twofold import Index
from twofold.domain.ports import Scale
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.plugins import NO_PLUGINS, Plugins

ANY: dict[str, object] = {"answer.min_answerability": 0.0}
KILN = (
    "# The kiln\n\nThe kiln is old. People come to see the kiln. The kiln was built by Ada in 1911 of red brick.\n\n"
    "The kiln was built by Ada in 1911, of red brick.\n\nBread is baked elsewhere. Cats sleep in the sun."
)


def made(text: str, plugins: Plugins = NO_PLUGINS) -> Index:
    index = Index(":memory:", embedder=HashingEmbedder(), plugins=plugins)
    index.add(text, source="kiln.md")
    return index


def test_the_sentence_that_answers_comes_first_and_once() -> None:
    with made(KILN) as index:
        answer = index.ask("Who built the kiln of red brick?", settings=ANY)

    first, *rest = [one.text for one in answer.sentences]
    assert first.startswith("The kiln was built by Ada in 1911")
    assert not any("Ada" in text for text in rest)
    assert not any("Cats" in text or "Bread" in text for text in rest)
    assert len(answer.sentences) <= 3


def test_a_figure_that_is_asked_for_is_told_before_its_sentence() -> None:
    with made("The small kiln is red. The small kiln takes 12 hours to cool down.") as index:
        answer = index.ask("How long does the small kiln take to cool down?", settings=ANY)

    assert answer.short == "12 hours"
    assert answer.text.startswith("12 hours\n\nThe small kiln takes 12 hours to cool down. [1]")
    assert [answer.text[one.start : one.end] for one in answer.sentences] == [one.text for one in answer.sentences]


def test_a_row_is_told_as_a_table_and_cited_by_its_place(tmp_path: Path) -> None:
    rows = [("Millions", "2022", "2021"), ("Net sales", "34,229", "35,355"), ("Costs", "19,232", "18,795")]
    words = [
        Words(x, 700 - 15 * at, cell)
        for at, row in enumerate(rows)
        for x, cell in zip((72, 350, 450), row, strict=True)
    ]
    (tmp_path / "report.pdf").write_bytes(pdf_of([words]))
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.sync(tmp_path)
        answer = index.ask("net sales 2022", settings=ANY | {"answer.sentences": 1})
        document = index.document(answer.citations[0].document)

    (sentence,) = answer.sentences
    assert sentence.cells == (("Millions", "2022", "2021"), ("Net sales", "34,229", "35,355"))
    assert sentence.text.splitlines()[-1] == "| Net sales | 34,229 | 35,355 |"
    assert [one.quote for one in answer.citations] == ["Millions | 2022 | 2021", "Net sales | 34,229 | 35,355"]
    assert all(document.text[one.start : one.end] == one.quote for one in answer.citations)
    assert answer.citations[1].page == 1


def test_a_cross_encoder_that_reranks_chooses_sentences_too() -> None:
    """By words alone the third sentence answers; the model says that the last one does."""
    reads = Dictated({"Cats": 9.0}, Scale.LOGIT)
    with made(KILN, Plugins(rerankers={"own": reads})) as index:
        answer = index.ask("Who built the kiln of red brick?", settings=ANY | {"rerank.model": "own"})

    assert answer.sentences[0].text == "Cats sleep in the sun."


def test_a_cross_encoder_that_fails_is_named_and_words_choose() -> None:
    fails = Dictated({}, Scale.LOGIT, last=1)  # it reranks the passages, and is gone when sentences are to be read
    with made(KILN, Plugins(rerankers={"own": fails})) as index:
        answer = index.ask("Who built the kiln of red brick?", settings=ANY | {"rerank.model": "own"})

    assert answer.sentences[0].text.startswith("The kiln was built by Ada in 1911")
    assert [one.stage for one in answer.warnings] == ["extract"]
