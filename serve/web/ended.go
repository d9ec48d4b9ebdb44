package web

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ended remembers the sessions that were ended: the newest, in memory and, to
// outlive the process, in a file with one id a line.
type ended struct {
	path string
	ids  map[string]bool
	list []string
}

const maxEnded = 10_000

// openEnded reads the file at path, if there is one, and cuts it when it has
// grown far beyond what is kept.
func openEnded(path string) (*ended, error) {
	e := &ended{path: path, ids: map[string]bool{}}
	if path == "" {
		return e, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ended sessions: %w", err)
	}
	defer f.Close()
	n := 0
	lines := bufio.NewScanner(io.LimitReader(f, 4<<20))
	for lines.Scan() {
		e.keep(lines.Text())
		n++
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("ended sessions %s: %w", path, err)
	}
	if n > 2*maxEnded {
		if err := os.WriteFile(path, []byte(strings.Join(e.list, "\n")+"\n"), 0o600); err != nil {
			return nil, fmt.Errorf("ended sessions: %w", err)
		}
	}
	return e, nil
}

func (e *ended) has(id string) bool { return e.ids[id] }

func (e *ended) keep(id string) {
	if e.ids[id] {
		return
	}
	e.ids[id] = true
	if e.list = append(e.list, id); len(e.list) > maxEnded {
		delete(e.ids, e.list[0])
		e.list = e.list[1:]
	}
}

// add remembers id. The file only grows; it is cut when it is opened next.
func (e *ended) add(id string) error {
	if e.ids[id] {
		return nil
	}
	e.keep(id)
	if e.path == "" {
		return nil
	}
	f, err := os.OpenFile(e.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("remember an ended session: %w", err)
	}
	if _, err := f.WriteString(id + "\n"); err != nil {
		return errors.Join(fmt.Errorf("remember an ended session: %w", err), f.Close())
	}
	return f.Close()
}
