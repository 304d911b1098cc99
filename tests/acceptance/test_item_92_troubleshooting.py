"""Checklist 92: when results are slow, few or wrong: what is there, how long each stage took, and what to do."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.indexes import GIT, indexed
from twofold.cli.app import application


@pytest.fixture(autouse=True)
def small_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    monkeypatch.chdir(tmp_path)


def test_the_doctor_looks_at_everything_and_names_a_remedy_where_something_is_wrong(tmp_path: Path) -> None:
    indexed(GIT, where=tmp_path / "kb").close()
    done = CliRunner().invoke(application(), ["doctor", "-i", str(tmp_path / "kb"), "--json"])
    checks = json.loads(done.stdout)

    assert {check["what"] for check in checks} >= {"python", "kernels", "sqlite", "model", "disk"}
    assert all(check["hint"] for check in checks if check["state"] == "fail")


def test_the_content_of_a_passage_can_be_looked_at(tmp_path: Path) -> None:
    indexed(GIT, where=tmp_path / "kb").close()
    done = CliRunner().invoke(application(), ["show", "merge.md", "--chunks", "-i", str(tmp_path / "kb")])

    assert done.exit_code == 0
    assert "two parents" in done.stdout


def test_each_stage_says_how_long_it_took() -> None:
    result = indexed(GIT).search("merge commit")

    assert {"parse", "embed", "bm25", "vector", "fuse", "fetch", "total"} <= result.timings_ms.keys()
    assert result.timings_ms["total"] >= max(value for name, value in result.timings_ms.items() if name != "total")


def test_a_document_that_does_not_appear_has_its_reason_and_a_change_that_is_proved() -> None:
    index = indexed(GIT, {"search.k": 1})
    answer = index.why_not("merge", "reset.md")

    assert answer.rank is None
    assert answer.stage
    assert answer.reason
    assert bool(answer.fix) == (answer.rank_after_fix is not None)
    assert index.why_not("merge", "absent.md").stage == "not_indexed"
