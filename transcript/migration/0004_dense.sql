-- What a session says all the time, so that a common word finds it: words in the
-- order of the alphabet, of the first so many messages.
ALTER TABLE session ADD COLUMN dense TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;
-- Those that have grown by half since, or were never counted.
CREATE INDEX session_uncounted ON session(id) WHERE messages >= 16 AND 2 * messages >= 3 * counted;
