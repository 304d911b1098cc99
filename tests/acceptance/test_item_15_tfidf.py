"""Checklist 15 and 79: TF-IDF cosine as scikit-learn has it by default, instead of BM25."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from support.indexes import indexed
from twofold import Index
from twofold.cli.app import application

TFIDF = {"search.bm25": {"scorer": "tfidf"}, "search.mode": "bm25", "prf": {"top_k": 0}}
TEXTS = {"a": "lake river river", "b": "lake", "c": "stone stone stone road"}
# N = 3. lake: df 2, idf = ln(4/3) + 1 = 1.287682; river: df 1, idf = ln(4/2) + 1 = 1.693147.
LAKE, RIVER = math.log(4 / 3) + 1, math.log(4 / 2) + 1


def simple(texts: Mapping[str, str], where: str | Path = ":memory:") -> Index:
    return indexed(texts, {"analyzer": "simple", "enricher": "none"}, where=where)


@pytest.fixture(params=["memory", "local"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[Mapping[str, str]], Index]]:
    """Make an index of texts in either store."""
    made: list[Index] = []

    def make(texts: Mapping[str, str]) -> Index:
        where: str | Path = ":memory:" if request.param == "memory" else tmp_path / f"index{len(made)}"
        made.append(simple(texts, where))
        return made[-1]

    yield make
    for index in made:
        index.close()


def scores(index: Index, question: str) -> dict[str, float]:
    return {hit.source: hit.trace.retrievers[0].raw or 0.0 for hit in index.search(question, k=50, settings=TFIDF).hits}


def test_the_worked_example(opened: Callable[[Mapping[str, str]], Index]) -> None:
    """Passage a is (lake 1.287682, river 2 · 1.693147 = 3.386294), its length 3.622860; b is lake alone."""
    index = opened(TEXTS)

    assert scores(index, "lake") == pytest.approx({"b": 1.0, "a": 0.355432}, abs=1e-6)
    assert scores(index, "river") == pytest.approx({"a": 0.934702}, abs=1e-6)
    # The question (lake, river) is (1.287682, 1.693147), its length 2.127175: 0.605349 and 0.795961 of its own.
    # a: 0.605349 · 0.355432 + 0.795961 · 0.934702 = 0.959146. b: 0.605349.
    assert scores(index, "lake river") == pytest.approx({"a": 0.959146, "b": 0.605349}, abs=1e-6)
    # A word that no passage holds is no part of the question's vector.
    assert scores(index, "lake unheard") == pytest.approx({"b": 1.0, "a": 0.355432}, abs=1e-6)
    assert pytest.approx((1.287682, 1.693147), abs=1e-6) == (LAKE, RIVER)


def test_the_trace_adds_up_and_names_the_parts(opened: Callable[[Mapping[str, str]], Index]) -> None:
    result = opened(TEXTS).search("lake river", settings=TFIDF)
    best = result.hits[0]

    assert best.source == "a"
    assert [(term.term, term.frequency) for term in best.trace.terms] == [("lake", 1), ("river", 2)]
    assert [term.idf for term in best.trace.terms] == [LAKE, RIVER]
    assert 0.0 + best.trace.terms[0].score + best.trace.terms[1].score == best.trace.retrievers[0].raw
    assert list(result.trace.recompute_scores()) == [hit.score for hit in result.hits]


def test_deleted_and_replaced_passages_count_nowhere(opened: Callable[[Mapping[str, str]], Index]) -> None:
    index = opened({**TEXTS, "d": "river lake lake lake", "e": "old words"})
    scores(index, "lake")
    index.delete("d")
    index.delete("e")

    assert scores(index, "lake river") == pytest.approx({"a": 0.959146, "b": 0.605349}, abs=1e-6)


def slow_cosines(texts: Sequence[str], question: str) -> list[float]:
    """The same by dictionaries, from scikit-learn's documentation: smooth idf, raw counts, vectors of length 1."""
    words = [text.split() for text in texts]
    vocabulary = sorted({word for some in words for word in some})
    idf = {word: math.log((1 + len(words)) / (1 + sum(word in some for some in words))) + 1 for word in vocabulary}

    def vector(some: Sequence[str]) -> dict[str, float]:
        raw = {word: some.count(word) * idf[word] for word in set(some) if word in idf}
        length = math.sqrt(sum(value * value for value in raw.values()))
        return {word: value / length for word, value in raw.items()} if length else {}

    asked = vector(question.split())
    return [sum(asked.get(word, 0.0) * value for word, value in vector(some).items()) for some in words]


WORDS = st.sampled_from(("ash", "birch", "cedar", "elder", "fir", "hazel"))
SOME = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts=st.lists(SOME, min_size=1, max_size=7), question=SOME, dropped=st.integers(0, 6))
def test_it_is_the_cosine_of_an_obvious_implementation(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], question: str, dropped: int
) -> None:
    kept = [text for at, text in enumerate(texts) if at != dropped]
    wanted = {str(at): score for at, score in enumerate(slow_cosines(kept, question)) if score > 0}
    for where in (":memory:", tmp_path_factory.mktemp("tfidf") / "index"):
        with simple({str(at): text for at, text in enumerate(kept)}, where) as index:
            if len(kept) < len(texts):
                index.add(texts[dropped], source="dropped")
                index.delete("dropped")
            assert scores(index, question) == pytest.approx(wanted, abs=1e-9)


def test_it_is_chosen_on_the_command_line_and_by_the_profile_of_the_local_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    monkeypatch.setenv("TWOFOLD_ANALYZER", "simple")
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text)

    def run(*words: str) -> dict[str, float]:
        done = CliRunner().invoke(application(), list(words), prog_name="twofold")
        assert done.exit_code == 0, done.stderr
        return {
            Path(one["source"]).stem: one["trace"]["retrievers"][0]["raw"] for one in json.loads(done.stdout)["hits"]
        }

    CliRunner().invoke(application(), ["sync", str(tmp_path), "-i", "n"], prog_name="twofold")
    asked = ("search", "-i", "n", "lake river", "--mode", "bm25", "--json", "--explain")
    by_setting = run("--set", "search.bm25=scorer:tfidf", "--set", "prf=top_k:0", *asked)
    by_profile = run(
        "--set", "search.default_filter=()", "--set", "rerank.model=none", "--profile", "aanae-local", *asked
    )

    assert by_setting == pytest.approx({"a": 0.959146, "b": 0.605349}, abs=1e-6)
    assert by_profile == by_setting
