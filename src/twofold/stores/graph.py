"""A small property graph in one SQLite file: what passages mention, and what is mentioned together.

    node(id, kind, label, folded)            kind `passage`, whose label is the passage's id, or `entity`
    edge(source, target, relation, weight)   `mentions`: passage → entity, how often; `next_to`: entity – entity, in how
                                             many passages both are mentioned, the smaller id first

`folded` is the label in small letters, by which entities are looked up. Anybody may fill such a file;
`build_graph` makes one of an index's passages, with the entities that enrichment finds by their looks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import apsw

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, ModelError, StoreError
from twofold.domain.ports import GraphQuery, GraphQueryTranslator, Retrieved
from twofold.domain.types import Chunk
from twofold.ingest.enrich.entities import Sort, mentions_of
from twofold.ingest.enrich.shape import shape_of
from twofold.query.graph_questions import RuleTranslator

MAX_NEIGHBORS = 20
MAX_ENTITIES = 64
"""The most entities of one passage that are linked; a table of a thousand names would make a million edges."""
NAMED, NEAR = 1.0, 0.1
"""What a passage scores for each name that it mentions, and at most for all neighbors of the names."""
PASSAGE, ENTITY = "passage", "entity"
_LEFT_OUT = frozenset({Sort.YEAR, Sort.NUMBER})
_SCHEMA = """
CREATE TABLE node (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, label TEXT NOT NULL, folded TEXT NOT NULL);
CREATE TABLE edge (source INTEGER NOT NULL, target INTEGER NOT NULL, relation TEXT NOT NULL, weight REAL NOT NULL);
CREATE INDEX node_by_name ON node (folded, kind);
CREATE INDEX edge_by_source ON edge (source, relation);
CREATE INDEX edge_by_target ON edge (target, relation);
"""
_NEIGHBORS = """
SELECT other, sum(weight) AS total FROM (
    SELECT target AS other, weight FROM edge WHERE source = ?1 AND relation = 'next_to'
    UNION ALL SELECT source, weight FROM edge WHERE target = ?1 AND relation = 'next_to'
) GROUP BY other ORDER BY total DESC, other LIMIT ?2
"""
_MENTIONING = """
SELECT node.label, edge.weight FROM edge JOIN node ON node.id = edge.source
WHERE edge.target = ?1 AND edge.relation = 'mentions' AND node.kind = 'passage'
"""


class GraphSize(NamedTuple):
    """How much a graph holds."""

    passages: int
    entities: int
    edges: int


@dataclass(frozen=True, slots=True)
class GraphRetriever:
    """Finds passages by what a graph says of the names in a question; none where it cannot answer.

    The file is opened for each question, so another process may replace it at any time.
    """

    path: Path
    translator: GraphQueryTranslator = RuleTranslator()

    def search(self, query: str, k: int) -> Sequence[Retrieved]:
        """Return the k passages that mention most of the names, and of their neighbors where these are asked for.

        A passage scores 1 for each name that it mentions, and up to 0.1 for the neighbors, by their weight.
        Raises ModelError for a file that cannot be read.
        """
        asked = self.translator.translate(query)
        if asked is None:
            return ()
        with _reading(self.path) as connection:
            scores = _scored(connection, asked)
        best = sorted(scores.items(), key=lambda one: (-one[1], one[0]))
        return [Retrieved(label, score) for label, score in best[:k]]

    def translation(self, query: str) -> str:
        """Return the look-up that a question becomes, for the trace; empty where it becomes none."""
        asked = self.translator.translate(query)
        return "" if asked is None else f"{asked.relation}: {', '.join(asked.names)}"


def build_graph(chunks: Iterable[Chunk], path: Path) -> GraphSize:
    """Write the graph of some passages to a file, in the place of the graph that it holds, and say how large it is.

    Raises InvalidInputError for a file that is something else, StoreError where it cannot be written.
    """
    if path.exists() and not _is_graph(path):
        raise InvalidInputError(f"{path} exists and is not a graph.", "Name another file.")
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        connection = apsw.Connection(str(fresh))
        try:
            connection.execute(_SCHEMA)
            with connection:
                size = _fill(connection, chunks)
        finally:
            connection.close()
        fresh.replace(path)
    except (apsw.Error, OSError) as error:
        fresh.unlink(missing_ok=True)
        raise StoreError(f"The graph {path} cannot be written: {error}.", "Check the folder and the disk.") from error
    return size


def _fill(connection: apsw.Connection, chunks: Iterable[Chunk]) -> GraphSize:
    entities: dict[str, int] = {}
    beside: Counter[tuple[int, int]] = Counter()
    passages = edges = 0
    for number, chunk in enumerate(chunks, start=1):
        passages += 1
        connection.execute("INSERT INTO node VALUES (?, ?, ?, ?)", (-number, PASSAGE, chunk.id, chunk.id.casefold()))
        found = Counter(one.text for one in mentions_of(shape_of(chunk.indexed_text)) if one.sort not in _LEFT_OUT)
        held: Counter[int] = Counter()
        for label, times in found.items():
            folded = label.casefold()
            if folded not in entities:
                entities[folded] = len(entities) + 1
                connection.execute("INSERT INTO node VALUES (?, ?, ?, ?)", (entities[folded], ENTITY, label, folded))
            held[entities[folded]] += times
        connection.executemany(
            "INSERT INTO edge VALUES (?, ?, 'mentions', ?)", [(-number, one, times) for one, times in held.items()]
        )
        beside.update(combinations(sorted(one for one, _ in held.most_common(MAX_ENTITIES)), 2))
        edges += len(held)
    connection.executemany(
        "INSERT INTO edge VALUES (?, ?, 'next_to', ?)", [(*pair, times) for pair, times in beside.items()]
    )
    return GraphSize(passages, len(entities), edges + len(beside))


def _scored(connection: apsw.Connection, asked: GraphQuery) -> dict[str, float]:
    scores: dict[str, float] = {}
    named = [node for name in asked.names for node in _nodes(connection, name)]
    for node in named:
        for label, _ in connection.execute(_MENTIONING, (node,)):
            scores[label] = scores.get(label, 0.0) + NAMED
    if asked.relation == "mentions":
        return scores
    near: Counter[int] = Counter()
    for node in named:
        near.update(dict(connection.execute(_NEIGHBORS, (node, MAX_NEIGHBORS))))
    whole = sum(near.values())
    for other, total in near.items():
        for label, _ in connection.execute(_MENTIONING, (other,)):
            scores[label] = scores.get(label, 0.0) + NEAR * total / whole
    return scores


def _nodes(connection: apsw.Connection, name: str) -> list[int]:
    rows = connection.execute("SELECT id FROM node WHERE folded = ? AND kind = 'entity'", (name.casefold(),))
    return [number for (number,) in rows]


def _is_graph(path: Path) -> bool:
    try:
        with _reading(path) as connection:
            connection.execute("SELECT count(*) FROM node, edge LIMIT 1")
    except ModelError:
        return False
    return True


@contextmanager
def _reading(path: Path) -> Iterator[apsw.Connection]:
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            yield connection
        finally:
            connection.close()
    except apsw.Error as error:
        hint = "Make it with `twofold index graph FILE`, or name another file in `graph.file`."
        raise ModelError(f"the graph {path} cannot be read: {error}.", hint) from error
