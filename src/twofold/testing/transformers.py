"""What every query transformer promises, as a suite to be tried on one of your own."""

from concurrent.futures import ThreadPoolExecutor

from twofold.domain.errors import TwofoldError
from twofold.domain.ports import QueryTransformer

CONTEXTS: tuple[dict[str, str] | None, ...] = (None, {}, {"history": "User: What is git?"})
QUESTIONS = ("?", "a question of several words", "\x00", "\ud800", "漢字かな", "👩‍👩‍👧‍👦", "w " * 2_000)


class TransformerContract:
    """Derive a class whose name begins with `Condition` from it, and give it a fixture `transformer`.

    `question` is one that the transformer has another query for.
    """

    question = "question"

    def test_another_wording_is_given(self, transformer: QueryTransformer) -> None:
        made = transformer.transform(self.question, None)

        assert made.strip()
        assert made != self.question

    def test_every_context_is_taken_and_left_as_it_was(self, transformer: QueryTransformer) -> None:
        for context in CONTEXTS:
            before = None if context is None else dict(context)
            assert isinstance(transformer.transform(self.question, context), str)
            assert context == before

    def test_any_text_is_worded_or_refused_in_the_open(self, transformer: QueryTransformer) -> None:
        for question in QUESTIONS:
            try:
                made = transformer.transform(question, None)
            except TwofoldError as error:
                assert error.message
            else:
                assert isinstance(made, str)

    def test_callers_in_several_threads_get_their_own_wordings(self, transformer: QueryTransformer) -> None:
        with ThreadPoolExecutor(6) as pool:
            made = list(pool.map(lambda _: transformer.transform(self.question, None), range(24)))

        assert all(one.strip() for one in made)
