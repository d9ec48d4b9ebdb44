package erasure

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// outside lists where something of the forgotten sessions still stands that is
// not ours to change.
func (e Erasure) outside(ctx context.Context, r transcript.Receipt) ([]transcript.Standing, error) {
	out := []transcript.Standing{}
	for _, path := range r.Files {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		kind := "source"
		switch filepath.Ext(path) {
		case ".db", ".sqlite", ".sqlite3", ".vscdb":
			kind = "database"
		}
		out = append(out, transcript.Standing{Kind: kind, Where: path})
		// Claude Code keeps long results in files of their own, beside the session.
		results := filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "tool-results")
		if info, err := os.Stat(results); err == nil && info.IsDir() {
			out = append(out, transcript.Standing{Kind: kind, Where: results})
		}
	}
	exports, failed := e.DB.Exports(ctx)
	for _, path := range exports {
		named, err := names(path, r.Sessions)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
		if named {
			out = append(out, transcript.Standing{Kind: "export", Where: path})
		}
	}
	sessions := inMemory(r.Sessions)
	stores, err := e.Stores(ctx)
	failed = errors.Join(failed, err)
	seen := map[string]bool{}
	for _, s := range stores {
		for _, t := range []memstore.Target{memstore.Memory, memstore.User, memstore.Project} {
			if t == memstore.Project && s.Project == "" {
				continue
			}
			st, err := s.State(ctx, t)
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			if seen[st.Path] {
				continue
			}
			seen[st.Path] = true
			if n := restingOn(st.Entries, sessions); n > 0 {
				out = append(out, transcript.Standing{Kind: "memory", Where: fmt.Sprintf("%s: %s made in these sessions or resting on them", st.Path, plain.Count(n, "entry"))})
			}
		}
		waiting, err := s.Proposals(ctx)
		failed = errors.Join(failed, err)
		for _, p := range waiting {
			if where := "memory pending: " + p.ID; slices.Contains(sessions, p.Caller.Session) && !seen[where] {
				seen[where] = true
				out = append(out, transcript.Standing{Kind: "memory", Where: where})
			}
		}
	}
	return out, failed
}

// inMemory returns the names under which the memory knows the sessions: a chat
// that was recorded is there without its source.
func inMemory(sessions []string) []string {
	all := slices.Clone(sessions)
	for _, s := range sessions {
		if chat, ok := strings.CutPrefix(s, transcript.Recorded+":"); ok {
			all = append(all, chat)
		}
	}
	return all
}

// restingOn counts the entries that came out of one of the sessions.
func restingOn(entries []memstore.Entry, sessions []string) int {
	n := 0
	for _, e := range entries {
		evident := slices.ContainsFunc(e.Evidence, func(of string) bool {
			i := strings.LastIndexByte(of, '/')
			return slices.Contains(sessions, of) || i > 0 && slices.Contains(sessions, of[:i])
		})
		if evident || slices.Contains(sessions, e.Session) {
			n++
		}
	}
	return n
}

// names tells whether a file holds the id of one of the sessions.
func names(path string, sessions []string) (found bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for r := bufio.NewReaderSize(f, 1<<20); ; {
		line, err := r.ReadSlice('\n')
		for _, id := range sessions {
			if bytes.Contains(line, []byte(id)) {
				return true, nil
			}
		}
		switch {
		case err == io.EOF:
			return false, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
}
