package source

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Amp reads the threads that Amp kept on disk until it moved them to its
// server, and what "amp threads export" writes.
type Amp struct{}

// Name implements [transcript.Source].
func (Amp) Name() string { return "amp" }

// Find lists the threads under the data folder.
func (a Amp) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	root := p.Env["XDG_DATA_HOME"]
	if root == "" {
		if p.Home == "" {
			return nil, nil
		}
		root = filepath.Join(p.Home, ".local", "share")
	}
	return a.FindIn(ctx, filepath.Join(root, "amp", "threads"))
}

// FindIn lists the threads at or below path.
func (a Amp) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, a, path)
}

func (Amp) recognises(ctx context.Context, f *sniff) bool {
	if !f.is(".json") {
		return false
	}
	keys := f.keys()
	return keys["id"] && keys["created"] && keys["messages"] && bytes.Contains(f.bytes(), []byte(`"messageId"`))
}

// ampThread is one thread.
type ampThread struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Created  moment `json:"created"`
	Messages []struct {
		Role    string  `json:"role"`
		ID      word    `json:"messageId"`
		Content rawJSON `json:"content"`
		Meta    struct {
			Sent moment `json:"sentAt"`
		} `json:"meta"`
		Usage struct {
			Model string `json:"model"`
			At    moment `json:"timestamp"`
		} `json:"usage"`
		State struct {
			Stop string `json:"stopReason"`
		} `json:"state"`
	} `json:"messages"`
	Env struct {
		Initial struct {
			Trees []struct {
				URI string `json:"uri"`
			} `json:"trees"`
		} `json:"initial"`
	} `json:"env"`
}

// Read implements [transcript.Source].
func (a Amp) Read(_ context.Context, f transcript.File, _ transcript.Cursor, _ bool, sink transcript.Sink) error {
	raw, err := readDocument(f.Path)
	if err != nil {
		return fmt.Errorf("read amp thread: %w", err)
	}
	var d ampThread
	if err := decode(raw, &d); err != nil {
		sink.Problem(0, "not valid JSON: "+err.Error())
		return nil
	}
	s := transcript.Session{ID: a.Name() + ":" + first(d.ID, stem(f.Path)), Title: d.Title, StartedAt: d.Created.Time, Surface: "cli", SourcePath: f.Path}
	for _, tree := range d.Env.Initial.Trees {
		s.Dir = first(s.Dir, filePath(tree.URI))
	}
	for _, m := range d.Messages {
		s.Model = first(m.Usage.Model, s.Model)
	}
	t := newThread(sink, s)
	if err := t.announce(); err != nil {
		return err
	}
	names := map[string]string{}
	for _, in := range d.Messages {
		m := transcript.Message{UID: string(in.ID), Role: roleOf(in.Role), At: first2(in.Meta.Sent, in.Usage.At).Time, FinishReason: in.State.Stop}
		if m.UID == "" {
			m.UID = "-"
		}
		if m.Role == transcript.Assistant {
			m.Model = in.Usage.Model
		}
		for _, out := range append(blocks(in.Content, m), ampResults(in.Content, m)...) {
			if out.Role == "" {
				continue
			}
			for _, c := range out.ToolCalls {
				names[c.ID] = c.Name
			}
			if out.Role == transcript.Tool {
				out.ToolName = names[out.ToolCallID]
			}
			if out.UID == "-" {
				out.UID = ""
			}
			if err := t.send(out); err != nil {
				return err
			}
		}
	}
	return done(sink, int64(len(raw)), t.count)
}

// ampResults returns the results of tools among a message's blocks.
func ampResults(raw rawJSON, m transcript.Message) []transcript.Message {
	var all []struct {
		Type string `json:"type"`
		ID   string `json:"toolUseID"`
		Run  *struct {
			Status string  `json:"status"`
			Result rawJSON `json:"result"`
			Error  rawJSON `json:"error"`
		} `json:"run"`
	}
	if len(raw) == 0 || decode(raw, &all) != nil {
		return nil
	}
	var out []transcript.Message
	for i, b := range all {
		if b.Type != "tool_result" || b.Run == nil {
			continue
		}
		r := transcript.Message{UID: m.UID + "/" + strconv.Itoa(i), Role: transcript.Tool, ToolCallID: b.ID, At: m.At, IsError: b.Run.Status == "error"}
		var o struct {
			Content string `json:"content"`
			Output  string `json:"output"`
			Exit    *int   `json:"exitCode"`
		}
		if len(b.Run.Result) > 0 && b.Run.Result[0] == '{' && decode(b.Run.Result, &o) == nil {
			r.Content, r.ExitCode = first(o.Output, o.Content, string(b.Run.Result)), o.Exit
		} else {
			r.Content = first(str(b.Run.Result), string(b.Run.Result))
		}
		if r.Content == "" || r.Content == "null" {
			r.Content = first(str(b.Run.Error), string(b.Run.Error))
		}
		out = append(out, r)
	}
	return out
}
