package health

import (
	"os/exec"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
)

// checkHook looks at Claude Code's hook: that it is there when the server is,
// and that it runs the same program, which an update may have moved.
func (s Subject) checkHook(add addCheck) {
	known, there, err := clients.All[0].ServerIn(clients.ClaudeCodeServers(s.Clients))
	there = err == nil && there && known.Command != ""
	if s.HookFile == "" {
		if there {
			add("hook", Warn, "claude-code has no hook of ours, so instructions carry the memory, cut to 2,000 bytes: hermes-mcp install claude-code")
		}
		return
	}
	program := clients.HookProgram(clients.Hooked(s.HookFile))
	_, err = exec.LookPath(program)
	mend := MendHook
	if s.HookFile != clients.ClaudeCodeSettings(s.Clients) {
		mend = "" // a project's file is shared with others
	}
	switch {
	case err != nil && strings.ContainsAny(program, `/\`):
		add("hook", Bad, "%s runs %s, which is not there: hermes-mcp install claude-code", s.HookFile, program).Mend = mend
	case there && known.Command != program && strings.ContainsAny(program, `/\`):
		add("hook", Warn, "%s runs %s, and the server is %s: hermes-mcp install claude-code", s.HookFile, program, known.Command).Mend = mend
	default:
		add("hook", Fine, "%s", s.HookFile)
	}
}
