package settings

import (
	"os"
	"path/filepath"
	"testing"
)

func TestEditsWaitWhenTheWishForApprovalCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want bool
	}{
		"the file does not parse":     {"memory: {write_approval: true}\nhttp: [\n", true},
		"the value is no yes or no":   {"memory: {write_approval: yess}\n", true},
		"the key is misspelt":         {"memory: {write_aproval: true}\n", true},
		"another key is misspelt":     {"memory: {memory_char_limt: 5}\n", false},
		"a key that means nothing":    {"foo: 1\n", false},
		"it says no":                  {"memory: {write_approval: false}\n", false},
		"it says yes beside an error": {"memory: {write_approval: true}\nfoo: 1\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.MkdirAll(filepath.Join(home, "mcp"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, "mcp", "config.yaml"), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, _ := Load(home, nil, func(string) string { return "" })
			if got.WriteApproval != c.want {
				t.Errorf("write approval is %v", got.WriteApproval)
			}
		})
	}
}
