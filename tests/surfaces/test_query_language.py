"""What one may type: alternatives, words in part, fields, words close together; the same in both retrievers."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.indexes import indexed, sources
from twofold import Index
from twofold.domain.errors import InvalidInputError
from twofold.query.parts import MAX_WORDS

TEXTS = {
    "engine.md": "# Engines\n\nThe retrieval engine reads color photos. ERR-12345 means a fault.",
    "dog.md": "# Dogs\n\nA dog fetches colour sticks from the river.",
    "cat.md": "# Cats\n\nThe cat sat on a mat with big paws, and slept.",
    "hidden.md": "# Secrets\n\nThe colander holds retrievable pasta.",
}
EVERYTHING = set(TEXTS)


@pytest.fixture(scope="module", params=["memory", "disk"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    where = ":memory:" if request.param == "memory" else tmp_path_factory.mktemp("kept") / "index"
    with indexed(TEXTS, where=where) as made:
        made.add(
            "The lighthouse keeper wrote letters.", source="ada.txt", metadata={"author": "Ada King", "year": 1843}
        )
        yield made


@pytest.mark.parametrize("mode", ["bm25", "vector", "hybrid"])
@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("cat OR dog", {"cat.md", "dog.md"}),
        ("river OR paws OR fault", {"engine.md", "dog.md", "cat.md"}),
        ("(big paws OR sticks) -colour", {"cat.md"}),
        ('("big paws" OR sticks)', {"cat.md", "dog.md"}),
        ("engine -(cat OR dog)", EVERYTHING - {"cat.md", "dog.md"} | {"ada.txt"}),
        ("retriev*", {"engine.md", "hidden.md"}),
        ("col?r", {"engine.md"}),
        ("colo*r", {"engine.md", "dog.md"}),
        ("ERR-1*", {"engine.md"}),
        ("the -colo*", {"cat.md", "ada.txt", "hidden.md"}),
        ('"cat paws"~5', set()),
        ('"cat paws"~6', {"cat.md"}),
        ('"paws cat"~6', {"cat.md"}),
        ("author:king letters", {"ada.txt"}),
        ("year:1843 letters", {"ada.txt"}),
        ("source:cat OR source:dog the", {"cat.md", "dog.md"}),
    ],
)
def test_what_an_operator_demands_is_a_condition_of_both_retrievers(
    index: Index, question: str, found: set[str], mode: str
) -> None:
    result = index.search(question, mode=mode)
    hits = set(sources(result))

    excludes = "-" in question and "OR" not in question.partition(" ")[0] and "(" not in question[:1]
    if mode == "bm25" and excludes:  # the words that are left stand in some of them only
        assert hits <= found
    else:
        assert hits == found
    assert all(hit.trace.recompute_score() == hit.score for hit in result.hits)


@pytest.mark.parametrize(
    "question",
    [
        "***a* engine",
        "engine OR",
        "OR engine",
        "( OR ) engine",
        "engine ~5",
        "a*b engine",
        "**engine**",
        "note:x engine",
        "engine (",
        '"engine',
        "engine?",
        "std::vector engine",
        "DO YOU KNOW THIS OR THAT ENGINE",
        "engine OR OR cat",
    ],
)
def test_what_is_no_operator_is_searched_literally(index: Index, question: str) -> None:
    assert "engine.md" in sources(index.search(question, mode="bm25"))


def test_fields_and_words_are_not_mixed_by_or(index: Index) -> None:
    with pytest.raises(InvalidInputError, match="OR joins words with words"):
        index.search("cat OR title:Dogs")


def test_a_pattern_scores_as_one_term_and_the_trace_says_what_it_stands_for() -> None:
    """Of 3 passages 1 holds each spelling: idf = ln(1 + 2.5 / 1.5) = .980829; twice is worth 2 · 2.2 / 3.2 = 1.375."""
    with indexed({"a": "color photo shop", "b": "colour colour wall", "c": "bread tastes good"}) as index:
        result = index.search("colo*r", mode="bm25")

    assert [(hit.source, round(hit.score, 6)) for hit in result.hits] == [("b", 1.34864), ("a", 0.980829)]
    assert [(one.term, one.frequency) for one in result.hits[0].trace.terms] == [("colo*r", 2.0)]
    assert result.stages[0].notes[1] == "colo*r stands for colour, color"


def test_a_pattern_stands_only_for_words_of_passages_that_the_filter_shows(index: Index) -> None:
    result = index.search("retriev*", filter="source != hidden.md")

    assert sources(result) == ["engine.md"]
    assert result.stages[0].notes[1] == "retriev* stands for retrieval"


def test_a_pattern_of_too_many_words_is_cut_with_a_warning() -> None:
    words = " ".join(f"word{number:03}" for number in range(MAX_WORDS + 6))
    with indexed({"many.txt": words, "last.txt": f"word{MAX_WORDS + 5:03}"}) as index:
        result = index.search("word*", mode="bm25")

    (warning,) = result.warnings
    assert (warning.stage, warning.code, result.degraded) == ("parse", "limited", False)
    assert "64 most frequent" in warning.message
    assert result.stages[0].notes[1].endswith(", …")


def test_a_pattern_of_no_word_finds_nothing_and_says_so(index: Index) -> None:
    result = index.search("zzz* cat")

    assert result.hits == ()
    assert [str(one) for one in result.warnings] == ["parse no match: No word of the index is zzz*."]


@pytest.mark.parametrize(
    ("question", "document", "says"),
    [
        ("colo*r", "cat.md", "demands colo*r"),
        ("cat OR dog", "engine.md", "demands cat OR dog"),
        ('"cat paws"~5', "cat.md", 'demands "cat paws"~5'),
        ("the -(cat OR dog)", "cat.md", "excludes cat OR dog"),
    ],
)
def test_why_not_names_the_operator_and_proves_a_way_without_it(
    index: Index, question: str, document: str, says: str
) -> None:
    lost = index.why_not(question, document)

    assert lost.stage == "operators"
    assert says in lost.reason
    assert lost.fix is not None
    assert lost.rank_after_fix is not None


def test_the_command_line_explains_a_pattern(run: Callable[..., Any], ready: None) -> None:  # noqa: ARG001
    done = run("search", "-i", "notes", "stash*", "-m", "bm25", "--explain")

    assert "stash* stands for stash, stashing" in done.out
    assert "git.md" in done.out


def test_a_section_is_the_path_of_headings(run: Callable[..., Any], ready: None) -> None:  # noqa: ARG001
    found = run("search", "-i", "notes", "section:undoing changes", "--json").data
    other = run("search", "-i", "notes", "changes", "--filter", "section contains Undoing", "--json").data

    assert [hit["heading"][-1] for hit in found["hits"]] == ["Undoing things"]
    assert [hit["chunk_id"] for hit in other["hits"]] == [hit["chunk_id"] for hit in found["hits"]]


def test_an_index_on_disk_forgets_the_words_of_what_was_deleted(tmp_path: Path) -> None:
    with indexed(TEXTS, where=tmp_path / "index") as index:
        index.delete("hidden.md")
        assert sources(index.search("retriev* col*", mode="bm25")) == ["engine.md"]
        assert index.search("pasta*").warnings[0].code == "no_match"
