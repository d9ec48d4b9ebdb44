package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// ErrNoCLI is returned when Claude Code's own program is not on PATH.
var ErrNoCLI = errors.New("claude is not on PATH")

// AddByCLI lets Claude Code's own program write s into file, its file of that
// scope, for it knows the file best. It tells whether that changed anything;
// the file is looked at afterwards, whatever the program says. Errors: ErrNoCLI.
func AddByCLI(ctx context.Context, scope, file string, s Server) (changed bool, err error) {
	claude, err := exec.LookPath("claude")
	if err != nil {
		return false, ErrNoCLI
	}
	old, there, err := ServerIn(file)
	if err == nil && there && old.Command == s.Command && slices.Equal(old.Args, s.Args) {
		return false, nil
	}
	if there {
		if err := runClaude(ctx, claude, "mcp", "remove", "--scope", scope, Key); err != nil {
			return false, err
		}
	}
	entry, err := json.Marshal(stdio(s))
	if err != nil {
		return false, err
	}
	if err := runClaude(ctx, claude, "mcp", "add-json", "--scope", scope, Key, string(entry)); err != nil {
		return false, err
	}
	if _, there, err = ServerIn(file); err != nil || !there {
		return false, errors.Join(err, fmt.Errorf("it is not in %s", file))
	}
	return true, nil
}

func runClaude(ctx context.Context, claude string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, claude, args...)
	cmd.Stdin = nil
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("claude %s: %w: %.300s", strings.Join(args[:2], " "), err, said)
	}
	return nil
}
