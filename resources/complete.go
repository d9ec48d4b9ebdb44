package resources

import (
	"context"
	"fmt"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

const (
	// completeFrom is how many recent sessions are looked through.
	completeFrom = 200
	// completions is the most that is proposed; the protocol allows 100.
	completions = 20
)

// Complete proposes values for the argument of a prompt or a template, named
// by of: ids of recent sessions for hermes://session/{id}, their titles as
// topics of recall. What begins with value comes before what only holds it.
// Anything else has no proposals.
func Complete(archive func(ctx context.Context) (*transcript.DB, error)) func(ctx context.Context, of, argument, value string) ([]string, error) {
	return func(ctx context.Context, of, argument, value string) ([]string, error) {
		var text func(s transcript.Session) string
		switch {
		case of == sessionTemplate && argument == "id":
			text = func(s transcript.Session) string { return s.ID }
		case of == "recall" && argument == "topic":
			show := plain.Filter{Redact: true}
			text = func(s transcript.Session) string { return show.Line(s.Title, 100) }
		default:
			return nil, nil
		}
		db, err := archive(ctx)
		if err != nil {
			return nil, fmt.Errorf("open the archive: %w", err)
		}
		recent, err := db.Recent(ctx, transcript.Query{Limit: completeFrom})
		if err != nil {
			return nil, fmt.Errorf("complete %s: %w", argument, err)
		}
		value = strings.ToLower(strings.TrimSpace(value))
		var begin, hold []string
		seen := map[string]bool{"": true}
		for _, s := range recent {
			t := text(s)
			if seen[t] {
				continue
			}
			seen[t] = true
			switch l := strings.ToLower(t); {
			case strings.HasPrefix(l, value):
				begin = append(begin, t)
			case strings.Contains(l, value):
				hold = append(hold, t)
			}
		}
		all := append(begin, hold...)
		return all[:min(completions, len(all))], nil
	}
}
