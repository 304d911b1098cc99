"""`search --batch`: each line has its answer or its error, in its place, whatever the other lines hold."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Run = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("ready")


def answers(done: Any) -> list[Any]:  # noqa: ANN401  # an outcome
    return [json.loads(line) for line in done.out.splitlines()]


def test_every_line_has_the_answer_that_it_has_alone(run: Run) -> None:
    lines = [
        {"query": "undo a commit", "id": "first", "k": 1},
        {"query": "tower", "mode": "bm25"},
        {"query": "changes", "id": 3, "filter": "type = .csv"},
        {"query": "changes", "filter": {"file_type": [".md"]}},
    ]
    done = run("search", "--batch", "-", "-i", "notes", given="\n".join(map(json.dumps, lines)) + "\n")
    alone = [
        run("search", "undo a commit", "-k", "1", "-i", "notes", "--json").data,
        run("search", "tower", "-m", "bm25", "-i", "notes", "--json").data,
        run("search", "changes", "-f", "type = .csv", "-i", "notes", "--json").data,
        run("search", "changes", "-f", "type = .md", "-i", "notes", "--json").data,
    ]

    assert done.code == 0
    assert [(one["line"], one["id"], one["error"]) for one in answers(done)] == [
        (1, "first", None),
        (2, None, None),
        (3, 3, None),
        (4, None, None),
    ]
    assert [one["result"]["hits"] for one in answers(done)] == [one["hits"] for one in alone]


def test_a_bad_line_is_told_by_its_number_and_the_others_go_on(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    bad = [
        b"rubbish",
        b"[]",
        b'{"query": ""}',
        b'{"query": 5}',
        b'{"query": "x", "k": 0}',
        b'{"query": "x", "filter": "("}',
    ]
    bad += [
        b'{"query": "x", "mode": "z"}',
        b'{"query": "x", "kk": 1}',
        b"\xff\xfe",
        b'{"query": "x", "id": [1]}',
        b"[" * 9999,
    ]
    good = b'{"query": "tower", "id": "good"}'
    file.write_bytes(b"\n".join([good, *bad, b"", good]))

    done = run("search", "--batch", file, "-i", "notes")

    assert done.code == 2
    assert f"{len(bad)} lines of {len(bad) + 2}" in done.err
    assert [one["line"] for one in answers(done)] == [*range(1, len(bad) + 2), len(bad) + 3]
    assert [one["id"] for one in answers(done) if one["result"]] == ["good", "good"]
    assert all(one["error"]["message"] for one in answers(done) if not one["result"])


def test_more_lines_than_are_asked_at_once_keep_their_order(run: Run) -> None:
    given_lines = "".join(json.dumps({"query": f"tower {number}", "id": number}) + "\n" for number in range(150))
    done = run("search", "--batch", "-", "-i", "notes", "-m", "bm25", "-k", "1", given=given_lines)

    assert [one["id"] for one in answers(done)] == list(range(150))


def test_answers_that_are_kept_are_given_again(run: Run) -> None:
    lines = '{"query": "tower"}\n{"query": "Tower"}\n'
    done = run("--set", "cache=size:10", "search", "--batch", "-", "-i", "notes", "--session", "me", given=lines)

    assert [one["result"]["cache"]["hit"] for one in answers(done)] == [False, True]


@pytest.mark.parametrize("words", [["search"], ["search", "x", "--batch", "-"]])
def test_either_a_question_or_a_batch_is_asked(run: Run, words: list[str]) -> None:
    done = run(*words, "-i", "notes", given="")

    assert done.code == 2
    assert "either one question or a --batch" in done.err


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.text(max_size=20), st.just('{"query": "tower"}')), max_size=6))
def test_no_line_whatever_it_holds_is_without_an_answer(run: Run, lines: list[str]) -> None:
    held = [line.replace("\n", " ") for line in lines]
    data = "\n".join(held).encode("utf-8", "replace")
    done = run("search", "--batch", "-", "-i", "notes", "-m", "bm25", given=data.decode("utf-8"))

    assert len(answers(done)) == sum(bool(line.strip()) for line in data.split(b"\n"))
