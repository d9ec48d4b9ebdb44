package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// generateSessions makes sessions in Claude Code's format below dir: one of
// about so many bytes ("2GB", "100MB"), or many small ones ("files=50000"). It
// holds one line in memory at a time.
func generateSessions(ctx context.Context, dir, what string) error {
	c := &corpus{language: newLanguage(11)}
	if count, ok := strings.CutPrefix(what, "files="); ok {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return fmt.Errorf("--generate %s: a number of files is needed, as in files=50000", what)
		}
		return c.many(ctx, dir, n)
	}
	size, err := bytesOf(what)
	if err != nil {
		return err
	}
	return c.large(ctx, filepath.Join(dir, "large.jsonl"), size)
}

// bytesOf reads a size such as 2GB.
func bytesOf(what string) (int64, error) {
	for unit, times := range map[string]int64{"GB": 1e9, "MB": 1e6} {
		if number, ok := strings.CutSuffix(strings.ToUpper(what), unit); ok {
			if n, err := strconv.ParseInt(number, 10, 32); err == nil && n > 0 {
				return n * times, nil
			}
		}
	}
	return 0, fmt.Errorf("--generate %s: 2GB, 100MB or files=50000 is meant", what)
}

// shortSession is how many messages a session of many has.
const shortSession = 3

// many makes n files of shortSession messages each.
func (c *corpus) many(ctx context.Context, dir string, n int) error {
	start := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, fmt.Sprintf("project-%03d", i%500))
		if i < 500 {
			if err := os.MkdirAll(path, 0o700); err != nil {
				return err
			}
		}
		id := fmt.Sprintf("%08x-0000-4000-8000-%012x", i, i)
		if err := c.session(filepath.Join(path, id+".jsonl"), id, start.Add(time.Duration(i)*time.Minute), shortSession); err != nil {
			return err
		}
	}
	return nil
}

// large makes one session of at least size bytes.
func (c *corpus) large(ctx context.Context, path string, size int64) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<16)
	l := newSessionLines(c, "00000000-0000-4000-8000-000000000001", "/home/dev/large", time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC))
	for written := int64(0); written < size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := l.next()
		if err != nil {
			return err
		}
		n, err := w.Write(line)
		if err != nil {
			return err
		}
		written += int64(n)
	}
	return w.Flush()
}

// decodeAll is the bare baseline: it reads every file below dir, and decodes
// each line that is JSON, or the whole file where it is one value.
func decodeAll(ctx context.Context, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, 1<<18)
		if filepath.Ext(path) == ".json" {
			var v any
			if err := json.NewDecoder(r).Decode(&v); err != nil {
				return nil // some of the files are broken, as agents leave them
			}
			return nil
		}
		for {
			line, err := r.ReadBytes('\n')
			var v any
			_ = json.Unmarshal(line, &v) // what is no JSON is only read
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
}
