"""Checklist C13: a calibrated `p_answerable`, absolute: the best of a bad lot scores low."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.indexes import indexed
from twofold import Index
from twofold.models.catalog.entries import DEFAULT
from twofold.models.catalog.files import is_present

DOCUMENTS = {
    "lighthouse.md": "The lighthouse on Farrow Point was built of granite in 1841 and shows a white flash every ten "
    "seconds. Its keeper trimmed the lamp by hand until electricity came in 1932.",
    "ferry.md": "The ferry to Farrow Island leaves the north quay at seven and at noon. In a gale above force eight it "
    "does not sail, and tickets are refunded.",
    "bread.md": "Rye bread needs a sourdough starter, coarse rye flour, salt and a long rise in a cool kitchen. Bake "
    "it hot at first, then let the oven fall.",
    "bees.md": "A swarm of bees leaves the hive in May. The keeper catches it in a straw skep and gives it a new box "
    "with ten frames of wax.",
    "bicycle.md": "To true a bicycle wheel, turn the spoke nipple a quarter at a time and watch the rim between the "
    "brake blocks.",
    "piano.md": "A piano is tuned from the middle octave outwards. Damp air makes the soundboard swell and the pitch "
    "rises.",
    "chess.md": "In the endgame a rook belongs behind a passed pawn, and the king walks to the middle of the board.",
    "glass.md": "Glass is annealed slowly in a kiln, since glass that cools fast keeps stress and cracks.",
    "tea.md": "Green tea is steeped at seventy degrees for two minutes; boiling water makes it bitter.",
    "roof.md": "Slates on a roof are laid from the eaves upward, each course covering the nails of the one below.",
    "goats.md": "Goats are milked twice a day. A goat that eats wild garlic gives milk that tastes of it.",
    "ink.md": "Iron gall ink is made from oak galls, vitriol and gum. It darkens on paper as it meets the air.",
    "tide.md": "Spring tides come after the new moon and the full moon, when sun and moon pull together.",
    "wool.md": "Raw wool is washed in lukewarm water, carded and spun. The fleece of an old ram is coarse.",
}
ANSWERED = [
    "When was the lighthouse on Farrow Point built?",
    "How are slates laid on a roof?",
    "Which ink is made from oak galls and vitriol?",
    "At how many degrees is green tea steeped?",
]
UNANSWERED = [
    "Which enzyme splits lactose in the human gut?",
    "Who won the parliamentary election in Norway?",
    "How does a compiler allocate registers?",
    "What is the interest rate of the savings account?",
]
WAYS = ["hybrid", "bm25", "vector"]


def chance(index: Index, question: str, mode: str) -> float:
    """Search, and return how likely it is that something was found."""
    said = index.search(question, mode=mode).p_answerable
    assert said is not None
    return said


@pytest.fixture(scope="module")
def hashed() -> Iterator[Index]:
    with indexed(DOCUMENTS) as index:
        yield index


@pytest.mark.parametrize("mode", WAYS)
def test_every_question_with_an_answer_stands_above_every_one_without(hashed: Index, mode: str) -> None:
    answered = [chance(hashed, question, mode) for question in ANSWERED]
    unanswered = [chance(hashed, question, mode) for question in UNANSWERED]

    assert min(answered) > 0.5
    assert max(unanswered) < 0.3
    assert min(answered) > max(unanswered) + 0.3


def test_it_is_absolute_where_one_passage_is_all_that_was_found(hashed: Index) -> None:
    assert chance(hashed, "garlic in the milk of goats", "bm25") > 0.5
    assert chance(hashed, "garlic exports of the Ottoman empire under Suleiman", "bm25") < 0.3


@pytest.fixture(scope="module")
def embedded(real_models: Path) -> Iterator[Index]:
    if not is_present(DEFAULT, real_models):
        pytest.skip(f"no {DEFAULT.name} in {real_models}: run `make model`")
    said = {"embedder": DEFAULT.name, "models": str(real_models), "offline": True}
    with Index(":memory:", overrides=said) as index:
        for source, text in DOCUMENTS.items():
            index.add(text, source=source)
        yield index


@pytest.mark.model
@pytest.mark.parametrize("mode", WAYS)
def test_the_same_holds_with_the_default_model(embedded: Index, mode: str) -> None:
    answered = [chance(embedded, question, mode) for question in ANSWERED]
    unanswered = [chance(embedded, question, mode) for question in UNANSWERED]

    assert min(answered) > 0.5
    assert max(unanswered) < 0.3
