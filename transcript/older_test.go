package transcript

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
)

// An archive of the schema before is kept whole, beside a copy of how it was, and
// gains at its upkeep what the new one counts.
func TestAnArchiveOfTheSchemaBeforeIsBroughtUpToDate(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "archive.db")
	db, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	msgs := []Message{spoke(UserRole, "please look at this")}
	for i := range 30 {
		msgs = append(msgs, spoke(Assistant, fmt.Sprintf("the gateway answers %d times before its queue is full", i)))
	}
	tell(t, db, Session{ID: "t:old", StartedAt: day}, msgs...)
	for i := range 60 {
		tell(t, db, Session{ID: fmt.Sprintf("t:other%d", i), StartedAt: day}, spoke(UserRole, fmt.Sprintf("something else %d", i)))
	}
	if err := db.update(ctx, true, func(tx *engine.Tx) error {
		for _, back := range []string{"DROP INDEX session_uncounted", "ALTER TABLE session DROP COLUMN counted",
			"ALTER TABLE session DROP COLUMN dense", "DELETE FROM migration WHERE number = 4"} {
			if err := tx.Exec(back); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	if db, err = Open(ctx, path); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := os.Stat(path + ".schema-0003"); err != nil {
		t.Error(err)
	}
	if got := hitIDs(search(t, db, "gateway queue")); len(got) != 1 || got[0] != "t:old" {
		t.Errorf("found %v", got)
	}
	if err := db.Tend(ctx, true); err != nil {
		t.Fatal(err)
	}
	var dense string
	if err := db.update(ctx, false, func(tx *engine.Tx) error {
		return tx.Row("SELECT dense FROM session WHERE name = 't:old'", nil, &dense)
	}); err != nil || !strings.Contains(dense, "queue") {
		t.Errorf("%q is said all the time, %v", dense, err)
	}
}
