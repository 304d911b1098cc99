"""Codes of the question multiply the score of a passage that holds one; without a code nothing moves."""

import pytest

from twofold.domain.types import Ranking
from twofold.ranking.boost import boosted, boosts_for, codes_in, compile_patterns

PATTERNS = [r"ERR-\d{3,6}", r"TICKET-\d+", r"v\d+\.\d+\.\d+"]
A, B = 1, 2
FUSED = Ranking.of([A, B], [0.75, 0.80])
TEXTS = {A: "ERR-12345 means that the disk is full.", B: "How to fix a full disk."}


def asked(question: str) -> Ranking:
    codes = codes_in(compile_patterns(PATTERNS), question)
    return boosted(FUSED, boosts_for(codes, [TEXTS[hit.key] for hit in FUSED], 1.5))


def test_the_code_is_found_in_the_question() -> None:
    assert codes_in(compile_patterns(PATTERNS), "Fix for ERR-12345?") == ("ERR-12345",)


@pytest.mark.parametrize("code", ["ERR-123", "ERR-123456", "TICKET-999", "v1.2.3"])
def test_each_pattern_finds_its_codes(code: str) -> None:
    assert codes_in(compile_patterns(PATTERNS), f"What about {code}, please?") == (code,)


def test_a_at_0_75_times_1_5_beats_b_at_0_80() -> None:
    assert [(hit.key, hit.score) for hit in asked("Fix for ERR-12345?")] == [(A, 1.125), (B, 0.80)]


def test_without_a_code_in_the_question_the_list_is_untouched() -> None:
    assert asked("How do I fix a full disk?") is FUSED
