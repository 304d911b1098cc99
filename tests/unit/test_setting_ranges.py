"""Whatever value a setting allows can be searched with: no plan refuses later what the settings let through."""

from typing import Literal, get_args, get_origin

import pytest

from support.indexes import GIT, indexed
from twofold.config.load import Setting, all_settings, grouped

REACHES = ("search.k", "search.candidates", "rerank.candidates", "rerank.top_n")


def ends(dial: Setting) -> list[object]:
    """Give the least and the greatest value that a setting says it takes, or all of few."""
    kind, meta = get_args(dial.annotation)
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if kind is bool:
        return [False, True]
    limits = [meta.ge, meta.le] if kind in {int, float} else []
    return [kind(limit) for limit in limits if limit is not None]


def plain(one: Setting) -> tuple[Setting, ...]:
    """Give a setting, or of a map its parts."""
    return one.parts or (one,)


CASES = [(part.key, value) for one in all_settings() if one.of_a_search for part in plain(one) for value in ends(part)]


@pytest.mark.parametrize(("key", "value"), CASES, ids=[f"{key}={value}" for key, value in CASES])
def test_of_a_search(key: str, value: object) -> None:
    with indexed(GIT) as index:
        result = index.search("undo a commit", settings=grouped({key: value}))

    assert list(result.trace.recompute_scores()) == [hit.score for hit in result.hits]


OPENED = [
    (part.key, value)
    for one in all_settings()
    if one.key.startswith(("chunk.", "cache"))
    for part in plain(one)
    for value in ends(part)
]


@pytest.mark.parametrize(("key", "value"), OPENED, ids=[f"{key}={value}" for key, value in OPENED])
def test_of_an_index(key: str, value: object) -> None:
    together: dict[str, object] = {"chunk.size": 8192} if key == "chunk.overlap" else {}
    together |= {"cache": {"size": 5}} if key.startswith("cache.") else {}
    with indexed(GIT, grouped({**together, key: value})) as index:
        assert index.search("undo a commit").hits
