-- The archive: sessions, their messages, where they came from, and the index.

CREATE TABLE session (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,        -- <source>:<agent's id>
  bare       TEXT    NOT NULL,               -- the part after the colon
  source     TEXT    NOT NULL,
  root       INTEGER NOT NULL,               -- session.id of the lineage's root; its own when it has no known parent
  parent     TEXT    NOT NULL DEFAULT '',    -- name of the parent, which may arrive later
  relation   TEXT    NOT NULL DEFAULT '',
  title      TEXT    NOT NULL DEFAULT '',
  project    TEXT    NOT NULL DEFAULT '',
  dir        TEXT    NOT NULL DEFAULT '',
  branch     TEXT    NOT NULL DEFAULT '',
  model      TEXT    NOT NULL DEFAULT '',
  surface    TEXT    NOT NULL DEFAULT '',
  user       TEXT    NOT NULL DEFAULT '',
  version    TEXT    NOT NULL DEFAULT '',
  started    INTEGER NOT NULL DEFAULT 0,     -- Unix milliseconds; 0 is unknown, as everywhere here
  ended      INTEGER NOT NULL DEFAULT 0,
  active     INTEGER NOT NULL DEFAULT 0,
  end_reason TEXT    NOT NULL DEFAULT '',
  path       TEXT    NOT NULL DEFAULT '',
  gone       INTEGER NOT NULL DEFAULT 0,
  messages   INTEGER NOT NULL DEFAULT 0,     -- members, copied ones included
  text       INTEGER NOT NULL DEFAULT 0,     -- UTF-8 bytes of its own messages' content, reasoning, tool arguments
  preview    TEXT    NOT NULL DEFAULT '',
  header     TEXT    NOT NULL DEFAULT '',    -- what is indexed for the session itself
  keyed      INTEGER NOT NULL DEFAULT 0,     -- 1: has messages with the agent's ids, 2: with hashed ones, 3: both
  rev        INTEGER NOT NULL                -- of the transaction that last changed it
);
CREATE INDEX session_bare   ON session(bare);
CREATE INDEX session_parent ON session(parent) WHERE parent <> '';
CREATE INDEX session_root   ON session(root);
CREATE INDEX session_active ON session(active);
CREATE INDEX session_path   ON session(path);
CREATE INDEX session_rev    ON session(rev);

-- Message ids are handed out to sessions in blocks of 64, so an id tells its
-- session by way of a table small enough to be held in memory. Slot 0 of a
-- session's first block stands for the session itself.
CREATE TABLE block (
  id      INTEGER PRIMARY KEY,               -- message id / 64
  session INTEGER NOT NULL,
  rev     INTEGER NOT NULL,
  slots   BLOB    NOT NULL                   -- 8 bytes a message, see index/slot.go
);
CREATE INDEX block_session ON block(session);
CREATE INDEX block_rev     ON block(rev);

CREATE TABLE message (
  id      INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,                  -- the one that it was first seen in
  seq     INTEGER NOT NULL,
  key     INTEGER NOT NULL UNIQUE,           -- 63-bit hash of its identity
  at      INTEGER NOT NULL,                  -- Unix milliseconds
  role    TEXT    NOT NULL,
  flags   INTEGER NOT NULL,                  -- see body.go
  context INTEGER NOT NULL,                  -- context.id, 0 for none
  body    BLOB    NOT NULL                   -- the rest, zstd; see body.go
);
CREATE INDEX message_session ON message(session, seq);

-- Where messages were said. Few, so each is stored once.
CREATE TABLE context (
  id     INTEGER PRIMARY KEY,
  model  TEXT NOT NULL,
  dir    TEXT NOT NULL,
  branch TEXT NOT NULL,
  UNIQUE (model, dir, branch)
);

-- A message that other sessions repeat (forks, resumed copies) is stored once
-- and is a member of each.
CREATE TABLE member (
  session INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  message INTEGER NOT NULL,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX member_message ON member(message, session);

CREATE TABLE file (
  id       INTEGER PRIMARY KEY,
  source   TEXT    NOT NULL,
  path     TEXT    NOT NULL,
  size     INTEGER NOT NULL,                 -- when last read
  modified INTEGER NOT NULL,                 -- Unix nanoseconds
  inode    TEXT    NOT NULL,                 -- device and inode, where there are such
  position INTEGER NOT NULL,                 -- of the cursor
  state    BLOB    NOT NULL DEFAULT x'',     -- of the cursor, the source's own, packed like a body
  print    INTEGER NOT NULL DEFAULT 0,       -- fingerprint of what was read, 0 for none
  tally    TEXT    NOT NULL DEFAULT '',
  problems TEXT    NOT NULL DEFAULT '',
  final    INTEGER NOT NULL DEFAULT 0,       -- a torn last line was taken as it was
  gone     INTEGER NOT NULL DEFAULT 0,
  UNIQUE (source, path)
);

-- How far something has come in a session, by name: flushed, reviewed, synced.
CREATE TABLE mark (
  session INTEGER NOT NULL,
  name    TEXT    NOT NULL,
  message INTEGER NOT NULL,
  PRIMARY KEY (session, name)
) WITHOUT ROWID;

-- In how many rows of the index a word stands. Only words, for spelling.
CREATE TABLE term (
  term TEXT PRIMARY KEY,
  df   INTEGER NOT NULL
) WITHOUT ROWID;

-- Numbers of the whole archive: rev.
CREATE TABLE counter (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counter VALUES ('rev', 0);

-- The index holds no text. Terms come analysed, so the plain tokeniser only
-- splits at spaces. Merging is done by hand, never inside a user's write.
CREATE VIRTUAL TABLE message_fts USING fts5(
  text, content='', contentless_delete=1, tokenize='ascii'
);
-- Of each session the title, the project's name and the beginning of the first
-- prompt, so that a common word still finds the session that is about it.
CREATE VIRTUAL TABLE session_fts USING fts5(
  text, content='', contentless_delete=1, tokenize='ascii'
);
INSERT INTO session_fts(session_fts, rank) VALUES ('automerge', 0);
INSERT INTO session_fts(session_fts, rank) VALUES ('crisismerge', 64);
INSERT INTO message_fts(message_fts, rank) VALUES ('automerge', 0);
INSERT INTO message_fts(message_fts, rank) VALUES ('crisismerge', 64);
