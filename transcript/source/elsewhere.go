package source

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Elsewhere says of agents that are on this machine, but keep their sessions
// where nobody can read them, what a user can do about it: one sentence each,
// so that "no sessions" is not taken for all there is.
func Elsewhere(p transcript.Places) []string {
	if p.Home == "" {
		return nil
	}
	var out []string
	data := p.Env["XDG_DATA_HOME"]
	if data == "" {
		data = filepath.Join(p.Home, ".local", "share")
	}
	if amp := filepath.Join(data, "amp"); isFolder(amp) && count(filepath.Join(amp, "threads", "T-*.json")) == 0 {
		out = append(out, "amp keeps its threads on its server; run amp threads export and hermes-mcp ingest the file")
	}
	for _, one := range []struct{ name, files, instead string }{
		{"windsurf", filepath.Join(p.Home, ".codeium", "windsurf", "cascade", "*.pb"), "; its hook post_cascade_response_with_transcript writes transcripts that are read"},
		{"antigravity", filepath.Join(p.Home, ".gemini", "antigravity", "conversations", "*.pb"), ""},
	} {
		if n := count(one.files); n > 0 {
			out = append(out, fmt.Sprintf("%s keeps %d conversations encrypted in %s, they are not archived%s", one.name, n, filepath.Dir(one.files), one.instead))
		}
	}
	return out
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// count returns how many files match a pattern, 0 where it cannot be asked.
func count(pattern string) int {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return 0
	}
	return len(files)
}
