package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients/configfile"
)

// ErrNoProgram is returned when a client has no program of its own on PATH that
// adds servers.
var ErrNoProgram = errors.New("the client's own program is not on PATH")

// AddByProgram lets the client's own program write s into file, the user's, for
// it knows that best. It is for a new entry: of one that is there, only a text
// edit keeps what its owner added. The file is looked at afterwards, whatever
// the program says. It returns what was run. Errors: ErrNoProgram.
func (c Client) AddByProgram(ctx context.Context, file string, s Server) (ran string, err error) {
	if c.Add == nil {
		return "", ErrNoProgram
	}
	program, err := exec.LookPath(c.Program)
	if err != nil {
		return "", ErrNoProgram
	}
	s = c.Starting(s)
	for _, args := range c.Add(s) {
		ran = c.Program + " " + strings.Join(args[:min(2, len(args)-1)], " ")
		if err := runProgram(ctx, program, args); err != nil {
			return ran, fmt.Errorf("%s: %w", ran, err)
		}
	}
	written, there, err := c.ServerIn(file)
	switch {
	case err != nil:
		return ran, fmt.Errorf("%s: %w", ran, err)
	case !there || !written.Equal(s):
		return ran, fmt.Errorf("%s: it is not in %s", ran, file)
	}
	return ran, nil
}

func runProgram(ctx context.Context, program string, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second // its children may hold the pipe
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %.300s", err, strings.TrimSpace(string(said)))
	}
	return nil
}

func claudeAdd(s Server) [][]string {
	return [][]string{{"mcp", "add-json", "--scope", "user", Key, oneLine(stdio(s))}}
}

func codexAdd(s Server) [][]string {
	return [][]string{append([]string{"mcp", "add", Key, "--", s.Command}, s.Args...)}
}

func codeAdd(s Server) [][]string {
	return [][]string{{"--add-mcp", oneLine(append(configfile.Entry{{Key: "name", Value: Key}}, stdio(s)...))}}
}

// oneLine is the JSON of a value that always has one.
func oneLine(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("clients: " + err.Error()) // only entries come here
	}
	return string(text)
}
