package resources

import (
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
)

// Upstream #61424: an entry says who said it, since when and on what evidence.
func TestTheLiveMemorySaysWhereAnEntryComesFrom(t *testing.T) {
	march := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		e    memstore.Entry
		want string
	}{
		{"written by hand, dated by its file", memstore.Entry{UpdatedAt: march}, "2026-03-01, unknown"},
		{"just written", memstore.Entry{UpdatedAt: march, CreatedAt: march, ConfirmedAt: march, Source: memstore.UserExplicit, Confidence: memstore.Confirmed}, "2026-03-01, user_explicit, confirmed"},
		{"known for long, reworded, confirmed", memstore.Entry{
			UpdatedAt: march, CreatedAt: march.AddDate(0, -1, 0), ConfirmedAt: march.AddDate(0, 0, 3), Source: memstore.Review,
			Session: "codex:1", Evidence: []string{"codex:1/7", "codex:1/9"},
		}, "2026-03-01, review, known since 2026-02-01, confirmed again 2026-03-04, session codex:1, evidence codex:1/7 codex:1/9"},
	} {
		if got := origin(c.e); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
