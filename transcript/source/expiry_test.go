package source

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

func TestClaudeSessionsExpireAsItsSettingsSay(t *testing.T) {
	now := time.Now()
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		settings string
		want     []string
	}{
		"no settings: thirty days":         {"", []string{"old", "ageing"}},
		"a longer time":                    {`{"cleanupPeriodDays": 365}`, nil},
		"a shorter one":                    {`{"cleanupPeriodDays": 3}`, []string{"old", "ageing", "fresh"}},
		"nought deletes everything":        {`{"cleanupPeriodDays": 0}`, []string{"old", "ageing", "fresh"}},
		"what makes no sense says nothing": {`{"cleanupPeriodDays": "never"}`, []string{"old", "ageing"}},
		"a broken file says nothing":       {`{"cleanup`, []string{"old", "ageing"}},
	} {
		home := t.TempDir()
		root := filepath.Join(home, ".claude")
		for file, age := range map[string]time.Duration{"old": 40 * day, "ageing": 25 * day, "fresh": time.Hour, "agent-sub": 40 * day} {
			path := filepath.Join(root, "projects", "p", file+".jsonl")
			writeAt(t, path, "{}\n")
			if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		if c.settings != "" {
			writeAt(t, filepath.Join(root, "settings.json"), c.settings)
		}
		got, err := Claude{}.Expiring(context.Background(), transcript.Places{Home: home}, now.Add(7*day))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range got {
			names = append(names, filepath.Base(e.Path[:len(e.Path)-len(".jsonl")]))
		}
		equal(t, name, names, c.want)
	}
}
