"""Random worlds: an index in a folder, the same in PostgreSQL, and one that PostgreSQL ranks, answer bit for bit alike.

A world is a state of a small collection with what is asked of it. Worlds follow one another by changes, so that what is
kept between questions and what a change leaves behind are part of them.
"""

import json
import logging
import random
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from support.worlds import plain, said
from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.explain import explained

WORDS = ("merger", "soup", "bread", "canteen", "budget", "price", "the", "ERR-12345", "secret", "hot", "ünï", "Straße")
READERS = (None, None, None, ("public",), ("group:legal",), ("user:bob",), ("user:ann", "user:bob"), ())
WHO: Sequence[list[str] | None] = (None, None, ["user:ann", "group:legal"], ["user:bob"], [])
FILTERS = (
    None, None, None, "year >= 2021", "kind == memo", "tags == 'b'", "year < 2022 and not kind == memo", "type == .txt",
    "source prefix '1'", "kind exists or tags == 'x'",
)  # fmt: skip
MOST_DOCUMENTS = 12
WORLDS_AN_INDEX = 200
SETTINGS: Sequence[Mapping[str, object]] = (
    {},
    {},
    {"fusion.method": "rrf", "search.context_window": 1},
    {"prf": {"terms": 3}, "search.k": 3},
    {"search.bm25": {"scorer": "tfidf"}, "search.candidates": 2},
    {"search.bm25": {"k1": 0.9, "b": 0.4}, "acl": {"statistics": "shared"}},
)
SYNONYMS = ("", "soup, bread", "price, hot bread => 0.5\nbudget, money")

logger = logging.getLogger(__name__)


def line(random_: random.Random, most: int) -> str:
    return " ".join(random_.choices(WORDS, k=random_.randint(1, most)))


Change = Callable[[Index], object]


def change(random_: random.Random, names: set[str]) -> Change:
    """Return one thing to do to each index."""
    what = random_.choices([added, deleted, given_readers, given_fields, compacted], [60, 15, 10, 10, 5])[0]
    return what(random_, names) if names else added(random_, names)


def added(random_: random.Random, names: set[str]) -> Change:
    name = f"{random_.randrange(MOST_DOCUMENTS)}.txt"
    text = "\n\n".join(line(random_, 8) for _ in range(random_.randint(1, 3)))
    fields: dict[str, Any] = {"year": random_.randint(2019, 2024)} if random_.random() < 0.6 else {}
    if random_.random() < 0.5:
        fields |= {"kind": random_.choice(["memo", "note"]), "tags": tuple(random_.choices("abx\x00", k=2))}
    readers = random_.choice(READERS)
    names.add(name)
    return lambda index: index.add(text, source=name, metadata=fields, readers=readers)


def deleted(random_: random.Random, names: set[str]) -> Change:
    gone = random_.choice(sorted(names))
    names.remove(gone)
    return lambda index: index.delete(gone)


def given_readers(random_: random.Random, names: set[str]) -> Change:
    name, readers = random_.choice(sorted(names)), random_.choice(READERS)
    return lambda index: index.set_readers(name, readers)


def given_fields(random_: random.Random, names: set[str]) -> Change:
    name, year = random_.choice(sorted(names)), random_.randint(2019, 2024)
    return lambda index: index.set_metadata(name, {"year": year})


def compacted(_random: random.Random, _names: set[str]) -> Change:
    return lambda index: index.compact()


def asked(random_: random.Random) -> str:
    question = line(random_, 5)
    form = random_.random()
    if form < 0.1:
        return f'"{line(random_, 2)}" {question}'
    if form < 0.2:
        return f"+{random_.choice(WORDS)} {question}"
    if form < 0.3:
        return f"{question} -{random_.choice(WORDS)}"
    return f"{question} {random_.choice(WORDS)[:2]}*" if form < 0.4 else question


def answer(index: Index, question: str, **how: Any) -> bytes:  # noqa: ANN401  # as `Index.search` has it
    """Return a search's hits, scores and traces; the three count changes of their own upkeep differently."""
    who = how.pop("who")
    seen = index if who is None else index.as_principals(who)
    facets = ["kind", "source"] if how["k"] > 5 else ()
    found = partial(seen.search, question, facets=facets, **how)
    return said(lambda: plain(replace(explained(found(), "english"), generation=0)))


def opened(where: str | Path) -> Index:
    return Index(where, overrides={"profile": "balanced"}, embedder=HashingEmbedder(16))


def walk(seed: int, worlds: int, wheres: Sequence[str | Path]) -> Iterator[int]:
    """Go through worlds that follow one another, and yield how many questions found something in each."""
    random_, names = random.Random(seed), set[str]()  # noqa: S311
    with ExitStack() as stack:
        indexes = [stack.enter_context(opened(where)) for where in wheres]
        for number in range(worlds):
            act, rules = change(random_, names), random_.choice(SYNONYMS) if random_.random() < 0.03 else None
            for index in indexes:
                act(index)
                if rules is not None:
                    index.set_synonyms(rules)
            found = 0
            for mode in ("hybrid", random_.choice(["bm25", "vector"])):
                how: dict[str, Any] = {"mode": mode, "k": random_.randint(1, 9), "settings": random_.choice(SETTINGS)}
                how |= {"filter": random_.choice(FILTERS), "who": random_.choice(WHO)}
                how = {name: one for name, one in how.items() if one is not None or name == "who"}
                question = asked(random_)
                expected, *others = [answer(index, question, **how) for index in indexes]
                for where, other in zip(wheres[1:], others, strict=True):
                    assert json.loads(other) == json.loads(expected), (seed, number, question, how, where)
                found += b'"rank":1' in expected
            yield found


@pytest.mark.parametrize("worlds", [24, pytest.param(10_000, marks=pytest.mark.soak)])
def test_three_ways_of_ranking_answer_alike_in_every_world(
    postgres: str, pgvector: str, tmp_path: Path, worlds: int
) -> None:
    """A local index, a database whose segments are read, and one that ranks, with pgvector and without in turns."""
    found = asked_for = 0
    for seed in range(-(-worlds // WORLDS_AN_INDEX)):
        more = min(WORLDS_AN_INDEX, worlds - seed * WORLDS_AN_INDEX)
        name = f"-{seed}-{secrets.token_hex(4)}"
        wheres = (
            tmp_path / f"local{seed}",
            postgres + name,
            (postgres if seed % 2 else pgvector) + f"{name}ranks&retrieval=server",
        )
        for one in walk(seed, more, wheres):
            found, asked_for = found + one, asked_for + 2
        logger.info("%d questions in %d worlds, %d found something", asked_for, asked_for // 2, found)
    assert found > asked_for / 4
