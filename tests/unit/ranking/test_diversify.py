"""Diversity: the caps, what counts as said already, and the slow obvious way to the same answer."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.ranking.diversify import Candidate, Dropped, Limits, Reason, diversified, overlap, shingles

WORDS = st.sampled_from(["a", "b", "c", "7", "x9"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        st.integers(0, 15),
        st.sampled_from(["one.pdf", "two.md"]),
        st.sampled_from([None, 1, 2]),
        TEXTS,
    ),
    max_size=16,
)
LIMITS = st.builds(Limits, st.integers(0, 3), st.integers(0, 4), st.sampled_from([0.0, 0.01, 0.07, 0.5, 0.6, 0.9, 1.0]))


def passages(*texts: str) -> list[Candidate]:
    return [Candidate(key, f"{key}.txt", None, text) for key, text in enumerate(texts)]


def slowly(candidates: list[Candidate], limits: Limits, k: int) -> tuple[list[int], list[Dropped]]:
    kept: list[Candidate] = []
    dropped: list[Dropped] = []
    for one in candidates:
        if len(kept) == k:
            break
        same = [other for other in kept if other.key == one.key]
        page = [other for other in kept if (other.source, other.page) == (one.source, one.page)]
        source = [other for other in kept if other.source == one.source]
        said = [other for other in kept if limits.max_overlap and repeats(one.text, other.text, limits.max_overlap)]
        if same:
            dropped.append(Dropped(one.key, Reason.SAME, one.key))
        elif limits.per_page and len(page) >= limits.per_page:
            dropped.append(Dropped(one.key, Reason.PAGE, page[0].key))
        elif limits.per_source and len(source) >= limits.per_source:
            dropped.append(Dropped(one.key, Reason.SOURCE, source[0].key))
        elif said:
            dropped.append(Dropped(one.key, Reason.DUPLICATE, said[0].key))
        else:
            kept.append(one)
    return [one.key for one in kept], dropped


def repeats(text: str, better: str, enough: float) -> bool:
    mine, theirs = text.split(), better.split()
    runs = [
        {tuple(words[at : at + min(3, len(words))]) for at in range(max(1, len(words) - 2))} for words in (mine, theirs)
    ]
    numbers = [{word for word in words if any(map(str.isdigit, word))} for words in (mine, theirs)]
    return bool(mine) and len(runs[0] & runs[1]) / len(runs[0]) >= enough and numbers[0] <= numbers[1]


@given(CANDIDATES, LIMITS, st.integers(0, 8))
def test_it_is_what_the_rules_say_one_candidate_at_a_time(candidates: list[Candidate], limits: Limits, k: int) -> None:
    made = diversified(candidates, limits, k)

    assert (list(made.kept), list(made.dropped)) == slowly(candidates, limits, k)


def test_no_more_candidates_are_drawn_than_it_takes() -> None:
    drawn: list[int] = []

    def drawing() -> Iterator[Candidate]:
        for key in range(100):
            drawn.append(key)
            yield Candidate(key, "a", None, f"text {key}")

    assert diversified(drawing(), Limits(), 3).kept == (0, 1, 2)
    assert drawn == [0, 1, 2]


def test_a_document_without_pages_counts_as_one_page() -> None:
    lines = [Candidate(key, "notes.md", None, "") for key in range(4)]

    assert diversified(lines, Limits(per_page=1), 10).kept == (0,)
    assert diversified(lines, Limits(per_source=1), 10).kept == (0,)


def test_pages_of_the_same_number_in_two_sources_are_two_pages() -> None:
    lines = [Candidate(1, "a.pdf", 1, ""), Candidate(2, "b.pdf", 1, "")]

    assert diversified(lines, Limits(per_page=1), 10).kept == (1, 2)


def test_capitals_and_punctuation_make_no_difference_to_a_duplicate() -> None:
    made = diversified(passages("Git resets the index.", "git resets -- the INDEX"), Limits(max_overlap=1.0), 10)

    assert made.dropped == (Dropped(1, Reason.DUPLICATE, 0),)


def test_a_passage_within_a_longer_one_goes_and_a_longer_one_stays() -> None:
    short, long = "one two three four", "zero one two three four five six seven"

    assert diversified(passages(long, short), Limits(max_overlap=0.9), 10).kept == (0,)
    assert diversified(passages(short, long), Limits(max_overlap=0.9), 10).kept == (0, 1)


def test_records_that_differ_in_a_number_alone_all_stay() -> None:
    around = " ".join(f"word{chr(97 + at)}" for at in range(26))
    records = passages(*(f"{around} invoice {number} {around} {around}" for number in (1001, 1002)))

    assert overlap(records[1].text, records[0].text) >= 0.9
    assert diversified(records, Limits(max_overlap=0.9), 10).kept == (0, 1)


@pytest.mark.parametrize("text", ["水道の水は飲めます", "กขฃคฅฆง"])
def test_scripts_without_spaces_are_compared_by_character(text: str) -> None:
    assert len(shingles(text)) == len(text) - 2
    assert 0.5 < overlap(text, text[:-1] + "x") < 1.0


def test_passages_without_words_are_no_duplicates() -> None:
    assert diversified(passages("", "...", "—"), Limits(max_overlap=0.5), 10).kept == (0, 1, 2)


@pytest.mark.parametrize(
    "limits",
    [{"per_page": -1}, {"per_source": -1}, {"max_overlap": -0.1}, {"max_overlap": 1.1}, {"max_overlap": float("nan")}],
)
def test_limits_out_of_range_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError):
        Limits(**limits)  # type: ignore[arg-type]
