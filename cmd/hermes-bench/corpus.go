package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// sessionLength is how many messages a generated session has.
const sessionLength = 40

// A corpus is a folder of generated transcripts in Claude Code's format, and
// samples of what was said in them, to ask about.
type corpus struct {
	*language
	prose   []string // sampled English texts
	foreign []string // sampled Chinese, Japanese and Korean texts
}

// samples bounds how many texts of each kind are remembered.
const samples = 2_000

// write makes the messages from one number to another in sessions of
// sessionLength under dir. One text in twelve is Chinese, Japanese or Korean
// (8 %).
func (c *corpus) write(dir string, from, to int) error {
	start := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	for n := from; n < to; n += sessionLength {
		path := filepath.Join(dir, fmt.Sprintf("project-%02d", n/sessionLength%40))
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		id := fmt.Sprintf("%08x-0000-4000-8000-%012x", n/sessionLength, n)
		at := start.Add(time.Duration(n) * 20 * time.Second)
		if err := c.session(filepath.Join(path, id+".jsonl"), id, at, min(sessionLength, to-n)); err != nil {
			return err
		}
	}
	return nil
}

// session writes one transcript: 20 % prompts, 48 % answers, 32 % tool output.
func (c *corpus) session(path, id string, at time.Time, messages int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	lines := newSessionLines(c, id, "/home/dev/"+filepath.Base(filepath.Dir(path)), at)
	for range messages {
		line, err := lines.next()
		if err == nil {
			_, err = w.Write(line)
		}
		if err != nil {
			_ = f.Close() // the write error is the one to tell
			return err
		}
	}
	if err := w.Flush(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// A sessionLines makes the lines of one session.
type sessionLines struct {
	c       *corpus
	id, dir string
	at      time.Time
	parent  any
	n       int
	buf     bytes.Buffer
	enc     *json.Encoder
}

func newSessionLines(c *corpus, id, dir string, at time.Time) *sessionLines {
	l := &sessionLines{c: c, id: id, dir: dir, at: at}
	l.enc = json.NewEncoder(&l.buf)
	l.enc.SetEscapeHTML(false)
	return l
}

// next returns the next line with its end; valid until the next call.
func (l *sessionLines) next() ([]byte, error) {
	uuid := fmt.Sprintf("%s-%04x-4000-8%03x-%s", l.id[:8], l.n&0xffff, l.n>>16, l.id[24:])
	line := map[string]any{
		"uuid": uuid, "parentUuid": l.parent, "sessionId": l.id, "isSidechain": false, "userType": "external",
		"cwd": l.dir, "gitBranch": "main", "version": "2.1.140",
		"timestamp": l.at.Add(time.Duration(l.n) * 20 * time.Second).Format("2006-01-02T15:04:05.000Z"),
	}
	l.c.say(line, uuid, l.n)
	l.parent = uuid
	l.n++
	l.buf.Reset()
	err := l.enc.Encode(line)
	return l.buf.Bytes(), err
}

// say fills one line with what is said in it.
func (c *corpus) say(line map[string]any, uuid string, i int) {
	call := fmt.Sprintf("toolu_%s", uuid)
	switch i % 25 {
	case 0, 5, 10, 15, 20: // 20 %
		line["type"] = "user"
		line["message"] = map[string]any{"role": "user", "content": c.text(20 + c.rnd.IntN(60))}
	case 2, 4, 7, 9, 12, 17, 19, 22: // 32 %
		line["type"] = "user"
		line["message"] = map[string]any{"role": "user", "content": []any{map[string]any{
			"type": "tool_result", "tool_use_id": call, "content": c.output(8 + c.rnd.IntN(24))}}}
	default:
		line["type"] = "assistant"
		line["requestId"] = "req_" + uuid
		line["message"] = map[string]any{"id": "msg_" + uuid, "role": "assistant", "model": "made-1", "stop_reason": "end_turn",
			"content": []any{map[string]any{"type": "text", "text": c.text(60 + c.rnd.IntN(100))}}}
	}
}

// text draws a text of about n words and may remember it as a sample.
func (c *corpus) text(n int) string {
	if c.rnd.IntN(12) == 0 {
		t := c.chinese(n)
		if len(c.foreign) < samples {
			c.foreign = append(c.foreign, t)
		}
		return t
	}
	t := c.sentences(n)
	if len(c.prose) < samples {
		c.prose = append(c.prose, t)
	} else if i := c.rnd.IntN(samples * 8); i < samples {
		c.prose[i] = t
	}
	return t
}
