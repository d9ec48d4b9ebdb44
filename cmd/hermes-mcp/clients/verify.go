package clients

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Verify starts s as a client will and asks it for the memory. It returns the
// version that answered; what the server says beside goes to stderr.
func Verify(ctx context.Context, s Server, stderr io.Writer) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	// Asking must not start the archiving of everything.
	cmd := exec.CommandContext(ctx, s.Command, append(slices.Clone(s.Args), "--exclude-sources", "*")...)
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"hermes-mcp install","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory","arguments":{"action":"read"}}}
`)
	cmd.Stderr = stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	answers := json.NewDecoder(io.LimitReader(pipe, 4<<20))
	var hello struct {
		Result struct {
			ServerInfo struct{ Name, Version string } `json:"serverInfo"`
		}
	}
	var read struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	err = errors.Join(answers.Decode(&hello), answers.Decode(&read))
	if _, rest := io.Copy(io.Discard, pipe); rest != nil {
		err = errors.Join(err, rest)
	}
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return "", err
	}
	if hello.Result.ServerInfo.Name != "hermes-mcp" || len(read.Result.Content) == 0 {
		return "", errors.New("what answers there is not hermes-mcp")
	}
	if read.Result.IsError {
		return "", errors.New(read.Result.Content[0].Text)
	}
	return hello.Result.ServerInfo.Version, nil
}
