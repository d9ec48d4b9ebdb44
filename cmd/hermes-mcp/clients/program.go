package clients

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Program returns the path of the running program as a client may start it
// later. What go run made is gone by then: for that it is a path in the
// .local/bin of the user's home, where Settle puts it.
func Program(userHome string) (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if !passing(path) {
		return path, nil
	}
	if userHome == "" {
		return "", errors.New("no home folder to put the program into: build it with go build, then run it from there")
	}
	name := "hermes-mcp"
	if os.PathSeparator == '\\' {
		name += ".exe"
	}
	return filepath.Join(userHome, ".local", "bin", name), nil
}

// passing tells whether a program is one that go run made and that will be gone:
// in a temporary folder when it was built just now, else in Go's cache.
func passing(path string) bool {
	path = strings.ReplaceAll(path, `\`, "/")
	return strings.Contains(path, "/go-build") && strings.HasSuffix(path[:strings.LastIndexByte(path, '/')], "/exe") || cached.MatchString(path)
}

// cached is where Go's cache keeps programs, by the hash of what they are.
var cached = regexp.MustCompile(`/[0-9a-f]{2}/[0-9a-f]{64}-d/[^/]+$`)

// Settle copies the running program to path, whole or not at all, unless it
// runs from there. It tells whether it copied.
func Settle(path string) (bool, error) {
	running, err := os.Executable()
	if err != nil || path == running {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	program, err := os.ReadFile(running)
	if err != nil {
		return false, err
	}
	temp := fmt.Sprintf("%s.new-%d", path, os.Getpid())
	if err := os.WriteFile(temp, program, 0o755); err != nil {
		return false, err
	}
	if err := os.Rename(temp, path); err != nil {
		return false, errors.Join(err, os.Remove(temp))
	}
	return true, nil
}

// CommandLine joins words for the shell that a client hands its hooks to.
func CommandLine(words ...string) string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		out = append(out, quoted(w))
	}
	return strings.Join(out, " ")
}

func quoted(word string) string {
	plain := strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@:,=", r))
	}) < 0
	switch {
	case plain && word != "":
		return word
	case os.PathSeparator == '\\':
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
