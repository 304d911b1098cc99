"""A result is the same whenever it is read: at once, or after its documents changed, were deleted, the index closed."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.indexes import indexed
from support.scripted_reranker import Dictated
from twofold import Index, SearchResult
from twofold.ranking.fusion import FUSIONS
from twofold.text.analyzers import analyzer_for

WORDS = ("git", "commit", "merge", "branch", "stash", "tag", "rebase", "ERR-404")
TEXTS = {
    f"{number:02d}.md": f"# Page {number}\n\n"
    + " ".join(WORDS[(number * step + step) % len(WORDS)] for step in range(1, 4 + number % 7))
    + f" of number {number}.\n\nA second paragraph about {WORDS[number % len(WORDS)]} and nothing else."
    for number in range(24)
}
CLOCKS = {"milliseconds", "timings_ms"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed(TEXTS, where=tmp_path_factory.mktemp("later") / "index") as made:
        yield made


def plain(value: object) -> object:
    """Return a value as nested tuples that are equal when every bit of it is; clocks are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in fields(value) if one.name not in CLOCKS]
        return type(value).__name__, tuple((name, plain(getattr(value, name))) for name in names)
    if isinstance(value, Mapping):
        return tuple((plain(key), plain(one)) for key, one in value.items())
    if isinstance(value, tuple | list):
        return tuple(map(plain, value))
    return value.hex() if isinstance(value, float) else value


asked = st.fixed_dictionaries({
    "query": st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True).map(" ".join),
    "mode": st.sampled_from(["hybrid", "hybrid", "bm25", "vector"]),
    "filter": st.sampled_from(["", "source > '05'", "source < '03'", "source == 'absent'"]),
    "k": st.integers(1, 12),
    "rerank": st.sampled_from(["none", "dictated"]),
})  # fmt: skip
changes = st.fixed_dictionaries({
    "fusion.method": st.sampled_from(sorted(FUSIONS)),
    "prf": st.fixed_dictionaries({"top_k": st.sampled_from([0, 1, 5]), "terms": st.sampled_from([1, 30])}),
    "search.bm25": st.sampled_from([{"scorer": "bm25"}, {"scorer": "tfidf"}]),
    "search.context_window": st.sampled_from([0, 1]),
    "diversity": st.sampled_from([{"per_source": 0}, {"per_source": 1}]),
})  # fmt: skip


def search(index: Index, query: str, options: Mapping[str, object], changed: Mapping[str, object]) -> SearchResult:
    given = {name: value for name, value in options.items() if name != "query"}
    return index.search(query, settings=changed, **given)  # type: ignore[arg-type]  # checked by the strategies


@settings(max_examples=25)
@given(options=asked, changed=changes)
def test_read_late_is_read_at_once(index: Index, options: Mapping[str, object], changed: Mapping[str, object]) -> None:
    query = str(options["query"])
    options = {**options, "filter": options["filter"] or "()"}
    if options["rerank"] == "dictated":
        options["rerank"] = Dictated({word: place / 10 for place, word in enumerate(WORDS, 1)})
    at_once = plain(search(index, query, options, changed))
    later = search(index, query, options, changed)
    gone = search(index, query, options, changed).hits[:1]
    for hit in gone:
        index.delete(hit.document)
    index.add("git commit merge branch stash tag rebase", source="more.md")

    assert plain(later) == at_once
    assert list(later.trace.recompute_scores()) == [hit.score for hit in later.hits]
    assert_counted(later)

    index.delete("more.md")
    for hit in gone:
        index.add(TEXTS[hit.source], source=hit.source)


def assert_counted(result: SearchResult) -> None:
    """Each term is counted as often as the analyzer finds it in what is indexed of the passage."""
    analyzer = analyzer_for("english")
    for hit in result.hits:
        counts = analyzer.counts("\n".join([" > ".join(hit.heading), hit.text])).counts
        assert all(counts[term.term] == term.frequency for term in hit.trace.terms)


def test_a_result_is_read_when_its_index_is_closed(tmp_path: Path) -> None:
    with indexed(TEXTS, where=tmp_path / "index") as index:
        at_once = plain(index.search("merge commit"))
        later = index.search("merge commit")

    assert plain(later) == at_once
    assert later.hits[0].text in TEXTS[later.hits[0].source]


def test_what_was_read_once_stays_the_same_object(index: Index) -> None:
    result = index.search("merge commit")

    assert result.hits is result.hits
    assert result.hits[0].trace is result.hits[0].trace
    assert result.stages is result.stages


def test_copies_and_replacements_hold_what_was_not_read_yet(index: Index) -> None:
    at_once = plain(index.search("merge commit"))

    assert plain(copy.copy(index.search("merge commit"))) == at_once
    assert plain(copy.deepcopy(index.search("merge commit"))) == at_once
    assert plain(replace(index.search("merge commit"), degraded=False)) == at_once
    assert index.search("merge commit").hits == index.search("merge commit").hits


def test_a_field_that_there_is_not_is_an_error(index: Index) -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing_such'"):
        index.search("merge commit").nothing_such  # type: ignore[attr-defined]  # noqa: B018
