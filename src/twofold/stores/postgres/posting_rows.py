"""The tables that let the database itself rank: a row for each posting, and vectors as pgvector reads them.

Triggers keep them in step with `chunk`, in the transaction of each change, whichever client makes it.
"""

import logging
from typing import Any

import psycopg
from psycopg import errors, sql

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import NotAllowedError, StoreError
from twofold.stores.catalog_connection import CatalogConnection
from twofold.stores.postgres.connection import LOCK_CLASS, connect, failures, schema_of

MAX_HALF_DIMENSIONS = 16_000  # of pgvector's `halfvec`
MAX_HNSW_DIMENSIONS = 4_000

logger = logging.getLogger(__name__)

_POSTINGS = """
CREATE TABLE {schema}.posting (
  edition   bigint NOT NULL,
  term      bigint NOT NULL,
  row       bigint NOT NULL,
  frequency integer NOT NULL,
  words     bigint NOT NULL,
  key       bigint NOT NULL,
  document  bigint NOT NULL,
  PRIMARY KEY (edition, term, row) INCLUDE (frequency, words, key, document)
);
CREATE FUNCTION {schema}.postings_of(terms bytea) RETURNS TABLE (term bigint, frequency integer)
  LANGUAGE sql IMMUTABLE AS $$
  SELECT get_byte(held, at) + (get_byte(held, at + 1) << 8) + (get_byte(held, at + 2) << 16)
    + get_byte(held, at + 3)::bigint * 16777216, get_byte(held, at + 4) + (get_byte(held, at + 5) << 8)
  FROM (SELECT terms || ''::bytea AS held OFFSET 0) AS once, generate_series(0, length(held) - 6, 6) AS at
$$;
CREATE FUNCTION {schema}.add_postings() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO {schema}.posting SELECT edition, p.term, row, p.frequency, words, key, document
    FROM added, {schema}.postings_of(terms) AS p;
  RETURN NULL;
END $$;
CREATE FUNCTION {schema}.remove_postings() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM {schema}.posting AS held USING removed, {schema}.postings_of(removed.terms) AS p
    WHERE held.edition = removed.edition AND held.term = p.term AND held.row = removed.row;
  RETURN NULL;
END $$;
INSERT INTO {schema}.posting SELECT edition, p.term, row, p.frequency, words, key, document
  FROM {schema}.chunk, {schema}.postings_of(terms) AS p;
CREATE TRIGGER add_postings AFTER INSERT ON {schema}.chunk REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION {schema}.add_postings();
CREATE TRIGGER remove_postings AFTER DELETE ON {schema}.chunk REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION {schema}.remove_postings();
"""
_VECTORS = """
CREATE TABLE {schema}.near (
  row      bigint PRIMARY KEY REFERENCES {schema}.chunk ON DELETE CASCADE,
  edition  bigint NOT NULL,
  document bigint NOT NULL,
  vector   {vector}.halfvec NOT NULL
);
CREATE FUNCTION {schema}.halves(vector bytea) RETURNS {vector}.halfvec LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg((CASE WHEN half < 32768 THEN 1.0 ELSE -1.0 END)::float8
    * CASE WHEN half & 31744 = 0 THEN (half & 1023) * 2.0::float8 ^ -24
      ELSE (1024 + (half & 1023)) * 2.0::float8 ^ (((half & 31744) >> 10) - 25) END ORDER BY at
    )::real[]::{vector}.halfvec
  FROM (SELECT vector || ''::bytea AS held OFFSET 0) AS once, generate_series(0, length(held) - 2, 2) AS at,
    LATERAL (SELECT get_byte(held, at) + (get_byte(held, at + 1) << 8) AS half) AS two
$$;
CREATE FUNCTION {schema}.add_near() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO {schema}.near SELECT row, edition, document, {schema}.halves(vector) FROM added
    WHERE length(vector) <= 32000;
  RETURN NULL;
END $$;
INSERT INTO {schema}.near SELECT row, edition, document, {schema}.halves(vector)
  FROM {schema}.chunk WHERE length(vector) <= 32000;
CREATE TRIGGER add_near AFTER INSERT ON {schema}.chunk REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION {schema}.add_near();
"""

_FUNCTIONS = ("add_postings", "remove_postings", "postings_of", "add_near", "halves")


@dataclass(frozen=True, slots=True)
class PostingRows:
    """What an index has for ranking in the database.

    `vector` is pgvector's schema, empty where vectors are not in it; `graphs` are the editions that have a graph.
    """

    vector: str
    graphs: frozenset[int] = frozenset()


def posting_rows(dsn: str, number: int) -> PostingRows:
    """Return what an index has for ranking in the database; made first where it has nothing.

    Raises NotAllowedError where the role may not make it, StoreError on a replica.
    """
    with failures(), connect(dsn) as database:
        found = _found(database, number)
        if found is None:
            try:
                _make(database, number)
            except errors.InsufficientPrivilege:
                raise NotAllowedError(*_MISSING) from None
            except errors.ReadOnlySqlTransaction:
                raise StoreError(*_MISSING) from None
            found = _found(database, number)
    if found is None:
        raise StoreError(*_MISSING)
    return found


_MISSING = (
    "The index has no posting rows, which `retrieval=server` ranks.",
    "Search it once with `retrieval=server` in the address as the role that writes to it.",
)


def is_whole(connection: CatalogConnection) -> bool:
    """Return whether there is a row for each posting of the passages."""
    query = (
        "SELECT (SELECT count(*) FROM posting) = (SELECT coalesce(sum(length(terms)), 0) FROM chunk) / 6"
        " AND NOT EXISTS (SELECT 1 FROM posting AS p WHERE NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.row = p.row))"
    )
    (whole,) = connection.execute(query).fetchone() or (False,)
    return bool(whole)


def remove_posting_rows(dsn: str, number: int) -> None:
    """Delete all that ranks in the database: it is made again by the next that opens it for that."""
    schema = schema_of(number)
    made = [f"DROP FUNCTION IF EXISTS {schema}.{name} CASCADE" for name in _FUNCTIONS]
    with failures(), connect(dsn) as database, database.transaction():
        database.execute(f"SELECT pg_advisory_xact_lock({LOCK_CLASS}, {number:d})")
        for statement in [*made, f"DROP TABLE IF EXISTS {schema}.posting, {schema}.near"]:
            database.execute(statement.encode())


def make_graph(dsn: str, number: int, graph_from: int) -> None:
    """Make a graph of the vectors where they are many and it is not there."""
    with failures(), connect(dsn) as database:
        rows = _found(database, number)
        if rows is None or not rows.vector:
            return
        schema = schema_of(number)
        query = f"SELECT edition, dimensions FROM {schema}.state JOIN {schema}.edition ON edition.id = state.edition"  # noqa: S608
        edition, dimensions = database.execute(query).fetchone() or (0, 0)
        query = f"SELECT count(*) FROM {schema}.near WHERE edition = $1"  # noqa: S608
        (count,) = database.execute(query, [edition]).fetchone() or (0,)
        if count < graph_from or not 0 < dimensions <= MAX_HNSW_DIMENSIONS:
            return
        database.execute(
            sql.SQL(
                "CREATE INDEX IF NOT EXISTS {} ON {}.near USING hnsw"
                " ((vector::{vector}.halfvec({})) {vector}.halfvec_ip_ops) WHERE edition = {}"
            ).format(
                sql.Identifier(f"near_{edition:d}"),
                sql.Identifier(schema),
                sql.Literal(int(dimensions)),
                sql.Literal(int(edition)),
                vector=sql.Identifier(rows.vector),
            )
        )


def _found(database: psycopg.Connection[Any], number: int) -> PostingRows | None:
    schema = schema_of(number)
    row = database.execute(
        "SELECT to_regclass($1) IS NOT NULL, to_regclass($2) IS NOT NULL,"
        " (SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector')",
        [f"{schema}.posting", f"{schema}.near"],
    ).fetchone()
    has_postings, has_vectors, vector = row or (False, False, None)
    if not has_postings:
        return None
    query = (
        "SELECT indexname FROM pg_indexes WHERE schemaname = $1 AND tablename = 'near' AND indexname LIKE 'near\\_%'"
    )
    names = [str(name).removeprefix("near_") for (name,) in database.execute(query, [schema])]
    graphs = frozenset(int(name) for name in names if name.isdecimal())
    return PostingRows(vector, graphs) if has_vectors and vector else PostingRows("")


def _make(database: psycopg.Connection[Any], number: int) -> None:
    """Fill the tables, alone among the writers of the index; of two that make them one finds them made."""
    with database.transaction():
        database.execute(f"SELECT pg_advisory_xact_lock({LOCK_CLASS}, {number:d})")
        if _found(database, number) is not None:
            return
        query = (
            "SELECT nspname FROM pg_extension"
            " JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector'"
            " AND to_regtype(quote_ident(nspname) || '.halfvec') IS NOT NULL"
        )
        row = database.execute(query).fetchone()
        schema = sql.Identifier(schema_of(number))
        database.execute(sql.SQL(_POSTINGS).format(schema=schema))
        if row is not None:
            database.execute(sql.SQL(_VECTORS).format(schema=schema, vector=sql.Identifier(row[0])))
        logger.info("The posting rows of index %d were made%s.", number, "" if row is None else ", and its vectors")
