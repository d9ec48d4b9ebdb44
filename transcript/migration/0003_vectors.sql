-- What texts mean, for whoever named an embedder. Empty for the others.

-- The models that vectors were made by. Vectors of different rows cannot be
-- compared; those of an older one are kept until the newest has caught up.
CREATE TABLE embedding (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT    NOT NULL,
  dimensions INTEGER NOT NULL,
  UNIQUE (name, dimensions)
);

-- Which sessions have their vectors, as of which session.rev.
CREATE TABLE embedded (
  session   INTEGER NOT NULL,
  embedding INTEGER NOT NULL,
  rev       INTEGER NOT NULL,
  PRIMARY KEY (session, embedding)
) WITHOUT ROWID;

-- Ids are never used again, so that what a process has in memory of a row that
-- is gone leads nowhere.
CREATE TABLE chunk (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  embedding INTEGER NOT NULL,
  session   INTEGER NOT NULL,
  message   INTEGER NOT NULL,                -- the first that it holds something of
  hash      INTEGER NOT NULL,                -- of its text
  vector    BLOB    NOT NULL                 -- a signed byte a dimension; empty for a text without one
);
CREATE INDEX chunk_session ON chunk(session, embedding);
