"""What every generator promises, whatever it writes, as a suite to be tried on one of your own."""

from contextlib import closing

import pytest

from twofold.domain.errors import InvalidInputError
from twofold.domain.generators import Generator, Message

ASKED = (Message("user", "Say hello."),)


class GeneratorContract:
    """Derive a class whose name begins with `Condition` from it, and give it a fixture `generator`."""

    def test_a_reply_comes_in_pieces_none_of_them_empty(self, generator: Generator) -> None:
        with closing(generator.stream(ASKED, max_tokens=200)) as reply:
            pieces = list(reply)

        assert pieces
        assert all(pieces)

    def test_closing_ends_a_reply(self, generator: Generator) -> None:
        reply = generator.stream(ASKED, max_tokens=200)
        next(reply)
        reply.close()
        reply.close()

        assert list(reply) == []

    def test_closing_before_anything_was_asked_for_gives_nothing(self, generator: Generator) -> None:
        reply = generator.stream(ASKED)
        reply.close()

        assert list(reply) == []

    def test_what_no_model_can_be_asked_is_refused(self, generator: Generator) -> None:
        with pytest.raises(InvalidInputError, match="no messages"):
            generator.stream([])
        for tokens in (0, -1, 100_001):
            with pytest.raises(InvalidInputError, match="max_tokens"):
                generator.stream(ASKED, max_tokens=tokens)
        for number in (-0.1, 2.1, float("nan")):
            with pytest.raises(InvalidInputError, match="temperature"):
                generator.stream(ASKED, temperature=number)
        for number in (0.0, -1.0, float("inf"), float("nan")):
            with pytest.raises(InvalidInputError, match="seconds"):
                generator.stream(ASKED, seconds=number)
        for stops in ([""], list("abcde")):
            with pytest.raises(InvalidInputError, match="stop"):
                generator.stream(ASKED, stop=stops)
