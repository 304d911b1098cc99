"""Answers without a language model: the sentence that answers first, few of them, whole, and none twice."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.documents import Words, pdf_of
from support.scripted_reranker import Dictated
from twofold import Index
from twofold.answer.certainty import READER
from twofold.answer.types import Answer
from twofold.domain.errors import ModelError
from twofold.domain.ports import Scale
from twofold.domain.types import Scores
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


def test_a_sentence_of_an_entry_is_read_and_shown_with_its_name() -> None:
    """The model is asked about the default below its name; alone it would say nothing."""
    text = (
        "Settings of locks\n\ndeadlock_timeout (integer)\n  How long to wait before a deadlock is looked for."
        " Looking is dear. The default is one second.\n\nport (integer)\n  Where the server listens."
    )
    whole = "deadlock_timeout (integer) How long to wait before a deadlock is looked for. The default is one second."
    reads = Dictated({whole: 9.0}, Scale.LOGIT)
    with Index(":memory:", embedder=HashingEmbedder(), plugins=Plugins(rerankers={"own": reads})) as index:
        index.add(text, source="locks.txt")
        answer = index.ask("How long until it looks for a deadlock?", settings=ANY | {"rerank.model": "own"})

    assert answer.sentences[0].text == whole
    assert [answer.citations[at].quote for at in answer.sentences[0].citations][1] == "The default is one second."


def test_a_sentence_that_needs_the_one_before_it_comes_with_it() -> None:
    """Both in a row score 8 and the second alone 0: it is shown with the first, which another one would not be."""
    text = "Keys are kept on a stick. Nobody else may hold one of these.\n\nBread is baked. Rolls are baked early."
    reads = Dictated({"stick. Nobody": 8.0, "Rolls": -3.0, "Bread": -3.0}, Scale.LOGIT)
    with Index(":memory:", embedder=HashingEmbedder(), plugins=Plugins(rerankers={"own": reads})) as index:
        index.add(text, source="keys.txt")
        answer = index.ask("Who holds the keys?", settings=ANY | {"rerank.model": "own"})

    assert answer.sentences[0].text == "Keys are kept on a stick. Nobody else may hold one of these."
    assert len(answer.sentences) == 1


STABLE = "The stable was built by Ada.\n\nBread is baked.\n\nCats sleep here.\n\nBirds sing."


def read_by(score: float, threshold: float, name: str = READER, others: float = 0.0) -> Answer:
    """Answer where the first sentence has this logit, and the three others have that one."""
    reads = Dictated({"Ada": score, "Bread": others, "Cats": others, "Birds": others}, Scale.LOGIT, name=name)
    with Index(":memory:", embedder=HashingEmbedder(), plugins=Plugins(rerankers={"own": reads})) as index:
        index.add(STABLE, source="stable.txt")
        return index.ask(
            "Who built the stable?", settings={"answer.min_answerability": threshold, "rerank.model": "own"}
        )


def test_the_chance_that_an_answer_is_correct_comes_from_its_own_evidence() -> None:
    """6 above three others at 0: -1.56 + .35 · 6 + .34 · 6 = 2.58, and 1 / (1 + exp(-2.58)) = .93."""
    answer = read_by(6.0, 0.3)

    assert answer.evidence is not None
    assert (answer.evidence.read, answer.evidence.rise) == (6.0, 6.0)
    assert answer.p_correct == pytest.approx(1 / (1 + math.exp(-2.58)), abs=1e-3)
    assert not answer.refused


def test_what_its_own_evidence_speaks_against_is_refused() -> None:
    """All four have -9, so that the first has no rise: -1.56 - .35 · 9 = -4.71, p = .009, below .7 of .3."""
    refused, shown = read_by(-9.0, 0.3, others=-9.0), read_by(-9.0, 0.0, others=-9.0)

    assert refused.refused
    assert refused.p_correct == pytest.approx(1 / (1 + math.exp(4.71)), abs=1e-3)
    assert not shown.refused


class LateReader(Dictated):
    """Fails the search, which goes on by words, for which there is a `p_answerable`, and reads sentences after that."""

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        if not self.asked:
            self.asked.append((query, ()))
            message = "the reranker is not there yet."
            raise ModelError(message, "Wait.")
        return super().score(query, texts)


def read_late(question: str, score: float, others: float) -> Answer:
    """Answer where BM25 says what was found and the sentence on Ada has this logit, all others that one."""
    scores = {"Ada": score, "Bread": others, "Cats": others, "Birds": others}
    reads = LateReader(scores, Scale.LOGIT, name=READER)
    with Index(":memory:", embedder=HashingEmbedder(), plugins=Plugins(rerankers={"own": reads})) as index:
        index.add(STABLE, source="stable.txt")
        for place in range(5):
            index.add(f"Horses number {place} graze on a meadow by the river.", source=f"horses-{place}.txt")
        return index.ask(question, settings={"rerank.model": "own", "search.mode": "bm25"})


def test_an_answer_that_its_own_evidence_speaks_for_is_shown_though_little_seemed_to_be_found() -> None:
    """Half of the words are found: p = .17, below .3. 5, 7 above the rest: -1.56 + 1.75 + 2.38 = 2.57, p = .93.

    The square root of .17 · .93 is .40, above .7 · .3 = .21.
    """
    answer = read_late("What is the price of a stable?", 5.0, -2.0)

    assert 0.06 < (answer.p_answerable or 0.0) < 0.3
    assert answer.p_correct == pytest.approx(1 / (1 + math.exp(-2.57)), abs=1e-3)
    assert not answer.refused
    assert not answer.doubtful
    assert answer.sentences[0].text == "The stable was built by Ada."


def test_a_doubtful_answer_is_shown_where_something_was_surely_found() -> None:
    """-2, .5 above the rest: -1.56 - .7 + .17 = -2.09, p = .11; with p = .95 of what was found the root is .32."""
    shown, refused = (
        read_late("Who built the stable?", -2.0, -2.5),
        read_late("What is the price of a stable?", -2.0, -2.5),
    )

    assert shown.p_correct == pytest.approx(1 / (1 + math.exp(2.09)), abs=1e-3)
    assert not shown.refused
    assert shown.doubtful
    assert refused.refused
    assert not refused.doubtful
    assert refused.p_correct == shown.p_correct


def test_nothing_is_claimed_of_what_another_model_read() -> None:
    answer = read_by(6.0, 0.3, name="another")

    assert answer.evidence is not None
    assert answer.p_correct is None


IN_CHINESE = "马厩是由艾达建造的。\n\n面包在别处烘烤。\n\n猫睡在这里。\n\n鸟在歌唱。"


@pytest.mark.parametrize(
    ("text", "question", "wrong", "reader", "is_read"),
    [
        (IN_CHINESE, "马厩是谁建造的?", "猫", READER, False),
        (IN_CHINESE, "马厩是谁建造的?", "猫", "of my own", True),
        (
            "Der Stall wurde von Ada gebaut.\n\nKatzen schlafen hier.",
            "Wer hat den Stall gebaut?",
            "Katzen",
            READER,
            True,
        ),
    ],
)
def test_the_english_cross_encoder_does_not_choose_among_sentences_in_another_script(
    text: str, question: str, wrong: str, reader: str, *, is_read: bool
) -> None:
    """It likes the sentence about cats; by its words the one about the stable answers."""
    reads = Dictated({wrong: 9.0}, Scale.LOGIT, name=reader)
    with made(text, Plugins(rerankers={"own": reads})) as index:
        answer = index.ask(question, settings=ANY | {"rerank.model": "own"})

    assert (answer.evidence is not None) is is_read
    assert (wrong in answer.sentences[0].text) is is_read


def test_joined_embedders_of_the_catalog_have_their_answers_read_too(real_models: Path) -> None:
    own = {"embedder": "bge-small-en-v1.5+bge-small-en-v1.5", "models": str(real_models)}
    with Index(":memory:", overrides=own) as index:
        index.add(STABLE, source="stable.txt")
        answer = index.ask("Who built the stable?")

    assert answer.evidence is not None
    assert answer.evidence.reader == READER


FAQ = (
    "(12) I deleted much but the file did not get any smaller. Is this a bug?\n\n"
    "No. What is freed goes to a list of free pages. It is used again for what is added next.\n\n"
    "(13) May the file be renamed?\n\nYes. Nothing in the file holds its name."
)


def test_a_question_of_the_documents_is_no_answer_but_what_follows_it_is() -> None:
    with made(FAQ) as index:
        answer = index.ask("I deleted much, why is the file not any smaller?", settings=ANY)

    first = answer.sentences[0].text
    assert "What is freed goes to a list of free pages." in first
    assert not any("Is this a bug" in one.text or "any smaller" in one.text for one in answer.sentences)


def test_a_cross_encoder_reads_an_answer_below_the_question_that_it_answers() -> None:
    reads = Dictated({"Is this a bug? No. What is freed": 6.0}, Scale.LOGIT)
    with made(FAQ, Plugins(rerankers={"own": reads})) as index:
        answer = index.ask("May I see the file smaller?", settings=ANY | {"rerank.model": "own"})

    assert answer.sentences[0].text.startswith("No. What is freed")


def test_the_label_of_an_item_comes_with_what_it_names() -> None:
    text = "A value has a storage class.\n\n- INTEGER. The value is a whole number.\n- REAL. The value is a float."
    with made(text) as index:
        answer = index.ask("Which storage class is a whole number value?", settings=ANY | {"answer.sentences": 1})

    assert answer.sentences[0].text == "INTEGER. The value is a whole number."


def test_what_two_sentences_need_is_shown_once() -> None:
    """The second needs the first, and the third both: each is shown once, whatever is chosen first."""
    text = "The daemon writes a pid file. It is kept in the spool folder. This pid file is written as root."
    reads = Dictated({"pid file is written as root": 6.0, "kept in the spool": 6.0}, Scale.LOGIT)
    with made(text, Plugins(rerankers={"own": reads})) as index:
        answer = index.ask("Where is the pid file of the daemon?", settings=ANY | {"rerank.model": "own"})

    assert answer.text.count("The daemon writes a pid file.") == 1
    assert answer.text.count("kept in the spool folder") == 1


def test_the_bare_name_of_an_entry_is_no_sentence_of_an_answer() -> None:
    with made("quota_filecount\n\nIt limits the number of files. It can be used with a quota.") as index:
        answer = index.ask("What does quota_filecount limit?", settings=ANY)

    assert "quota_filecount" not in [one.text for one in answer.sentences]


def test_a_word_that_is_no_value_is_no_short_answer() -> None:
    with made("A timeout is by default treated as an error of the command.") as index:
        assert index.ask("How long is the timeout by default?", settings=ANY).short == ""
    with made('The option defaults to "relaxed" when unset.') as index:
        assert index.ask("What is the default of the option?", settings=ANY).short == "relaxed"


LIST_FILES = (
    "Packages are old. To list all the files of an installed package run the command\n\ndpkg --listfiles foo\n\n"
    "Other files are made later."
)
STATES = (
    "Every package has a state. The state of a package on hold is one of these:\n\n- unknown to the system,\n"
    "  or never named\n- wanted\n\n- removed, with its files\n\nBread is baked elsewhere."
)


def test_a_sentence_that_introduces_a_command_comes_with_it() -> None:
    with made(LIST_FILES) as index:
        answer = index.ask("How do I list the files of an installed package?", settings=ANY | {"answer.sentences": 1})

    assert (
        answer.sentences[0].text
        == "To list all the files of an installed package run the command\ndpkg --listfiles foo"
    )
    assert [one.quote for one in answer.citations][-1] == "dpkg --listfiles foo"


def test_a_sentence_that_ends_in_an_abbreviation_introduces_a_command() -> None:
    text = (
        "The answer is to give the command another name, e.g.\n\n    alias mkdir='nocorrect mkdir'\n\nBread is baked."
    )
    with made(text) as index:
        answer = index.ask("How is the command given another name?", settings=ANY | {"answer.sentences": 1})

    assert answer.sentences[0].text.endswith("another name, e.g.\n    alias mkdir='nocorrect mkdir'")


def test_a_sentence_that_ends_in_a_colon_introduces_the_lines_of_a_setting() -> None:
    block = "<RequireAll>\nRequire all granted\nRequire not ip 10.252.46.165\n</RequireAll>"
    with made(f"To keep one visitor out do this:\n\n{block}\n\nBread is baked:\n\nIt is good.") as index:
        kept_out = index.ask("How is one visitor kept out?", settings=ANY | {"answer.sentences": 1})
        baked = index.ask("Is bread baked?", settings=ANY | {"answer.sentences": 1})

    assert kept_out.sentences[0].text == f"To keep one visitor out do this:\n{block}"
    assert "good" not in baked.sentences[0].text


def test_an_entry_may_have_a_mark_for_its_name() -> None:
    with made("Escapes\n\n%?\n  The return status of the last command.\n\n%_\n  The state of the parser.") as index:
        answer = index.ask("Which escape shows the return status?", settings=ANY)

    assert answer.sentences[0].text == "%? The return status of the last command."


def test_a_sentence_that_introduces_a_list_comes_with_its_items() -> None:
    with made(STATES) as index:
        answer = index.ask("What is the state of a package on hold?", settings=ANY | {"answer.sentences": 1})

    assert answer.sentences[0].text == (
        "The state of a package on hold is one of these:\n- unknown to the system,\n  or never named\n- wanted\n\n"
        "- removed, with its files"
    )


SETTING = (
    "Ports\n\ntls-port\n  Grammar: tls-port <integer>;\n  Blocks: options\n"
    "  Specifies the port for encrypted queries.\n  This is the port that the server uses to receive"
    " encrypted queries over TLS. The default is 853.\n\npid-file\n  Where the number of the process is kept."
)


def read_as(text: str, question: str, **scores: float) -> Answer:
    """Answer a question about a text whose sentences have these logits, all others -9; `_` is a blank."""
    reads = Dictated({**{name.replace("_", " "): score for name, score in scores.items()}, "": -9.0}, Scale.LOGIT)
    with made(text, Plugins(rerankers={"own": reads})) as index:
        return index.ask(question, settings=ANY | {"rerank.model": "own"})


def test_what_holds_by_default_comes_with_what_a_setting_is_for() -> None:
    """The lines that say of what kind the setting is are left out, and each stretch is the document's own."""
    answer = read_as(SETTING, "Which port does the server use for TLS?", This_is_the_port=8.0)

    (sentence,) = answer.sentences
    assert sentence.text == (
        "tls-port Specifies the port for encrypted queries. This is the port that the server uses to receive"
        " encrypted queries over TLS. The default is 853."
    )
    assert [one.quote for one in answer.citations] == [
        "tls-port",
        "Specifies the port for encrypted queries.",
        "This is the port that the server uses to receive encrypted queries over TLS. The default is 853.",
    ]
    assert all(SETTING[one.start : one.end] == one.quote for one in answer.citations)


def test_a_default_in_the_fields_of_an_entry_is_kept() -> None:
    text = "Ports\n\nport\n  Syntax: port number\n  Default: 80\n  Where it listens. Any user may ask for it there."
    answer = read_as(text, "Who may ask for it?", Any_user=8.0)

    assert answer.sentences[0].text == "port Default: 80 Where it listens. Any user may ask for it there."


SYSTEMS = (
    "Systems\n\nThese are systems on which it does not run:\n\n- Windows\n- Solaris 10 and older\n"
    "- Linux without threads\n\nIt runs on others."
)


def test_an_item_comes_with_its_list_where_several_things_are_asked_for() -> None:
    introduction = "These are systems on which it does not run:"
    several = read_as(SYSTEMS, "On which systems can it not be run?", Linux=8.0, Solaris=7.9)
    one = read_as(SYSTEMS, "Does it run without threads?", Linux=8.0)

    assert [each.text for each in several.sentences] == [
        f"{introduction}\n- Windows\n- Solaris 10 and older\n- Linux without threads"
    ]
    assert one.sentences[0].text == f"{introduction} Linux without threads"


def test_an_abbreviation_is_no_end_of_the_sentence_before() -> None:
    text = "Traffic (e.g. DNS over TLS) cannot be read. That is why a file of keys is written."
    answer = read_as(text, "Why is a file of keys written?", That_is=8.0)

    assert [one.text for one in answer.sentences] == [text]


def test_nothing_follows_where_the_next_likeliest_is_what_leads_the_first() -> None:
    """The first sentence is shown with the second, which needs it; the third is nearly as likely and not shown."""
    text = "The kiln was built by Ada of red brick. She built it in March.\n\nThe kiln is old and stands in the yard."
    scores = {"Ada of red brick. She": 9.0, "She": 1.0, "Ada": 8.9, "yard": 8.5}
    reads = Dictated({**scores, "": -9.0}, Scale.LOGIT)
    with made(text, Plugins(rerankers={"own": reads})) as index:
        answer = index.ask("Who built the kiln?", settings=ANY | {"rerank.model": "own"})

    assert [one.text for one in answer.sentences] == ["The kiln was built by Ada of red brick. She built it in March."]


def test_brackets_that_cannot_be_a_marker_stay() -> None:
    text = "The weight of an oven is in [0, 1] and argv[0] names it, as others say [2]."
    with made(text) as index:
        answer = index.ask("What is the weight of an oven?", settings=ANY)

    assert answer.sentences[0].text == "The weight of an oven is in [0, 1] and argv[0] names it, as others say."
