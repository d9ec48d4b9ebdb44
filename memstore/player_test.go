package memstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
)

// TestMain lets the test binary be another process that writes.
func TestMain(m *testing.M) {
	if role := os.Getenv("MEMSTORE_TEST_ROLE"); role != "" {
		n, err := strconv.Atoi(os.Getenv("MEMSTORE_TEST_COUNT"))
		if err == nil {
			err = play(role, os.Getenv("MEMSTORE_TEST_HOME"), os.Getenv("MEMSTORE_TEST_NAME"), n)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// player is a process of this binary in a role.
func player(role, home, name string, count int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "MEMSTORE_TEST_ROLE="+role, "MEMSTORE_TEST_HOME="+home, "MEMSTORE_TEST_NAME="+name, "MEMSTORE_TEST_COUNT="+strconv.Itoa(count))
	cmd.Stderr = os.Stderr
	return cmd
}

// play acts. What it prints has been acknowledged: "<edit id> <entry>".
func play(role, home, name string, count int) error {
	if role == "hermes" {
		return hermes(filepath.Join(home, "memories", "MEMORY.md"), name, count)
	}
	s, err := Open(home)
	if err != nil {
		return err
	}
	s.MemoryLimit = 1 << 20
	var mine []string
	for i := range count {
		entry := fmt.Sprintf("%s fact %d", name, i)
		op := add(entry)
		if role == "mixed" && len(mine) > 3 {
			switch k := rand.IntN(len(mine)); rand.IntN(4) {
			case 0:
				op = remove(mine[k])
				mine = slices.Delete(mine, k, k+1)
			case 1:
				op = replace(mine[k], entry)
				mine[k] = entry
			default:
				mine = append(mine, entry)
			}
		} else {
			mine = append(mine, entry)
		}
		if role == "churn" && i > 5 {
			op = replace(fmt.Sprintf("%s fact %d", name, i-5), entry)
		}
		res, err := s.Apply(context.Background(), Caller{Origin: name}, Memory, op)
		// On a machine that is busy with other things twenty of us may wait longer
		// for the lock than a call does; a client tries again, too.
		for tries := 0; errors.Is(err, ErrBusy) && tries < 30; tries++ {
			res, err = s.Apply(context.Background(), Caller{Origin: name}, Memory, op)
		}
		if err != nil {
			return err
		}
		fmt.Println(res.EditID, op.Action, op.Content)
	}
	return nil
}

// hermes edits as Hermes Agent does: under MEMORY.md.lock, and never through
// our journal.
func hermes(path, name string, count int) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	for i := range count {
		l := flock.New(path + ".lock")
		if err := l.Lock(); err != nil {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		entries := slices.DeleteFunc(strings.Split(string(raw), document.Delimiter), func(e string) bool { return e == "" })
		entries = append(entries, fmt.Sprintf("%s fact %d", name, i))
		temp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
		if err := os.WriteFile(temp, []byte(strings.Join(entries, document.Delimiter)), 0o600); err != nil {
			return err
		}
		if err := os.Rename(temp, path); err != nil {
			return err
		}
		if err := l.Unlock(); err != nil {
			return err
		}
	}
	return nil
}
