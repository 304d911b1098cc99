"""The memory of answers: what it may serve, what it forgets, and that it bears threads."""

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.factories import vector
from support.queries import key_of, parsed
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Condition, Operator
from twofold.ranking.fusion import FusionPlan
from twofold.search.cache import ResultCache, cache_key, canonical, distinguishing, may_share
from twofold.search.plan import CachePlan, SearchPlan

SAME = vector("whatever")  # one vector for all: only the keys tell questions apart


def shared(first: str, second: str, plan: CachePlan = CachePlan()) -> bool:
    memory: ResultCache[str] = ResultCache(plan)
    memory.put(key_of(first), SAME, "answer")
    return memory.get_similar(key_of(second), SAME) is not None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("how do I undo the last commit", "How to undo the last commit?"),
        ("the price of coffee", "the prices of coffee"),
        ("fix for error 12345", "the fix for error 12345?"),
        ('undo "last commit"', 'undo the "last commit"?'),
    ],
)
def test_questions_that_say_the_same_share_an_answer(first: str, second: str) -> None:
    assert shared(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("error 12345", "error 12346"),
        ("what is ERR-1", "what is ERR-2"),
        ("revenue in 2023", "revenue in 2024"),
        ("revenue in ٢٠٢٣", "revenue in ٢٠٢٤"),
        ("the US law", "us law"),
        ("does it work", "does it not work"),
        ("does it work", "doesn't it work"),
        ("does it work", "doesn\u2019t it work"),
        ("When did the movement begin?", "Where did the movement begin?"),
        ("commits before the merge", "commits after the merge"),
        ("Wann begann die Reise", "Wo begann die Reise"),
        ("commit with merge", "commit without merge"),
        ("Kosten mit Steuer", "Kosten ohne Steuer"),
        ("Kosten der Reise außer Essen", "Kosten der Reise mit Essen"),
        ("他来了", "他没来了"),
        ("x < y", "x > y"),
        ("cost in $", "cost in €"),
        ("undo commit", "undo +commit"),
        ("undo commit", 'undo "commit"'),
        ("undo commit -merge", "undo commit -reset"),
        ("undo commit", "undo commit type:.md"),
        ("undo type:.sql", "undo type:.md"),
        ("flights from Paris to London", "flights from London to Paris"),
        ("did Alice email Bob", "did Bob email Alice"),
        ("salary of an employer", "salary of an employee"),
    ],
)
def test_questions_that_differ_in_a_word_a_mark_or_in_order_share_none(first: str, second: str) -> None:
    assert not shared(first, second)
    assert not shared(second, first)


def test_a_near_question_is_served_the_nearest_answer_and_keeps_its_own_cosine() -> None:
    memory: ResultCache[str] = ResultCache(CachePlan(semantic_threshold=0.5))
    near, far = np.array([0.9, 0.1, 0.0], np.float32), np.array([0.7, 0.7, 0.0], np.float32)
    memory.put(key_of("undo the commit"), far, "far")
    memory.put(key_of("undo a commit"), near, "near")
    found = memory.get_similar(key_of("undo commit"), np.array([2.0, 0.0, 0.0], np.float32))

    assert found is not None
    assert found.value == "near"
    assert found.cosine == pytest.approx(0.9 / np.hypot(0.9, 0.1))


def test_the_same_question_is_found_without_a_vector_and_says_so() -> None:
    memory: ResultCache[str] = ResultCache()
    memory.put(key_of("undo  the\tcommit "), None, "answer")
    found = memory.get_exact(key_of("undo the commit"))

    assert found is not None
    assert (found.value, found.cosine) == ("answer", None)


def test_a_threshold_of_one_leaves_near_questions_out() -> None:
    assert not shared("undo the commit", "undo a commit", CachePlan(semantic_threshold=1.0))
    assert shared("undo the commit", "undo the commit", CachePlan(semantic_threshold=1.0))


@pytest.mark.parametrize("bad", [np.zeros(16), np.full(16, np.nan), np.full(16, np.inf)])
def test_a_vector_without_direction_is_near_to_nothing(bad: np.ndarray) -> None:
    memory: ResultCache[str] = ResultCache()
    memory.put(key_of("undo a commit"), SAME, "good")
    memory.put(key_of("undo my commit"), bad.astype(np.float32), "bad")

    assert memory.get_similar(key_of("undo the commit"), bad.astype(np.float32)) is None
    found = memory.get_similar(key_of("undo the commit"), SAME)
    assert found is not None
    assert found.value == "good"


def test_a_vector_of_another_width_is_near_to_nothing() -> None:
    memory: ResultCache[str] = ResultCache()
    memory.put(key_of("undo a commit"), SAME, "good")

    assert memory.get_similar(key_of("undo the commit"), SAME[:8]) is None


def test_other_settings_are_a_miss() -> None:
    memory: ResultCache[str] = ResultCache()
    plan = SearchPlan()
    memory.put(key_of("undo", settings=(plan, "model a")), SAME, "answer")

    others = [
        replace(plan, k=9),
        replace(plan, filter=Condition("n", Operator.EQ, 1)),
        replace(plan, fusion=FusionPlan(vector_weight=0.5)),
    ]
    for settings in [*((other, "model a") for other in others), (plan, "model b"), (plan,), ()]:
        assert memory.get_similar(key_of("undo", settings=settings), SAME) is None
    assert memory.get_similar(key_of("undo", settings=(SearchPlan(), "model a")), SAME) is not None


def test_a_change_of_the_collection_is_a_miss_and_evicts_what_was_answered_before() -> None:
    memory: ResultCache[str] = ResultCache()
    memory.put(key_of("undo", generation=1), SAME, "old")
    memory.put(key_of("other", generation=1), SAME, "old")

    assert memory.get_similar(key_of("undo", generation=2), SAME) is None
    counts = memory.counts()
    assert (counts.stale, counts.size) == (2, 0)


def test_an_answer_that_comes_late_from_an_earlier_state_is_not_kept() -> None:
    memory: ResultCache[str] = ResultCache()
    memory.put(key_of("undo", generation=2), SAME, "new")
    memory.put(key_of("redo", generation=1), SAME, "late")

    assert memory.counts().size == 1
    assert memory.get_similar(key_of("redo", generation=1), SAME) is None
    assert memory.counts().size == 1


def test_a_change_of_one_collection_leaves_the_answers_of_others() -> None:
    memory: ResultCache[str] = ResultCache()
    asked = parsed("undo")
    both = cache_key(asked, [("a", 1), ("b", 1)], ())
    alone = cache_key(asked, [("b", 1)], ())
    memory.put(both, None, "both")
    memory.put(alone, None, "alone")
    memory.get_similar(cache_key(asked, [("a", 2)], ()), SAME)

    assert memory.get_exact(both) is None
    assert memory.get_exact(alone) is not None
    assert cache_key(asked, [("b", 1), ("a", 1)], ()) == both


def test_what_was_used_last_is_kept_longest() -> None:
    memory: ResultCache[str] = ResultCache(CachePlan(size=2))
    for name in ("one", "two"):
        memory.put(key_of(name), None, name)
    memory.get_exact(key_of("one"))
    memory.put(key_of("three"), None, "three")

    assert memory.get_exact(key_of("two")) is None
    assert memory.get_exact(key_of("one")) is not None
    assert memory.counts().evicted == 1


def test_every_question_counts_once() -> None:
    memory: ResultCache[str] = ResultCache()
    memory.get_exact(key_of("undo a commit"))
    memory.get_similar(key_of("undo a commit"), SAME)
    memory.put(key_of("undo a commit"), SAME, "answer")
    memory.get_exact(key_of("undo a commit"))
    memory.get_similar(key_of("undo the commit"), SAME)
    counts = memory.counts()

    assert (counts.exact, counts.near, counts.misses) == (1, 1, 1)
    assert counts.hit_rate == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "change",
    [{"size": 0}, {"ttl_seconds": 0.0}, {"ttl_seconds": float("nan")}, {"semantic_threshold": 1.1}, {"scope": "x"}],
)
def test_a_plan_that_makes_no_sense_is_refused(change: dict[str, float | str]) -> None:
    with pytest.raises(InvalidInputError):
        replace(CachePlan(), **change)  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.sampled_from("rgl"), st.integers(0, 6)), max_size=40), st.integers(1, 4))
def test_it_remembers_as_a_plain_dictionary_with_a_limit_does(steps: list[tuple[str, int]], size: int) -> None:
    memory: ResultCache[int] = ResultCache(CachePlan(size=size))
    kept: OrderedDict[int, int] = OrderedDict()
    for number, (step, name) in enumerate(steps):
        if step == "r":
            memory.put(key_of(f"question {name}"), None, number)
            kept[name] = number
            kept.move_to_end(name)
            if len(kept) > size:
                kept.popitem(last=False)
            continue
        ask = memory.get_exact if step == "g" else memory.get_similar
        found = ask(key_of(f"question {name}"))
        assert (None if found is None else found.value) == kept.get(name)
        if name in kept:
            kept.move_to_end(name)


def test_threads_get_their_own_answers() -> None:
    memory: ResultCache[str] = ResultCache(CachePlan(size=20))
    keys = {name: key_of(name) for name in (f"question {number}" for number in range(40))}

    def work(turn: int) -> None:
        for name, key in list(keys.items())[turn:] + list(keys.items())[:turn]:
            found = memory.get_similar(key, vector(name))
            assert found is None or found.value == name
            memory.put(key, vector(name), name)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(24)))
    counts = memory.counts()
    assert counts.exact + counts.near + counts.misses == 24 * 40
    assert counts.size == 20


@dataclass(frozen=True)
class Pair:
    left: object
    right: object


@dataclass(frozen=True)
class Couple:
    left: object
    right: object


SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, -1.0, 0.5]) | st.text(max_size=2)
VALUES = st.recursive(
    SCALARS | st.binary(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), inner, max_size=2)
        | st.builds(Pair, inner, inner)
        | st.builds(Couple, inner, inner)
    ),
    max_leaves=6,
)


def shown(value: object) -> str:
    """Show a value so that kinds differ: the slow obvious way."""
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{name!r}: {shown(one)}" for name, one in value.items())) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(shown, value)) + ")"
    if isinstance(value, Pair | Couple):
        return f"{type(value).__name__}<{shown(value.left)}, {shown(value.right)}>"
    return repr(value)


@given(VALUES, VALUES)
def test_canonical_forms_are_equal_for_what_is_equal_and_for_nothing_else(first: object, second: object) -> None:
    assert (canonical(first) == canonical(second)) == (shown(first) == shown(second))


def test_canonical_forms_tell_apart_what_dictionaries_do_not() -> None:
    asked = [Condition("n", Operator.EQ, value) for value in (1, 1.0, True, "1")]
    assert len({canonical(one) for one in asked}) == 4
    assert canonical(And((asked[0], asked[1]))) != canonical(And((And((asked[0],)), asked[1])))
    assert canonical(("ab",)) != canonical(("a", "b"))
    assert canonical(Operator.EQ) != canonical("==")
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})
    assert canonical("\ud800") != canonical("?")


@pytest.mark.parametrize("value", [len, object(), partial(len), Pair(1, len), {"a": object()}])
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="no canonical form"):
        canonical(value)


def test_keys_hold_no_text_of_long_questions_but_their_terms() -> None:
    key = key_of("word " * 800)
    assert key.order == ("word",)
    assert may_share(key, key)


def test_words_in_a_row_are_no_code_that_two_questions_must_share() -> None:
    for question in ("how do I undo the last commit", "fix for ERR-12345 in the log"):
        assert distinguishing(parsed(question, "english+3")) == distinguishing(parsed(question))
