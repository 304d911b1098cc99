"""`judge`: what is found is judged a passage at a time; nothing is lost, and the file is one that `eval` reads."""

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twofold.cli.app import application

Run = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("ready")
EVERY = ("judge", "-i", "notes", "--out", "qrels.jsonl")


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    path = tmp_path / "questions.txt"
    path.write_text("undo the last commit\n\nq2\twhere is the Eiffel tower\nundo the last commit\n")
    return path


def judged(path: Path = Path("qrels.jsonl")) -> dict[tuple[str, str], int]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {(line["query"], Path(name).name): grade for line in lines for name, grade in line["relevant"].items()}


def test_answers_that_are_piped_in_are_written_and_eval_counts_by_them(run: Run, asked: Path) -> None:
    done = run(*EVERY, "--queries", asked, given="3\n0\n1\n2\n0\n0\n")

    assert done.code == 0, done.err
    assert len(judged()) == 6
    assert {question for question, _ in judged()} == {"undo the last commit", "where is the Eiffel tower"}
    assert "6 judgements added, 6 in qrels.jsonl; 2 questions with an answer." in done.out
    assert run("eval", "--qrels", "qrels.jsonl", "-i", "notes", "-m", "bm25", "--json").data["queries"] == 2


def test_the_question_the_source_and_the_passage_are_shown_but_no_rank_and_no_score(run: Run, asked: Path) -> None:
    done = run(*EVERY, "--queries", asked, given="q\n")

    assert "undo the last commit" in done.out
    assert "question 1 of 2, 3 left of it" in done.out
    assert any(name in done.out for name in ("git.md", "tower.txt", "prices.csv"))
    assert not any(word in done.out for word in ("bm25", "vector", "score", "rank"))


def test_it_goes_on_where_it_stopped(run: Run, asked: Path) -> None:
    run(*EVERY, "--queries", asked, given="1\n2\nq\n")
    first = judged()
    done = run(*EVERY, "--queries", asked, given="0\n0\n0\n0\n0\n0\n")

    assert len(first) == 2
    assert len(judged()) == 6
    assert first.items() <= judged().items()
    assert "4 judgements added, 6 in" in done.out


def test_when_the_answers_end_all_that_was_judged_is_kept(run: Run, asked: Path) -> None:
    assert run(*EVERY, "--queries", asked, given="2\n").code == 0
    assert list(judged().values()) == [2]


def test_undo_takes_back_the_last_answer_even_across_questions(run: Run, asked: Path) -> None:
    done = run(*EVERY, "--queries", asked, given="0\n0\n3\nu\n1\nq\n")

    assert done.code == 0
    assert list(judged().values()) == [0, 0, 1]


def test_undo_goes_back_over_what_was_skipped_and_says_when_there_is_nothing_left(run: Run, asked: Path) -> None:
    done = run(*EVERY, "--queries", asked, given="u\ns\nu\n2\nq\n")

    assert "nothing to undo" in done.out
    assert list(judged().values()) == [2]


def test_what_was_skipped_comes_again_another_time(run: Run, asked: Path) -> None:
    run(*EVERY, "--queries", asked, given="s\nq\n")
    run(*EVERY, "--queries", asked, given="1\n" * 6)

    assert len(judged()) == 6


def test_what_is_no_answer_is_asked_again_and_help_explains(run: Run, asked: Path) -> None:
    done = run(*EVERY, "--queries", asked, given="7\n?\n\x1b[2J\n2\nq\n")

    assert "7 is not one of them." in done.out
    assert "answers a part of it" in done.out
    assert "\x1b[2J" not in done.out.casefold()
    assert list(judged().values()) == [2]


def test_without_a_file_questions_are_asked_for(run: Run) -> None:
    done = run(*EVERY, "--depth", "1", "--pool", "bm25", given="  undo   the commit\n3\n\n")

    assert done.code == 0
    assert list(judged().items()) == [(("undo the commit", "git.md"), 3)]


def test_the_order_is_not_that_of_any_way_and_the_same_each_time(run: Run, asked: Path) -> None:
    orders = []
    for number in range(2):
        run("judge", "-i", "notes", "--queries", asked, "--out", f"{number}.jsonl", given="0\n" * 6)
        orders.append(list(judged(Path(f"{number}.jsonl"))))

    assert orders[0] == orders[1]


def test_a_line_that_a_power_cut_left_half_is_dropped(run: Run, asked: Path) -> None:
    run(*EVERY, "--queries", asked, given="1\n2\nq\n")
    whole = Path("qrels.jsonl").read_bytes()
    Path("qrels.jsonl").write_bytes(whole[:-9])
    done = run(*EVERY, "--queries", asked, given="3\nq\n")

    assert done.code == 0
    assert list(judged().values()) == [1, 3]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--queries", "none.txt"], 3, "none.txt"),
        (["--pool", "bm25,fastest"], 2, "fastest"),
        (["--pool", ","], 2, "--pool"),
        (["--depth", "0"], 2, "--depth"),
        (["--out", "qrels.csv"], 2, ".jsonl"),
        (["--out", "no/such/folder/qrels.jsonl"], 2, "cannot be written"),
        (["-i", "nowhere"], 3, "nowhere"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(run: Run, words: list[str], code: int, says: str) -> None:
    done = run("judge", "-i", "notes", *words, given="q\n")

    assert (done.code, done.out) == (code, "")
    assert says in done.err


def test_a_file_that_is_something_else_is_left_alone(run: Run, asked: Path) -> None:
    Path("qrels.jsonl").write_text('{"query": "a", "relevant": ["b"]}\n')
    done = run(*EVERY, "--queries", asked, given="3\nq\n")

    assert done.code == 9
    assert "line 1" in done.err
    assert Path("qrels.jsonl").read_text() == '{"query": "a", "relevant": ["b"]}\n'


def test_at_a_terminal_a_key_is_enough(asked: Path) -> None:
    """Run it as a process of its own, on a terminal of its own, and press keys one by one."""
    program = [sys.executable, "-m", "twofold", *EVERY, "--queries", str(asked)]
    terminal, inner = pty.openpty()
    process = subprocess.Popen(program, stdin=inner, stdout=inner, stderr=inner, env={**os.environ, "TERM": "xterm"})
    os.close(inner)
    shown = ""
    for key in "30uq":
        shown += until(terminal, "help")
        os.write(terminal, key.encode())
    shown += until(terminal, "eval --qrels")
    code = process.wait()
    os.close(terminal)

    assert code == 0, shown
    assert list(judged().values()) == [3]
    assert "\x1b[1;33m" in shown


def until(terminal: int, text: str) -> str:
    shown = b""
    while text not in shown.decode(errors="replace"):
        assert select.select([terminal], [], [], 120)[0], shown
        shown += os.read(terminal, 4096)
    return shown.decode(errors="replace")


def test_it_is_one_of_the_commands() -> None:
    assert any(command.name == "judge" for command in application("judge").registered_commands)
