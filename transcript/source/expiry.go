package source

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// An Expirer is a source whose agent deletes its own sessions after a time.
type Expirer interface {
	transcript.Source
	// Expiring lists the sessions, a file each, that the agent will delete
	// before until when nothing is added to them, the first to go first.
	Expiring(ctx context.Context, p transcript.Places, until time.Time) ([]Expiring, error)
}

// An Expiring is a session that its agent will delete.
type Expiring struct {
	transcript.File
	At time.Time // not before
}

// claudeKeepDays is how long Claude Code keeps a session that nobody touches,
// where its settings do not say.
const claudeKeepDays = 30

// Expiring implements Expirer: when Claude Code starts, it deletes what was last
// written more than cleanupPeriodDays ago; 0 is everything.
func (c Claude) Expiring(ctx context.Context, p transcript.Places, until time.Time) ([]Expiring, error) {
	files, err := c.Find(ctx, p)
	if err != nil {
		return nil, err
	}
	keep := map[string]time.Duration{}
	for _, root := range claudeRoots(p) {
		if keep[root], err = claudeKeeps(filepath.Join(root, "settings.json")); err != nil {
			return nil, err
		}
	}
	var out []Expiring
	for _, f := range files {
		if kindOf(f.Path) != claudeMain {
			continue
		}
		for root, d := range keep {
			at := f.Modified.Add(d)
			if strings.HasPrefix(f.Path, filepath.Join(root, "projects")+string(filepath.Separator)) && at.Before(until) {
				out = append(out, Expiring{f, at})
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b Expiring) int { return a.At.Compare(b.At) })
	return out, nil
}

// claudeKeeps reads how long sessions are kept from a settings file. One that
// cannot be understood says nothing, to Claude Code too.
func claudeKeeps(path string) (time.Duration, error) {
	const day = 24 * time.Hour
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return claudeKeepDays * day, nil
	}
	if err != nil {
		return 0, err
	}
	var settings struct {
		Days *float64 `json:"cleanupPeriodDays"`
	}
	if json.Unmarshal(raw, &settings) != nil || settings.Days == nil || *settings.Days < 0 || *settings.Days > 100_000 {
		return claudeKeepDays * day, nil
	}
	return time.Duration(*settings.Days * float64(day)), nil
}
