"""Questions asked over HTTP: kept in the query log where it is turned on, and counted by how sure searches were."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.api_client import Visit, fill, visiting

SEARCH = "/v1/indexes/notes/search"
ASK = "/v1/indexes/notes/ask"


def asked(visit: Visit) -> list[Any]:
    """Ask three times; give what comes back."""
    searches = [visit.client.post(SEARCH, json={"query": query}).json() for query in ("cat on the mat", "Eiffel tower")]
    answer = visit.client.post(ASK, json={"query": "When was the tower finished?", "stream": False}).json()
    return [*searches, answer]


def test_questions_are_kept_where_the_server_is_told_to(tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path, said={"log": {"queries": True}}) as visit:
        asked(visit)
        (log,) = (tmp_path / "query-logs").glob("*.jsonl")
        kept = [json.loads(line) for line in log.read_text().splitlines()]

    assert [(one["kind"], one["question"]) for one in kept] == [
        ("search", "cat on the mat"),
        ("search", "Eiffel tower"),
        ("ask", "When was the tower finished?"),
    ]
    assert all(one["hits"] for one in kept)


def test_nothing_is_kept_where_it_is_not(tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path) as visit:
        asked(visit)

    assert not list(tmp_path.glob("query-logs/*"))


@pytest.mark.parametrize("name", ["confidence", "answerable"])
def test_how_sure_searches_are_is_counted(tmp_path: Path, name: str) -> None:
    fill(tmp_path)
    with visiting(tmp_path, said={"rerank.model": "word-overlap"}) as visit:
        said = [one["confidence" if name == "confidence" else "p_answerable"] for one in asked(visit)]
        lines = visit.client.get("/metrics").text.splitlines()

    def figure(what: str) -> float:
        return float(next(line for line in lines if line.startswith(f"twofold_search_{name}_{what}")).split()[-1])

    sure = [one for one in said if one is not None]  # the hashing embedder is not calibrated: no chance is claimed
    assert len(sure) == (3 if name == "confidence" else 0)
    assert figure("count") == len(sure)
    assert figure("sum") == pytest.approx(sum(sure), abs=1e-5)
    for tenth in range(1, 11):
        assert figure(f'bucket{{index="notes",le="{tenth / 10:g}"}}') == sum(one <= tenth / 10 for one in sure)
