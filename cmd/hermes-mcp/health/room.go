package health

import (
	"context"
	"fmt"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A Room says how much the archive takes, and what of it should go.
type Room struct {
	Bytes   int64 `json:"bytes"`
	MaxSize int64 `json:"max_size,omitempty"` // 0 is no limit
	// Left counts the receipts of what was forgotten and is not cleaned yet.
	Left int `json:"forgetting_left,omitempty"`
}

func (s Subject) room(ctx context.Context, db *transcript.DB) (Room, error) {
	r := Room{MaxSize: s.Config.ArchiveMaxSize}
	var err error
	if r.Bytes, err = db.FileSize(ctx); err != nil {
		return r, err
	}
	receipts, err := db.Receipts(ctx)
	for _, one := range receipts {
		if !one.Done {
			r.Left++
		}
	}
	return r, err
}

// Over tells whether the archive is larger than it should be.
func (r Room) Over() bool { return r.MaxSize > 0 && r.Bytes > r.MaxSize }

// Lines tells what a person should know of it.
func (r Room) Lines() []string {
	var lines []string
	mb := func(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
	switch {
	case r.Over():
		lines = append(lines, fmt.Sprintf("%s on the disk, %s over archive.max_size; nothing is removed by itself: hermes-mcp archive trim shows what could go", mb(r.Bytes), mb(r.Bytes-r.MaxSize)))
	case r.MaxSize > 0:
		lines = append(lines, fmt.Sprintf("%s on the disk, of %s that it may take", mb(r.Bytes), mb(r.MaxSize)))
	}
	if r.Left > 0 {
		lines = append(lines, "something that was forgotten is not cleaned up yet: hermes-mcp archive forget --yes finishes it")
	}
	return lines
}
