"""A joined context is cut at 12,000 characters, wherever that is."""

from support.source_files import source
from twofold.answer.context import Budget, build_context, template_named

AANAE = Budget(tokens=0, characters=12_000)


def test_the_context_is_cut_at_12000_characters() -> None:
    sources = [source(letter * 5_000, number, f"{letter}.txt") for number, letter in enumerate("abcd", 1)]

    context = build_context(sources, template_named("aanae"), AANAE, "truncate")

    assert len(context.text) == 12_000
    assert context.text == "\n\n".join(letter * 5_000 for letter in "abc")[: 12_000 - 3] + "..."
    assert [one.given for one in context.sources] == [True, True, True, False]
    assert context.cut


def test_what_fits_is_left_alone() -> None:
    context = build_context([source("a" * 12_000)], template_named("aanae"), AANAE, "truncate")

    assert context.text == "a" * 12_000
    assert not context.cut
