package health

import (
	"context"
	"fmt"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// soon is how far ahead status looks.
const soon = 7 * 24 * time.Hour

// An Expiring says how many sessions an agent is about to delete, and whether
// the archive has them.
type Expiring struct {
	Source      string    `json:"source"`
	Sessions    int       `json:"sessions"` // within seven days
	NotArchived int       `json:"not_archived"`
	First       time.Time `json:"first"` // when the first may go
	Error       string    `json:"error,omitempty"`
}

// String is an Expiring on one line.
func (e Expiring) String() string {
	if e.Error != "" {
		return fmt.Sprintf("%s: what it is about to delete is not known: %s", e.Source, e.Error)
	}
	when := "from " + e.First.Local().Format(time.DateOnly) + " on"
	if e.First.Before(time.Now()) {
		when = "from its next start on"
	}
	line := fmt.Sprintf("%s deletes %s within 7 days, %s; ", e.Source, plain.Count(e.Sessions, "session"), when)
	if e.NotArchived == 0 {
		return line + "all are archived and stay here"
	}
	return line + fmt.Sprintf("not archived yet: %d, see hermes-mcp ingest", e.NotArchived)
}

// expiring looks at every source whose agent deletes its own files. db is nil
// where there is no archive yet.
func (s Subject) expiring(ctx context.Context, db *transcript.DB) []Expiring {
	var out []Expiring
	for _, src := range s.Sources {
		e, ok := src.(source.Expirer)
		if !ok {
			continue
		}
		found, err := e.Expiring(ctx, s.Places, time.Now().Add(soon))
		if err == nil && len(found) == 0 {
			continue
		}
		now := Expiring{Source: src.Name(), Sessions: len(found), NotArchived: len(found)}
		if err == nil {
			now.First = found[0].At
		}
		if err == nil && db != nil {
			files := make([]transcript.File, len(found))
			for i, f := range found {
				files[i] = f.File
			}
			files, err = db.Unread(ctx, src.Name(), files)
			now.NotArchived = len(files)
		}
		if err != nil {
			now.Error = err.Error()
		}
		out = append(out, now)
	}
	return out
}
