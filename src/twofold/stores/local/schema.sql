-- One row: what the collection is now. Totals are kept here to be cross-checked against what is loaded.
CREATE TABLE state (
  only       INTEGER PRIMARY KEY CHECK (only = 1),
  generation INTEGER NOT NULL,  -- counts changes of any kind; readers compare it once a question
  layout     INTEGER NOT NULL,  -- counts changes of the list of segments
  edition    INTEGER NOT NULL,  -- the edition that is searched
  access     INTEGER NOT NULL,  -- counts changes of who may read documents that are there
  commits    INTEGER NOT NULL   -- counts transactions, the last one included; held against the note of the last one
) STRICT;

-- All passages of one recipe (embedder, analyzer, chunker, enricher). `reindex` builds the next edition beside the current one.
CREATE TABLE edition (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  recipe     TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  chunks     INTEGER NOT NULL DEFAULT 0,
  words      INTEGER NOT NULL DEFAULT 0,
  pending    INTEGER NOT NULL DEFAULT 0  -- passages without a vector
) STRICT;

-- Who may read: each set of principals once, as JSON in order.
CREATE TABLE readers (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  principals TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE document (
  row          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL UNIQUE,
  source       TEXT NOT NULL,
  title        TEXT NOT NULL,
  media_type   TEXT NOT NULL,
  metadata     TEXT NOT NULL,  -- JSON
  content_hash TEXT NOT NULL,
  characters   INTEGER NOT NULL,
  readers      INTEGER REFERENCES readers (id),  -- NULL: the default that the index has by then
  blocks       TEXT NOT NULL,  -- JSON
  text         TEXT NOT NULL
) STRICT;
CREATE INDEX document_by_source ON document (source, id);
CREATE INDEX document_by_readers ON document (readers) WHERE readers IS NOT NULL;

-- Rows are numbered in the order of writing and numbers are never used again: segments cover ranges of them.
CREATE TABLE chunk (
  row       INTEGER PRIMARY KEY AUTOINCREMENT,
  edition   INTEGER NOT NULL REFERENCES edition (id),
  document  INTEGER NOT NULL REFERENCES document (row) ON DELETE CASCADE,
  ordinal   INTEGER NOT NULL,
  key       INTEGER NOT NULL,
  start     INTEGER NOT NULL,
  stop      INTEGER NOT NULL,
  page      INTEGER,
  place     TEXT NOT NULL,
  metadata  TEXT NOT NULL,  -- JSON
  heading   TEXT NOT NULL,  -- JSON
  header    TEXT NOT NULL,
  text      TEXT NOT NULL,
  text_hash BLOB NOT NULL,  -- of the indexed text: equal hash, equal vector
  words     INTEGER NOT NULL,
  terms     BLOB NOT NULL,  -- (uint32 term, uint16 count) records, by rising term
  vector    BLOB            -- float16; NULL until the passage is embedded
) STRICT;
CREATE UNIQUE INDEX chunk_by_key ON chunk (edition, key);
CREATE INDEX chunk_by_document ON chunk (document, edition, ordinal);
CREATE INDEX chunk_by_text ON chunk (edition, text_hash);
CREATE INDEX chunk_pending ON chunk (edition, row) WHERE vector IS NULL;

CREATE TABLE term (
  id   INTEGER PRIMARY KEY AUTOINCREMENT,
  text TEXT NOT NULL UNIQUE
) STRICT;

-- The collection's own settings, by their dotted names. They are no part of a recipe.
CREATE TABLE preference (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The collection's synonyms: one rule a line, as they were written.
CREATE TABLE synonyms (
  only  INTEGER PRIMARY KEY CHECK (only = 1),
  rules TEXT NOT NULL
) STRICT;

-- The files and folders that the collection was synced from, and when a sync of them last changed something.
CREATE TABLE root (
  path   TEXT PRIMARY KEY,
  synced INTEGER NOT NULL  -- nanoseconds since 1970
) STRICT, WITHOUT ROWID;

-- Rows of passages that were deleted after a segment or a reader took them in.
CREATE TABLE tombstone (
  row        INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL
) STRICT;
CREATE INDEX tombstone_by_generation ON tombstone (generation);

-- Derived files: each covers the rows first..last of the current edition; ranges do not overlap.
CREATE TABLE segment (
  name     TEXT PRIMARY KEY,
  first    INTEGER NOT NULL,
  last     INTEGER NOT NULL,
  chunks   INTEGER NOT NULL,
  checksum BLOB NOT NULL  -- XXH3-128 of the whole file
) STRICT, WITHOUT ROWID;

-- The states that were given a name. Numbers alone say what each holds: the rows up to `last_document` and
-- `last_chunk`, of one edition, that live or died after its generation.
CREATE TABLE snapshot (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  name          TEXT NOT NULL UNIQUE,
  created       INTEGER NOT NULL,  -- seconds since 1970
  generation    INTEGER NOT NULL,
  edition       INTEGER NOT NULL,
  recipe        TEXT NOT NULL,     -- empty where the collection had none
  dimensions    INTEGER NOT NULL,
  last_document INTEGER NOT NULL,
  last_chunk    INTEGER NOT NULL,
  documents     INTEGER NOT NULL,
  chunks        INTEGER NOT NULL,
  words         INTEGER NOT NULL,
  pending       INTEGER NOT NULL,
  preferences   TEXT NOT NULL,     -- JSON
  synonyms      TEXT NOT NULL
) STRICT;

-- Rows that were deleted while a snapshot holds them, with the generation that no longer had them.
CREATE TABLE retained_document (
  row          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL,
  source       TEXT NOT NULL,
  title        TEXT NOT NULL,
  media_type   TEXT NOT NULL,
  metadata     TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  characters   INTEGER NOT NULL,
  readers      INTEGER REFERENCES readers (id),  -- those it had last; while the document is there, its own hold
  blocks       TEXT NOT NULL,
  text         TEXT NOT NULL,
  died         INTEGER NOT NULL
) STRICT;
CREATE INDEX retained_document_by_id ON retained_document (id);

CREATE TABLE retained_chunk (
  row       INTEGER PRIMARY KEY,
  edition   INTEGER NOT NULL,
  document  INTEGER NOT NULL,
  ordinal   INTEGER NOT NULL,
  key       INTEGER NOT NULL,
  start     INTEGER NOT NULL,
  stop      INTEGER NOT NULL,
  page      INTEGER,
  place     TEXT NOT NULL,
  metadata  TEXT NOT NULL,
  heading   TEXT NOT NULL,
  header    TEXT NOT NULL,
  text      TEXT NOT NULL,
  text_hash BLOB NOT NULL,
  words     INTEGER NOT NULL,
  terms     BLOB NOT NULL,
  vector    BLOB,
  died      INTEGER NOT NULL
) STRICT;
CREATE INDEX retained_chunk_by_document ON retained_chunk (document, edition, ordinal);
CREATE INDEX retained_chunk_by_text ON retained_chunk (edition, text_hash);
