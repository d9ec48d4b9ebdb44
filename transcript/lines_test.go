package transcript

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lines is a source of a format made for these tests: one JSON object a line,
// a message, or a session when it has no role, or a revision.
type lines struct{ markEvery int }

type line struct {
	Session, UID, Role, Text, Parent, Title, Relation string
	Global                                            bool
	Call, Args                                        string
	Compact                                           bool
	Rewind                                            string
	At                                                int64
}

func (lines) Name() string { return "lines" }

func (lines) Find(context.Context, Places) ([]File, error) { return nil, nil }

func (lines) FindIn(_ context.Context, path string) ([]File, error) {
	paths, err := filepath.Glob(filepath.Join(path, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var out []File
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		out = append(out, File{Source: "lines", Path: p, Size: info.Size(), Modified: info.ModTime()})
	}
	return out, nil
}

func (l lines) Read(_ context.Context, f File, from Cursor, final bool, sink Sink) (err error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Seek(from.Offset, io.SeekStart); err != nil {
		return err
	}
	r, n := bufio.NewReader(file), 0
	for {
		raw, err := r.ReadBytes('\n')
		if err == io.EOF && (len(raw) == 0 || !final) {
			return sink.Mark(from, Tally{})
		} else if err != nil && err != io.EOF {
			return err
		}
		n++
		from.Offset += int64(len(raw))
		var v line
		if err := json.Unmarshal(bytes.TrimSpace(raw), &v); err != nil {
			sink.Problem(n, err.Error())
			continue
		}
		if err := l.deliver(v, sink); err != nil {
			return err
		}
		if from.State, err = json.Marshal(v.Text); err != nil { // as sources keep titles and prompts
			return err
		}
		if l.markEvery > 0 && n%l.markEvery == 0 {
			if err := sink.Mark(from, Tally{Lines: n}); err != nil {
				return err
			}
		}
	}
}

func (lines) deliver(v line, sink Sink) error {
	id := "lines:" + v.Session
	switch {
	case v.Compact:
		return sink.(Reviser).Compact(id)
	case v.Rewind != "":
		return sink.(Reviser).Rewind(id, v.Rewind)
	case v.Role == "":
		s := Session{ID: id, Title: v.Title, Relation: Relation(v.Relation)}
		if v.Parent != "" {
			s.ParentID = "lines:" + v.Parent
		}
		return sink.Session(s)
	}
	m := Message{SessionID: id, UID: v.UID, Global: v.Global, Role: Role(v.Role), Content: v.Text}
	if v.At != 0 {
		m.At = time.Unix(v.At, 0)
	}
	if v.Call != "" {
		m.ToolCalls = []ToolCall{{ID: v.Call, Name: v.Call, Args: json.RawMessage(v.Args)}}
	}
	return sink.Message(m)
}

// A folder of files that tests write and ingest.
type folder struct {
	testing.TB
	dir string
	db  *DB
}

func newFolder(t testing.TB) folder { return folder{t, t.TempDir(), openTest(t)} }

func (f folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f folder) write(name string, objects ...line) {
	f.Helper()
	var b strings.Builder
	for _, o := range objects {
		raw, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		b.Write(append(raw, '\n'))
	}
	if err := os.WriteFile(f.path(name), []byte(b.String()), 0o600); err != nil {
		f.Fatal(err)
	}
}

func (f folder) appendRaw(name, text string) {
	f.Helper()
	file, err := os.OpenFile(f.path(name), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		f.Fatal(err)
	}
	if err := file.Close(); err != nil {
		f.Fatal(err)
	}
}

func (f folder) ingest(final bool) IngestReport {
	f.Helper()
	files, err := lines{}.FindIn(context.Background(), f.dir)
	if err != nil {
		f.Fatal(err)
	}
	rep, err := f.db.Ingest(context.Background(), lines{markEvery: 2}, files, final, nil)
	if err != nil {
		f.Fatal(err)
	}
	return rep
}

// texts returns what the messages of a session say, joined by " | ".
func (f folder) texts(id string) string {
	f.Helper()
	var out []string
	for _, m := range f.messages(id) {
		out = append(out, m.Content)
	}
	return strings.Join(out, " | ")
}

func (f folder) messages(id string) []Message {
	f.Helper()
	msgs, _, _, err := f.db.Messages(context.Background(), "lines:"+id, Window{})
	if err != nil {
		f.Fatal(err)
	}
	return msgs
}

func (f folder) want(id, texts string) {
	f.Helper()
	if got := f.texts(id); got != texts {
		f.Errorf("session %s holds\n %s\nwant\n %s", id, got, texts)
	}
}
