package writer

import (
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// settle is what an import adds to have, a message that the archive holds: a
// text of more counts where it holds all of have's, and not where it is the same
// with its secrets unmasked.
func settle(have *record.Message, more record.Message) record.Message {
	more.Content = settled(have.Content, more.Content)
	more.Reasoning = settled(have.Reasoning, more.Reasoning)
	if unmasks(string(have.Extra), string(more.Extra)) {
		more.Extra = nil
	}
	more.ToolCalls = slices.Clone(more.ToolCalls)
	for i := range more.ToolCalls {
		for _, c := range have.ToolCalls {
			if c.ID == more.ToolCalls[i].ID && c.Name == more.ToolCalls[i].Name && unmasks(string(c.Args), string(more.ToolCalls[i].Args)) {
				more.ToolCalls[i].Args = c.Args
			}
		}
	}
	return more
}

func settled(have, more string) string {
	if unmasks(have, more) || !strings.Contains(more, have) {
		return ""
	}
	return more
}

// unmasks tells whether more is have but for its secrets.
func unmasks(have, more string) bool {
	return have != "" && have != more && scanner.Redact(more) == scanner.Redact(have)
}

// unionKept adds to s what n knows where s knows nothing, and tells whether that
// was anything.
func unionKept(s, n *record.Session) bool {
	before := *s
	record.UnionSession(s, n)
	record.UnionSession(s, &before)
	return *s != before
}
