"""Judged collections: what is read, what is counted, and how a bad line is named."""

import json
from pathlib import Path

import pytest

from twofold.domain.errors import InvalidInputError, NotFoundError, ReadError
from twofold.evaluation.dataset import CorpusDocument, load


def write(folder: Path, *, corpus: str = "", queries: str = "", qrels: str = "", split: str = "test") -> Path:
    """Write a small good collection, but for what is given."""
    (folder / "qrels").mkdir(exist_ok=True)
    documents = [{"_id": "d1", "title": "Tea", "text": "Green leaves."}, {"_id": "d2", "text": "Roasted beans."}]
    questions = [{"_id": "q1", "text": "what is tea"}, {"_id": "q2", "text": "nobody judged this"}]
    (folder / "corpus.jsonl").write_text(corpus or "\n".join(map(json.dumps, documents)), encoding="utf-8")
    (folder / "queries.jsonl").write_text(queries or "\n".join(map(json.dumps, questions)), encoding="utf-8")
    rows = qrels or "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n"
    (folder / "qrels" / f"{split}.tsv").write_text(rows, encoding="utf-8")
    return folder


def test_a_collection_is_read_whole(tmp_path: Path) -> None:
    judged = load(write(tmp_path))
    assert judged.name == tmp_path.name
    assert judged.documents == (
        CorpusDocument("d1", "Tea", "Green leaves."),
        CorpusDocument("d2", "", "Roasted beans."),
    )
    assert judged.grades == {"q1": {"d1": 2, "d2": 0}}


def test_questions_without_a_relevant_document_are_left_out_and_counted(tmp_path: Path) -> None:
    queries = "\n".join(json.dumps({"_id": f"q{number}", "text": "?"}) for number in range(4))
    judged = load(write(tmp_path, queries=queries, qrels="q1\td1\t1\nq2\td1\t0\nq3\td1\t-1\n"))
    assert [query.id for query in judged.queries] == ["q1"]
    assert judged.left_out == 3


def test_judgements_of_what_is_not_there_are_counted_and_kept(tmp_path: Path) -> None:
    judged = load(write(tmp_path, qrels="q1\td1\t1\nq1\tgone\t1\nq9\td2\t1\n"))
    assert (judged.missing_documents, judged.missing_queries) == (1, 1)
    assert judged.grades == {"q1": {"d1": 1, "gone": 1}}


def test_another_split_is_read_by_name(tmp_path: Path) -> None:
    judged = load(write(tmp_path, split="dev"), split="dev")
    assert (judged.split, len(judged.queries)) == ("dev", 1)


def test_a_header_is_not_needed_and_line_ends_and_blank_lines_do_not_matter(tmp_path: Path) -> None:
    corpus = '\ufeff{"_id": 7, "title": null, "text": "a\u2028b"}\r\n\r\n{"_id": "d1", "text": ""}\r\n'
    judged = load(write(tmp_path, corpus=corpus, qrels="q1\t7\t1\r\nq1\td1\t3\r\n\r\n"))
    assert judged.documents == (CorpusDocument("7", "", "a\u2028b"), CorpusDocument("d1", "", ""))
    assert judged.grades["q1"] == {"7": 1, "d1": 3}


@pytest.mark.parametrize(
    "line",
    [
        "{not json",
        "[]",
        '"text"',
        '{"text": "no id"}',
        '{"_id": "", "text": "empty id"}',
        '{"_id": true, "text": "no id either"}',
        '{"_id": "d1", "text": "the id of line 1"}',
        '{"_id": "d3"}',
        '{"_id": "d3", "text": 5}',
        '{"_id": "d3", "text": "t", "title": ["t"]}',
        "[" * 100_000,
    ],
    ids=lambda line: line[:30],
)
def test_a_bad_corpus_line_is_named_by_its_number(tmp_path: Path, line: str) -> None:
    folder = write(tmp_path, corpus=f'{{"_id": "d1", "text": "good"}}\n\n{line}\n')
    with pytest.raises(ReadError, match=r"corpus\.jsonl line 3 ") as caught:
        load(folder)
    assert len(str(caught.value)) < 1000


def test_bytes_that_are_no_text_are_named_by_their_line(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "queries.jsonl").write_bytes(b'{"_id": "q1", "text": "t"}\n{"_id": "q2", "text": "\xff"}\n')
    with pytest.raises(ReadError, match=r"queries\.jsonl line 2 .*UTF-8"):
        load(tmp_path)


@pytest.mark.parametrize(
    "row", ["q1\td1", "q1\td1\t1\t1", "q1 d1 1", "q1\td1\thigh", "q1\td1\t1.5", "q1\td1\t" + "9" * 5000]
)
def test_a_bad_judgement_is_named_by_its_number(tmp_path: Path, row: str) -> None:
    with pytest.raises(ReadError, match=r"test\.tsv line 2 "):
        load(write(tmp_path, qrels=f"query-id\tcorpus-id\tscore\n{row}\n"))


def test_one_judgement_said_twice_is_fine_and_two_that_differ_are_not(tmp_path: Path) -> None:
    assert load(write(tmp_path, qrels="q1\td1\t1\nq1\td1\t1\n")).grades == {"q1": {"d1": 1}}
    with pytest.raises(ReadError, match="two scores"):
        load(write(tmp_path, qrels="q1\td1\t1\nq1\td1\t2\n"))


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(NotFoundError, match=Path(name).name):
        load(tmp_path)


def test_a_missing_split_says_which_are_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="dev") as caught:
        load(write(tmp_path, split="train"), split="dev")
    assert "train" in caught.value.hint


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        load(tmp_path / "nowhere")


@pytest.mark.parametrize("split", ["", "../test", "a/b", "test.tsv", "x" * 65, "a\n"])
def test_a_split_never_becomes_another_path(tmp_path: Path, split: str) -> None:
    with pytest.raises(InvalidInputError, match="split"):
        load(write(tmp_path), split=split)


def test_judgements_that_fit_no_question_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no query"):
        load(write(tmp_path, qrels="other\td1\t1\n"))


SIZES = {"scifact": (5183, 300), "cranfield": (1400, 225), "cacm": (3204, 52), "xquad-zh": (240, 1190)}


@pytest.mark.parametrize("name", SIZES)
def test_real_collections_have_the_sizes_their_makers_state(name: str, shared: Path) -> None:
    judged = load(shared / "data" / name)
    assert (len(judged.documents), len(judged.queries)) == SIZES[name]
    assert (judged.missing_documents, judged.missing_queries) == (0, 0)
