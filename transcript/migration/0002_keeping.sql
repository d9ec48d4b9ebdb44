-- What keeping and forgetting need to know.

-- The chat that a session belongs to, where a gateway keeps many apart.
ALTER TABLE session ADD COLUMN chat TEXT NOT NULL DEFAULT '';

-- 1: something that stands in it was forgotten. A source's cursor may repeat
-- text, so none is kept for such a file: it is read from its beginning.
ALTER TABLE file ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;

-- Sessions that no source may bring back.
CREATE TABLE tombstone (
  id   INTEGER PRIMARY KEY,
  name TEXT    NOT NULL UNIQUE,              -- <source>:<agent's id>
  at   INTEGER NOT NULL
);

-- Of these what a copied history would bring back under another session's name:
-- the keys of their messages, hashes of what these say and when, and of titles.
CREATE TABLE tombstone_message (
  key       INTEGER PRIMARY KEY,
  tombstone INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX tombstone_message_of ON tombstone_message(tombstone);

-- What was forgotten, and where it stands outside: never the text.
CREATE TABLE receipt (
  id   INTEGER PRIMARY KEY,
  at   INTEGER NOT NULL,
  done INTEGER NOT NULL,                     -- 0: some of the cleaning is left to do
  body TEXT    NOT NULL                      -- JSON
);

-- Files that exports were written to.
CREATE TABLE export (
  path TEXT PRIMARY KEY,
  at   INTEGER NOT NULL
) WITHOUT ROWID;

-- How often something was forgotten, and below which numbers ids are taken:
-- one that was forgotten is not given to another.
INSERT INTO counter VALUES ('forgotten', 0), ('session', 0), ('block', 0);
