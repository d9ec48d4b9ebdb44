package tools

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/tools/wire/wiretest"
)

// A mute fails at everything.
type mute struct{ parrot }

func (mute) Recall(context.Context, provider.Session, string) ([]provider.Memory, error) {
	return nil, errors.New("no such host")
}

func TestAFailureOfTheProviderIsToldInTheNextResultOfAnyTool(t *testing.T) {
	g := guarded(t, &mute{})
	tool := Noticing(newShelf(t, MemoryOptions{}).ServerTool, g)
	if out, _ := wiretest.Call(t, tool, `{"action":"read"}`); out["notice"] != nil {
		t.Errorf("told before anything failed: %v", out)
	}
	if _, err := g.Recall(t.Context(), whoever(t.Context()), "which port?"); err == nil {
		t.Fatal("the provider did not fail")
	}
	for _, failing := range []bool{false, true} {
		args := `{"action":"add","content":"uses Go"}`
		if failing {
			args = `{"action":"remove","old_text":"nothing of the kind"}`
		}
		out, failed := wiretest.Call(t, tool, args)
		notice, told := out["notice"].(string)
		if failed != failing || told == failing || told && !strings.Contains(notice, "no such host") {
			t.Errorf("failed %v, %v", failed, out)
		}
	}
}
