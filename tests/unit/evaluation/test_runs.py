"""TREC run files: what is written reads back, and other tools' files are read as trec_eval reads them."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError, NotFoundError, ReadError
from twofold.evaluation.runs import ScoredDocument, read_run, write_run

words = st.text(min_size=1, max_size=12).filter(lambda text: text.split() == [text] and text.isprintable())
hits = st.builds(ScoredDocument, words, st.floats(allow_nan=False, allow_infinity=False))


@given(st.dictionaries(words, st.lists(hits, min_size=1, max_size=6, unique_by=lambda hit: hit.document), max_size=4))
def test_a_run_reads_back_as_it_was_written(run: dict[str, list[ScoredDocument]]) -> None:
    ordered = {query: tuple(sorted(found, key=lambda hit: -hit.score)) for query, found in run.items()}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.txt"
        write_run(path, ordered, "twofold")
        assert read_run(path) == ordered


def test_a_line_is_as_trec_wants_it(tmp_path: Path) -> None:
    write_run(tmp_path / "run", {"q1": [ScoredDocument("d7", 0.5)]}, "bm25")
    assert (tmp_path / "run").read_bytes() == b"q1 Q0 d7 1 0.5 bm25\n"


def test_scores_rule_over_ranks_and_ranks_over_ids(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("q Q0 low 1 0.1 t\nq\tQ0 tied 3  0.9 t\r\n\nq Q0 zz 2 0.9 t\n", encoding="utf-8")
    assert [hit.document for hit in read_run(path)["q"]] == ["zz", "tied", "low"]


@pytest.mark.parametrize(
    "line",
    ["q Q0 d 1 0.5", "q Q0 d e 1 0.5 t", "q Q0 d one 0.5 t", "q Q0 d 1 half t", "q Q0 d 1 nan t", "q Q0 d 1 inf t"],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run"
    path.write_text(f"q Q0 a 1 0.9 t\n{line}\n", encoding="utf-8")
    with pytest.raises(ReadError, match="line 2"):
        read_run(path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"q Q0 \xff 1 0.9 t\n")
    with pytest.raises(ReadError, match="UTF-8"):
        read_run(tmp_path / "run")


def test_a_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        read_run(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["", "two words", " edge", "tab\there", "line\n"])
def test_names_the_format_cannot_carry_are_refused(tmp_path: Path, name: str) -> None:
    hit = ScoredDocument("d", 1.0)
    for run, tag in [({name: [hit]}, "t"), ({"q": [ScoredDocument(name, 1.0)]}, "t"), ({"q": [hit]}, name)]:
        with pytest.raises(InvalidInputError, match="white space"):
            write_run(tmp_path / "run", run, tag)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_that_are_not_finite_are_refused(tmp_path: Path, score: float) -> None:
    with pytest.raises(InvalidInputError, match="finite"):
        write_run(tmp_path / "run", {"q": [ScoredDocument("d", score)]}, "t")
