"""Checklist 41, 42, C11: codes and rules lift passages in a search, before the reranker, after it, or both."""

import pytest

from support.indexes import indexed, sources
from support.scripted_reranker import Dictated
from twofold import Index
from twofold.config.load import grouped
from twofold.config.profiles import CODE_PATTERNS, SHORT_SHEET_RULE
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Metadata

TEXTS = {
    "code": "A short note: ERR-12345 was seen once, among many other words of no help to anybody at all.",
    "fix": "How to fix errors: the fix for any error is a fix of its fixture.",
    "other": "ERR-123456 is another error and wants another fix.",
}
CODES = {"boost": {"patterns": list(CODE_PATTERNS), "multiplier": 1.5}, "fusion.method": "linear"}
QUESTION = "Fix for ERR-12345?"


@pytest.fixture(scope="module")
def index() -> Index:
    return indexed(TEXTS)


def test_item_41_what_holds_the_code_has_its_score_multiplied_and_nothing_else_has(index: Index) -> None:
    plain = {hit.source: hit.score for hit in index.search(QUESTION, settings={"fusion.method": "linear"}).hits}
    result = index.search(QUESTION, settings=CODES)
    lifted = {hit.source: hit.score for hit in result.hits}

    assert lifted == {"code": plain["code"] * 1.5, "fix": plain["fix"], "other": plain["other"]}
    (step,) = result.hits[sources(result).index("code")].trace.steps
    assert (step.stage, step.before, step.after) == ("boost_fused", plain["code"], plain["code"] * 1.5)
    (stage,) = [stage for stage in result.stages if stage.name == "boost_fused"]
    assert stage.notes == ("codes ERR-12345", "lifted 1 of 3")


def test_item_41_without_a_code_in_the_question_the_list_is_untouched(index: Index) -> None:
    plain = index.search("fix errors", settings={"fusion.method": "linear"})
    result = index.search("fix errors", settings=CODES)

    assert [(hit.source, hit.score) for hit in result.hits] == [(hit.source, hit.score) for hit in plain.hits]
    assert all(not hit.trace.steps for hit in result.hits)


@pytest.mark.parametrize(
    ("stage", "stages"),
    [("fused", ["boost_fused", "rerank"]), ("reranked", ["rerank", "boost_reranked"]),
     ("both", ["boost_fused", "rerank", "boost_reranked"])],
)  # fmt: skip
def test_c11_the_boost_acts_before_the_reranker_after_it_or_twice(index: Index, stage: str, stages: list[str]) -> None:
    settings = grouped({**CODES, "boost.stage": stage, "rerank.weight": 1.0})
    result = index.search(QUESTION, rerank=Dictated({"fixture": 0.9, "short note": 0.7}), settings=settings)
    code = result.hits[sources(result).index("code")]

    assert [step.stage for step in code.trace.steps] == stages
    assert sources(result)[0] == ("fix" if stage == "fused" else "code")
    assert code.score == pytest.approx(0.7 if stage == "fused" else 0.7 * 1.5)


@pytest.mark.parametrize(("words", "bonus"), [(39, 0.15), (40, 0.0)])
def test_item_42_a_short_sheet_about_its_subject_gains_its_bonus(words: int, bonus: float) -> None:
    index = indexed({})
    fields: Metadata = {"source_type": "excel", "semantic_type_primary": "water_bodies", "word_count": words}
    index.add("The lakes of the state, and their area.", source="lakes.xlsx", metadata=fields)
    plain = index.search("lakes").hits[0]
    hit = index.search("lakes", settings={"boost": {"rules": {SHORT_SHEET_RULE: 0.15}}}).hits[0]

    assert hit.score == plain.score + bonus
    assert [step.stage for step in hit.trace.steps] == (["boost_fused"] if bonus else [])


def test_a_pattern_that_would_never_end_elsewhere_is_no_danger_and_a_wrong_one_is_refused(index: Index) -> None:
    evil = {"boost": {"patterns": ["(a+)+$", "(a|aa)+b"], "multiplier": 1.5}}
    assert index.search("a" * 2_000 + "! fix", settings=evil).hits

    for pattern in ("(", "(?=x)", "x{1000}{1000}", "x" * 201):
        with pytest.raises(InvalidInputError):
            index.search("fix", settings={"boost": {"patterns": [pattern]}})
