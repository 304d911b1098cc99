"""Taking a question's operators back: nothing that binds is left, and no word that was asked for is lost."""

from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.filters import MATCH_ALL
from twofold.query.parse import Analysis, ParsedQuery, loosened, parse
from twofold.text.analyzers import analyzer_for
from twofold.text.unicode_normalization import fold

PIECES = st.sampled_from(
    [
        "reset",
        "+commit",
        "-merge",
        '"soft reset"',
        '+"a tree"',
        '-"hard reset"',
        "type:.sql",
        "-path:old",
        "--hard",
    ]  # no quote without its partner: it finds another one when the quotes of a phrase are taken away
)


def read(text: str) -> ParsedQuery:
    made = analyzer_for("english")
    return parse(text, Analysis(fold, made.query, made.phrase_terms, made.clause_terms))


@given(st.lists(PIECES, min_size=1, max_size=6))
def test_with_every_operator_taken_back_nothing_binds(pieces: list[str]) -> None:
    question = " ".join(["undo", *pieces])
    parsed, given_back = read(question), loosened(question)

    bound = len(parsed.required) + len(parsed.excluded) + (parsed.filter != MATCH_ALL)
    assert bool(given_back) == bool(bound)
    if given_back:
        free = read(given_back[-1])
        assert (free.required, free.excluded, free.filter) == ((), (), MATCH_ALL)
        assert free.terms == parsed.terms
    for one in given_back:
        assert "".join(read(one).words.split()) == "".join(parsed.words.split())


def test_a_plain_question_has_nothing_to_take_back() -> None:
    assert loosened("undo git-reset --hard it's") == ()
