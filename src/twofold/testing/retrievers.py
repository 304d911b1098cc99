"""What every retriever promises, as a suite to be tried on one of your own."""

import math
from concurrent.futures import ThreadPoolExecutor

from twofold.domain.ports import Retriever

QUESTIONS = (
    "",
    " ",
    "?",
    "a question of several words",
    "\x00",
    "\ud800",
    "漢字かな",
    "👩‍👩‍👧‍👦",
    "'; DROP TABLE x; --",
    "w " * 2_000,
)


class RetrieverContract:
    """Derive a class whose name begins with `Condition` from it, and give it a fixture `retriever`.

    `question` is one that the retriever finds something for.
    """

    question = "question"

    def test_something_is_found(self, retriever: Retriever) -> None:
        assert retriever.search(self.question, 10)

    def test_no_more_than_k_are_given_and_none_twice(self, retriever: Retriever) -> None:
        for k in (1, 2, 10, 1_000):
            found = [one.chunk_id for one in retriever.search(self.question, k)]
            assert len(found) <= k
            assert len(set(found)) == len(found)

    def test_scores_are_numbers_and_passages_have_names(self, retriever: Retriever) -> None:
        for one in retriever.search(self.question, 100):
            assert math.isfinite(one.score)
            assert isinstance(one.chunk_id, str)
            assert one.chunk_id

    def test_fewer_are_the_best_of_more(self, retriever: Retriever) -> None:
        more = sorted((one.score for one in retriever.search(self.question, 100)), reverse=True)
        few = sorted((one.score for one in retriever.search(self.question, 1)), reverse=True)

        assert few == more[:1]

    def test_any_text_may_be_asked(self, retriever: Retriever) -> None:
        for question in QUESTIONS:
            assert len(retriever.search(question, 3)) <= 3

    def test_callers_in_several_threads_get_their_own_answers(self, retriever: Retriever) -> None:
        expected = {(one.chunk_id, one.score) for one in retriever.search(self.question, 10)}
        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(lambda _: retriever.search(self.question, 10), range(24)))

        assert all({(one.chunk_id, one.score) for one in answer} == expected for answer in answers)
