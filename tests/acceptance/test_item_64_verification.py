"""Checklist item 64: an answer is held against the passages; what nothing supports is marked, flagged or refused."""

import pytest

from support.fake_llm_server import chatting, saying
from support.source_files import reading, source
from twofold import Index
from twofold.answer.citations import FLAG
from twofold.answer.groundedness import GroundednessChecker
from twofold.answer.types import REFUSAL
from twofold.models.embedders.hashing import HashingEmbedder

SAID = "The tower is 330 metres tall [1]. It was painted green by a famous dentist [1]."
TEXT = "The tower in Paris is 330 metres tall.\n\nIts lifts were renewed in 1986. They carry 40 people each."


def asked(verify: str) -> tuple[str, bool, list[bool | None], tuple[str, ...]]:
    with Index(":memory:", embedder=HashingEmbedder()) as index, chatting(saying(lambda _: SAID)) as address:
        index.add(TEXT, source="tower.txt")
        settings = {"answer.min_answerability": 0.0, "answer.unsupported": verify}
        answer = index.ask("How tall is it?", llm=f"{address}#m", settings=settings)
    return answer.text, answer.refused, [one.supported for one in answer.sentences], tuple(map(str, answer.warnings))


def test_without_it_sentences_are_marked_in_the_data_alone() -> None:
    text, refused, supported, _ = asked("mark")

    assert text == "The tower is 330 metres tall. [1] It was painted green by a famous dentist."
    assert supported == [True, False]
    assert not refused


def test_it_flags() -> None:
    assert asked("flag")[0].endswith(f"It was painted green by a famous dentist.{FLAG}")


def test_it_refuses_and_says_why() -> None:
    text, refused, _, degraded = asked("refuse")

    assert text == REFUSAL
    assert refused
    assert degraded == ("check unsupported: 1 of 2 sentences are supported by no passage.",)


@pytest.mark.parametrize("embedding", [True, False])
def test_a_sentence_is_cited_with_the_span_that_supports_it(embedding: bool) -> None:  # noqa: FBT001
    checker = GroundednessChecker([source(TEXT)], reading(embedding=embedding))
    found = checker.check("The lifts were renewed in 1986.")

    assert found.supported
    assert found.span is not None
    assert TEXT[found.span.start : found.span.end] == "Its lifts were renewed in 1986."


def test_a_number_that_the_source_does_not_hold_is_not_supported() -> None:
    checker = GroundednessChecker([source(TEXT)], reading())

    assert checker.check("The tower in Paris is 330 metres tall.").supported
    assert not checker.check("The tower in Paris is 350 metres tall.").supported


def test_a_name_that_the_source_does_not_hold_is_not_supported() -> None:
    checker = GroundednessChecker([source(TEXT)], reading())

    assert not checker.check("The tower in London is 330 metres tall.").supported


def test_the_number_of_an_item_is_no_claim() -> None:
    checker = GroundednessChecker([source(TEXT)], reading())

    assert checker.check("7. The tower in Paris is 330 metres tall.").supported


def test_what_claims_nothing_is_not_judged() -> None:
    checker = GroundednessChecker([source(TEXT)], reading())

    assert checker.check("Here is what the documents say:").supported is None
    assert checker.check("---").supported is None


def test_a_source_that_the_model_names_is_preferred_where_it_supports_as_well() -> None:
    twins = [source("The lifts carry 40 people.", 1, "a.txt"), source("The lifts carry 40 people.", 2, "b.txt")]
    checker = GroundednessChecker(twins, reading())

    first, named = checker.check("The lifts carry 40 people."), checker.check("The lifts carry 40 people.", [2])
    assert first.span is not None
    assert named.span is not None
    assert (first.span.source, named.span.source) == (1, 2)
