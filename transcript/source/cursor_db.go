package source

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Of a database of Cursor's only these keys are read: it holds logins too.
const (
	cursorChatKey     = "workbench.panel.aichat.view.aichat.chatdata"
	cursorComposerKey = "composer.composerData"
)

func holdsCursorItems(ctx context.Context, path string) bool {
	db, err := openDatabase(ctx, path)
	if err != nil {
		return false
	}
	defer db.Close()
	var n int
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM ItemTable WHERE key IN (?, ?)", cursorChatKey, cursorComposerKey).Scan(&n)
	return err == nil && n > 0
}

type cursorState struct {
	Row      int64 `json:"row"` // the highest row read: a row that changes gets a higher one
	Items    int64 `json:"items"`
	Messages int   `json:"messages"`
}

type cursorDB struct {
	ctx  context.Context
	db   *database
	path string
	sink transcript.Sink
	st   cursorState
}

func readCursorDB(ctx context.Context, path string, from transcript.Cursor, sink transcript.Sink) error {
	db, err := openDatabase(ctx, path)
	if err != nil {
		return err
	}
	defer db.Close()
	d := cursorDB{ctx: ctx, db: db, path: path, sink: sink}
	if !state(from, &d.st) {
		d.st = cursorState{}
	}
	if cols, err := db.columns(ctx, "cursorDiskKV"); err != nil {
		return err
	} else if len(cols) > 0 {
		if err := d.composers(); err != nil {
			return err
		}
	}
	if cols, err := db.columns(ctx, "ItemTable"); err != nil {
		return err
	} else if len(cols) > 0 {
		if err := d.items(); err != nil {
			return err
		}
	}
	if err := db.settled(); err != nil {
		return err
	}
	raw, err := marshal(d.st)
	if err != nil {
		return err
	}
	return sink.Mark(transcript.Cursor{Offset: max(d.st.Row, d.st.Items, 1), State: raw}, transcript.Tally{Lines: d.st.Messages, Objects: d.st.Messages})
}

// composers delivers the conversations of which a row is new.
func (d *cursorDB) composers() error {
	var top sql.NullInt64
	if err := d.db.QueryRowContext(d.ctx, "SELECT max(rowid) FROM cursorDiskKV").Scan(&top); err != nil {
		return err
	}
	if top.Int64 < d.st.Row {
		d.st.Row = 0 // made anew
	}
	changed := map[string]bool{}
	err := d.db.rowsOf(d.ctx, func(scan func(...any) error) error {
		var key string
		if err := scan(&key); err != nil {
			return err
		}
		_, id, _ := strings.Cut(key, ":")
		id, _, _ = strings.Cut(id, ":")
		changed[id] = true
		return nil
	}, `SELECT key FROM cursorDiskKV WHERE rowid > ? AND (key >= 'bubbleId:' AND key < 'bubbleId;' OR key >= 'composerData:' AND key < 'composerData;')`, d.st.Row)
	if err != nil {
		return err
	}
	ids := make([]string, 0, len(changed))
	for id := range changed {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for _, id := range ids {
		if err := d.composer(id); err != nil {
			return err
		}
	}
	d.st.Row = top.Int64
	return nil
}

// composer delivers one conversation, in the order of its headers. A bubble
// that no header names was taken back.
func (d *cursorDB) composer(id string) error {
	var raw sql.NullString
	err := d.db.QueryRowContext(d.ctx, "SELECT CAST(value AS TEXT) FROM cursorDiskKV WHERE key = ?", "composerData:"+id).Scan(&raw)
	if err != nil && err != sql.ErrNoRows {
		return err
	}
	var c cursorComposer
	if raw.String != "" && decode([]byte(raw.String), &c) != nil {
		d.sink.Problem(0, "composerData:"+id+" is not valid JSON")
	}
	if c.ID == "" {
		c.ID = id
	}
	bubbles := map[string]cursorBubble{}
	var keys []string
	err = d.db.rowsOf(d.ctx, func(scan func(...any) error) error {
		var key string
		var value sql.NullString
		if err := scan(&key, &value); err != nil {
			return err
		}
		if value.String == "" {
			return nil
		}
		var b cursorBubble
		if decode([]byte(value.String), &b) != nil {
			d.sink.Problem(0, key+" is not valid JSON")
			return nil
		}
		at := key[strings.LastIndexByte(key, ':')+1:]
		if b.ID == "" {
			b.ID = at
		}
		if _, ok := bubbles[b.ID]; !ok {
			keys = append(keys, b.ID)
		}
		bubbles[b.ID] = b
		bubbles[at] = b
		return nil
	}, `SELECT key, CAST(value AS TEXT) FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY rowid`, "bubbleId:"+id+":", "bubbleId:"+id+";")
	if err != nil {
		return fmt.Errorf("conversation %s: %w", id, err)
	}
	if len(c.Headers) > 0 && len(bubbles) == 0 && len(c.Map) == 0 && len(c.Inline) == 0 {
		d.sink.Problem(0, "conversation "+id+" holds headers only, its content is not on this machine")
	}
	return d.deliver(c, bubbles, keys)
}

func (d *cursorDB) deliver(c cursorComposer, bubbles map[string]cursorBubble, keys []string) error {
	dir := first(c.Workspace.URI.Path, workspaceFolder(filepath.Dir(d.path)))
	for _, k := range keys {
		dir = first(dir, bubbles[k].Dir)
	}
	s := transcript.Session{ID: cursorID(c.ID), Title: clean(c.Name), Dir: dir, Project: gitRoot(dir), Model: c.Model.Name, Surface: "ide",
		StartedAt: c.Created.Time, LastActive: c.Updated.Time, SourcePath: d.path}
	if c.Parent != "" && c.Parent != c.ID {
		s.ParentID, s.Relation = cursorID(c.Parent), transcript.Subagent
	}
	if err := d.sink.Session(s); err != nil {
		return err
	}
	done := map[string]bool{}
	send := func(b cursorBubble, off bool) error {
		if done[b.ID] {
			return nil
		}
		done[b.ID] = true
		for _, m := range b.messages() {
			m.SessionID, m.OffPath, m.Dir = s.ID, off, dir
			m.UID = first(m.UID, b.ID)
			if m.Role == transcript.Assistant {
				m.Model = first(b.Model.Name, c.Model.Name)
			}
			m.Content, m.Reasoning = clean(m.Content), clean(m.Reasoning)
			m.Global, m.Twin = isGlobalID(m.UID), true
			unfence(&m)
			d.st.Messages++
			if err := d.sink.Message(m); err != nil {
				return err
			}
		}
		return nil
	}
	n := numberer{}
	for _, b := range c.Inline {
		if b.ID == "" {
			b.ID = n.id(fmt.Sprint(b.Type), b.text())
		}
		if err := send(b, false); err != nil {
			return err
		}
	}
	for _, h := range c.Headers {
		b, ok := bubbles[h.ID]
		if !ok {
			if b, ok = c.Map[h.ID]; !ok {
				continue
			}
			b.ID = first(b.ID, h.ID)
		}
		if err := send(b, false); err != nil {
			return err
		}
	}
	for _, k := range keys {
		if err := send(bubbles[k], len(c.Headers) > 0); err != nil {
			return err
		}
	}
	return nil
}

// items delivers what older versions kept under single keys.
func (d *cursorDB) items() error {
	var top int64
	err := d.db.rowsOf(d.ctx, func(scan func(...any) error) error {
		var row int64
		var key string
		var value sql.NullString
		if err := scan(&row, &key, &value); err != nil {
			return err
		}
		top = max(top, row)
		if row <= d.st.Items || value.String == "" {
			return nil
		}
		if key == cursorChatKey {
			return d.chats([]byte(value.String))
		}
		var all struct {
			Composers []cursorComposer `json:"allComposers"`
		}
		if decode([]byte(value.String), &all) != nil {
			d.sink.Problem(0, key+" is not valid JSON")
			return nil
		}
		for _, c := range all.Composers {
			if len(c.Inline) == 0 {
				continue // its content stands in the global database
			}
			if err := d.deliver(c, nil, nil); err != nil {
				return err
			}
		}
		return nil
	}, "SELECT rowid, key, CAST(value AS TEXT) FROM ItemTable WHERE key IN (?, ?)", cursorChatKey, cursorComposerKey)
	d.st.Items = top
	return err
}

// chats delivers the tabs of the chat panel of 2023 and 2024.
func (d *cursorDB) chats(raw []byte) error {
	var all struct {
		Tabs []struct {
			ID      string `json:"tabId"`
			Title   string `json:"chatTitle"`
			Last    moment `json:"lastSendTime"`
			Bubbles []struct {
				ID      string `json:"id"`
				Type    string `json:"type"`
				Text    string `json:"text"`
				RawText string `json:"rawText"`
				Model   string `json:"modelType"`
			} `json:"bubbles"`
		} `json:"tabs"`
	}
	if decode(raw, &all) != nil {
		d.sink.Problem(0, cursorChatKey+" is not valid JSON")
		return nil
	}
	for _, tab := range all.Tabs {
		c := cursorComposer{ID: tab.ID, Name: tab.Title, Updated: tab.Last}
		for _, b := range tab.Bubbles {
			kind := 2
			if b.Type == "user" {
				kind = 1
			}
			one := cursorBubble{ID: b.ID, Type: kind, Text: first(b.Text, b.RawText)}
			one.Model.Name = b.Model
			c.Inline = append(c.Inline, one)
		}
		if c.ID == "" || len(c.Inline) == 0 {
			continue
		}
		if err := d.deliver(c, nil, nil); err != nil {
			return err
		}
	}
	return nil
}
