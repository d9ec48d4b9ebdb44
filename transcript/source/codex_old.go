package source

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// bareItems are the response items that stood in the rollouts of 2025 without an
// envelope around them, below a first line of id and time.
var bareItems = map[string]bool{"message": true, "reasoning": true, "function_call": true, "function_call_output": true,
	"local_shell_call": true, "custom_tool_call": true, "custom_tool_call_output": true, "web_search_call": true}

// unwrapped makes of a bare item the line that later versions write. v is the
// line's value.
func (l *codexLine) unwrapped(v []byte) error {
	if l.Payload.Type != "" || !bareItems[l.Type] {
		return nil
	}
	var item codexPayload
	if err := decode(v, &item); err != nil {
		return fmt.Errorf("decode %s: %w", l.Type, err)
	}
	if strings.HasPrefix(l.Type, "function_call") && item.CallID == "" {
		return nil // of the logs from before, see bare
	}
	l.Type, l.Payload = "response_item", item
	return nil
}

// isOldRollout recognises a rollout of the first versions, one JSON document.
func isOldRollout(f *sniff) bool {
	return f.is(".json") && strings.HasPrefix(filepath.Base(f.path), "rollout-") && f.keys()["session"] && f.keys()["items"]
}

// readOld reads a rollout of the first versions.
func (c Codex) readOld(ctx context.Context, f transcript.File, sink transcript.Sink) error {
	raw, err := readDocument(f.Path)
	if err != nil {
		return fmt.Errorf("read codex rollout: %w", err)
	}
	var doc struct {
		Session codexPayload `json:"session"`
		Items   []rawJSON    `json:"items"`
	}
	if err := decode(raw, &doc); err != nil {
		sink.Problem(0, "not valid JSON: "+err.Error())
		return nil
	}
	p := codexPass{pass: &pass{ctx: ctx, path: f.Path, sink: sink, in: &lines{tally: transcript.Tally{Types: map[string]int{}}}}}
	p.st.Tools = map[string]string{}
	if err := p.meta(codexLine{Payload: doc.Session}); err != nil {
		return err
	}
	for _, item := range doc.Items {
		if err := p.value(item); err != nil {
			return err
		}
	}
	return done(sink, int64(len(raw)), len(doc.Items))
}
