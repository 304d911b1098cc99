"""Questions and judgements as people and TREC write them."""

from pathlib import Path

import pytest

from twofold.domain.errors import InvalidInputError, NotFoundError, ReadError
from twofold.evaluation.dataset import Question
from twofold.evaluation.qrels import Judgement
from twofold.evaluation.queries import read_judged


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "query,relevant\nundo a commit,git.md\nundo a commit,stash.md\ntower,b\n"),
        ("a.csv", "\ufeffundo a commit, git.md\r\nundo a commit, stash.md,1\r\n\r\ntower,b,1\r\n"),
        ("a.CSV", 'Question,Document,Grade\n"undo a commit",git.md,1\nundo a commit,stash.md,+1\n tower , b ,1\n'),
        (
            "a.jsonl",
            '{"query": "undo a commit", "relevant": ["git.md", "stash.md"]}\n{"query": "tower", "relevant": "b"}\n',
        ),
        (
            "a.jsonl",
            '{"query":"undo a commit","relevant":{"git.md":1,"stash.md":1}}\n{"query":"tower","relevant":["b"]}',
        ),
    ],
)
def test_pairs_of_question_and_document_are_enough(tmp_path: Path, name: str, text: str) -> None:
    judged = read_judged(written(tmp_path / name, text), None)

    assert judged.questions == (Question("q1", "undo a commit"), Question("q2", "tower"))
    assert judged.judgements == (
        Judgement("q1", "git.md", 1),
        Judgement("q1", "stash.md", 1),
        Judgement("q2", "b", 1),
    )


@pytest.mark.parametrize(
    "queries", ['{"_id": "1", "text": "tea"}\n{"_id": 2, "text": "coffee"}', "1\ttea\n2\tcoffee\n"]
)
@pytest.mark.parametrize(
    "qrels",
    [
        "1 0 d/a.md 2\n2 Q0 b 0\n",
        "1\t0\td/a.md\t2\n2\t0\tb\t0\n",
        "query-id\tcorpus-id\tscore\n1\td/a.md\t2\n2\tb\t0\n",
    ],
)
def test_qrels_of_trec_and_beir_come_with_their_queries(tmp_path: Path, qrels: str, queries: str) -> None:
    suffix = ".jsonl" if queries.startswith("{") else ".tsv"
    judged = read_judged(written(tmp_path / "x.qrels", qrels), written(tmp_path / f"queries{suffix}", queries))

    assert judged.questions == (Question("1", "tea"), Question("2", "coffee"))
    assert judged.judgements == (Judgement("1", "d/a.md", 2), Judgement("2", "b", 0))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "alone"),
        ("a.csv", "a,b,1,2"),
        ("a.csv", "a,b,high"),
        ("a.csv", "a,b,12345678901"),
        ("a.csv", "a,b,1.5"),
        ("a.csv", ",b"),
        ("a.csv", "a, "),
        ("a.csv", '"a,b'),
        ("a.jsonl", "[]"),
        ("a.jsonl", "{"),
        ("a.jsonl", '{"query": "a"}'),
        ("a.jsonl", '{"query": 1, "relevant": "b"}'),
        ("a.jsonl", '{"query": "a", "relevant": [1]}'),
        ("a.jsonl", '{"query": "a", "relevant": {"b": true}}'),
        ("a.jsonl", '{"query": "a", "relevant": {"b": "1"}}'),
        ("a.jsonl", '{"query": " ", "relevant": "b"}'),
    ],
)
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, name: str, text: str) -> None:
    good = "a,b" if name == "a.csv" else '{"query": "a", "relevant": "b"}'

    with pytest.raises(ReadError, match=r"a\.\w+ line 3 "):
        read_judged(written(tmp_path / name, f"{good}\n\n{text}\n"), None)


@pytest.mark.parametrize("text", ["no tab", "\ttext", "id\t", "1\ttea"])
def test_a_bad_query_is_named_by_its_number(tmp_path: Path, text: str) -> None:
    qrels = written(tmp_path / "x.qrels", "1 0 a 1\n")

    with pytest.raises(ReadError, match=r"queries\.tsv line 2 "):
        read_judged(qrels, written(tmp_path / "queries.tsv", f"1\ttea\n{text}\n"))


def test_qrels_alone_do_not_say_what_was_asked(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="ids") as caught:
        read_judged(written(tmp_path / "x.qrels", "1 0 a 1\n"), None)

    assert "--queries" in caught.value.hint


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="gone"):
        read_judged(tmp_path / "gone.csv", None)
    with pytest.raises(NotFoundError, match="gone"):
        read_judged(written(tmp_path / "x.qrels", "1 0 a 1\n"), tmp_path / "gone.tsv")
