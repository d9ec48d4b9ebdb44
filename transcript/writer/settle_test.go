package writer

import (
	"encoding/json"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

func TestAnImportNeitherUnmasksNorRunsTextsTogether(t *testing.T) {
	secret := "use ghp_0123456789abcdefghijABCDEFGHIJ012345 here"
	masked := scanner.Redact(secret)
	for name, c := range map[string]struct{ have, more, want string }{
		"the unmasked form of a masked text":  {masked, secret, masked},
		"the masked form of an unmasked text": {secret, masked, secret},
		"a text that holds all of it":         {"the ibex", "the ibex and more", "the ibex and more"},
		"a text that is a part of it":         {"the ibex and more", "the ibex", "the ibex and more"},
		"another text":                        {"the ibex", "a lynx, longer by far", "the ibex"},
		"a text where there was none":         {"", secret, secret},
	} {
		t.Run(name, func(t *testing.T) {
			args := func(text string) []record.ToolCall {
				b, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				return []record.ToolCall{{Name: "run", Args: b}}
			}
			m := record.Message{Content: c.have, Reasoning: c.have, ToolCalls: args(masked)}
			more := settle(&m, record.Message{Content: c.more, Reasoning: c.more, ToolCalls: args(secret)})
			record.Union(&m, &more)
			if m.Content != c.want || m.Reasoning != c.want {
				t.Errorf("%q and %q, want %q", m.Content, m.Reasoning, c.want)
			}
			if len(m.ToolCalls) != 1 || string(m.ToolCalls[0].Args) != string(args(masked)[0].Args) {
				t.Errorf("calls %s", m.ToolCalls)
			}
		})
	}
}
