"""Questions made to be slow: refused before any work is done, or small enough that the work is bounded."""

import pytest

from support.indexes import GIT, Counted, indexed
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import MAX_QUESTION_LENGTH
from twofold.ranking.boost import MAX_QUESTION_LENGTH as MAX_SEARCHED_LENGTH
from twofold.ranking.boost import codes_in, compile_patterns
from twofold.search.engine import SearchOptions

MEGABYTE = 1_000_000
PIECES = ("w", "word ", '"a b" ', "+x ", "-x ", "type:.x ", "\ufdfa", "a\u0301", "漢", "( ", "ERR-1 ", "\x00", "\ud800")
EVIL = (r"(a+)+$", r"(a|aa)+$", r"(.*a){12}", r"(?:a?){30}a{30}", r"([a-z]+)*\d")


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_a_megabyte_is_refused_before_anything_is_asked(piece: str, mode: str) -> None:
    embedder = Counted()
    index = indexed(GIT, embedder=embedder)
    for ask in (index.search, lambda text, mode: index.search_many(["undo", text], SearchOptions(mode=mode))):
        with pytest.raises(InvalidInputError, match="characters") as refused:
            ask((piece * MEGABYTE)[:MEGABYTE], mode=mode)
        assert refused.value.hint

    assert embedder.asked == []
    assert index.metrics().errors == {"InvalidInputError": 2}


@pytest.mark.parametrize("piece", ["word{n} ", "+w{n} ", '"a{n} b" ', "A{n}-B{n} ", "漢{n}"])
def test_the_longest_question_has_no_more_terms_than_characters_allow(piece: str) -> None:
    text = "".join(piece.replace("{n}", str(number)) for number in range(MAX_QUESTION_LENGTH))[:MAX_QUESTION_LENGTH]
    embedder = Counted()
    result = indexed(GIT, embedder=embedder).search(text)

    assert len(embedder.asked) == 1
    (parse,) = [stage for stage in result.stages if stage.name == "parse"]
    assert len(parse.notes[0]) <= 8 * MAX_QUESTION_LENGTH


@pytest.mark.parametrize("pattern", EVIL)
def test_patterns_that_backtrack_elsewhere_look_at_each_character_once(pattern: str) -> None:
    patterns = compile_patterns([pattern])

    assert isinstance(codes_in(patterns, "a" * MEGABYTE + "!"), tuple)
    assert codes_in(patterns, " " * MAX_SEARCHED_LENGTH + "aaa1") == ()
