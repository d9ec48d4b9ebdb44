package digest

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// shellPatch returns the patch that a command line applies, for agents that
// patch through a shell.
func shellPatch(line string) (string, bool) {
	i := strings.Index(line, "*** Begin Patch")
	if i < 0 || !strings.Contains(line[:i], "apply_patch") {
		return "", false
	}
	return line[i:], true
}

// fence is a block of code in a text, its language and its lines.
var fence = regexp.MustCompile("(?ms)^[ \t]*```(bash|sh|shell|zsh|console|shellsession|terminal)[ \t]*\r?\n(.*?)^[ \t]*```")

// fencedCommands returns the commands of a text's blocks of shell code. Where
// a block shows a prompt, only what follows the prompt is a command.
func fencedCommands(text string) []string {
	if !strings.Contains(text, "```") {
		return nil
	}
	var out []string
	for _, f := range fence.FindAllStringSubmatch(text, -1) {
		lines := strings.Split(strings.ReplaceAll(f[2], "\\\n", " "), "\n")
		prompted := false
		for _, l := range lines {
			prompted = prompted || strings.HasPrefix(strings.TrimSpace(l), "$ ")
		}
		for _, l := range lines {
			l = strings.TrimSpace(l)
			cmd, ok := strings.CutPrefix(l, "$ ")
			if cmd = strings.TrimSpace(cmd); cmd != "" && ok == prompted && !strings.HasPrefix(cmd, "#") {
				out = append(out, cmd)
			}
		}
	}
	return out
}

var exitForms = regexp.MustCompile(`(?i)(?:^|[\s<("])(?:exit(?:ed with)?(?: exit)?(?: code| status)|process exited with code|exit_code"?):?\s*(-?\d{1,5})\b`)

// toldExit returns the exit status that an output tells at its head or end.
func toldExit(output string) *int {
	const n = 200
	head, tail := output, ""
	if len(output) > 2*n {
		head, tail = output[:n], output[len(output)-n:]
	}
	for _, s := range []string{head, tail} {
		if m := exitForms.FindStringSubmatch(s); m != nil {
			if code, err := strconv.Atoi(m[1]); err == nil {
				return &code
			}
		}
	}
	return nil
}

// refusals begin the results of calls that were never carried out.
var refusals = []string{"The user doesn't want to proceed", "[Request interrupted", "Claude requested permissions", "<tool_use_error>",
	"User rejected", "The user rejected", "User denied", "Permission denied by user", "Tool use was rejected"}

// refused tells whether a call was not carried out, by its result.
func refused(r *transcript.Message) bool {
	if r == nil || !r.IsError {
		return false
	}
	for _, p := range refusals {
		if strings.HasPrefix(r.Content, p) {
			return true
		}
	}
	return false
}
