package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/hermes-mcp/hermes-mcp/transcript/bundle"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
	"github.com/hermes-mcp/hermes-mcp/transcript/writer"
)

// What an import tells, and what it may fail with.
type Imported = writer.Imported

// ErrFormat is returned by Import for a file that is no export, or one of a
// newer form.
var ErrFormat = bundle.ErrFormat

// Export writes sessions as package bundle describes, every text passed through
// mask, nil leaving it as it is. It returns how many messages were written.
func (db *DB) Export(ctx context.Context, to io.Writer, what Chosen, mask func(string) string) (messages int, err error) {
	w, err := bundle.NewWriter(to, bundle.Head{At: db.now().UTC(), Redacted: mask != nil})
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	for _, s := range what.Sessions {
		if mask != nil {
			s.Title = mask(s.Title)
		}
		if err := w.Session(&s); err != nil {
			return messages, fmt.Errorf("export %s: %w", s.ID, err)
		}
		for part, err := range db.pieces(ctx, s.ID) {
			if err != nil {
				return messages, fmt.Errorf("export %s: %w", s.ID, err)
			}
			for i := range part {
				if mask != nil {
					maskMessage(&part[i], mask)
				}
				if err := w.Message(s.ID, &part[i]); err != nil {
					return messages, fmt.Errorf("export %s: %w", s.ID, err)
				}
				messages++
			}
		}
	}
	return messages, nil
}

func maskMessage(m *Message, mask func(string) string) {
	m.Content, m.Reasoning = mask(m.Content), mask(m.Reasoning)
	if len(m.Extra) > 0 {
		m.Extra = record.ValidArgs(json.RawMessage(mask(string(m.Extra))))
	}
	for i := range m.ToolCalls {
		m.ToolCalls[i].Args = record.ValidArgs(json.RawMessage(mask(string(m.ToolCalls[i].Args))))
	}
}

// Import takes an export in, all that can be read of it or, when the archive
// fails, nothing. What is archived already is not doubled; what was forgotten is
// left out unless revive. open is called once for each try. Errors: ErrFormat.
func (db *DB) Import(ctx context.Context, open func() (io.ReadCloser, error), revive bool) (Imported, error) {
	done, err := db.writer.Masking(db.Mask).Import(ctx, open, revive)
	if err != nil {
		return done, err
	}
	return done, db.writer.Tend(ctx, done.Messages > 2000)
}
