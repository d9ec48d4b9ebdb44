package source

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// OpenCode reads the sessions of OpenCode: its database, the folders of small
// files before it, and exports.
type OpenCode struct{}

// Name implements [transcript.Source].
func (OpenCode) Name() string { return "opencode" }

// Find lists the databases and stored sessions under the data folders.
func (o OpenCode) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	var roots []string
	for _, key := range []string{"OPENCODE_DATA_DIR"} {
		if dir := p.Env[key]; dir != "" {
			roots = append(roots, dir)
		}
	}
	if dir := p.Env["XDG_DATA_HOME"]; dir != "" {
		roots = append(roots, filepath.Join(dir, "opencode"))
	}
	if p.Home != "" {
		roots = append(roots, filepath.Join(p.Home, ".local", "share", "opencode"))
	}
	if dir := p.Env["LOCALAPPDATA"]; dir != "" {
		roots = append(roots, filepath.Join(dir, "opencode"))
	}
	var found []transcript.File
	seen := map[string]bool{}
	for _, root := range roots {
		dbs, err := filepath.Glob(filepath.Join(globSafe(root), "opencode*.db"))
		if err != nil {
			return nil, fmt.Errorf("look for databases: %w", err)
		}
		for _, path := range dbs {
			if f, ok := databaseAt(o.Name(), path); ok && !seen[f.Path] {
				seen[f.Path] = true
				found = append(found, f)
			}
		}
		stored, err := storedSessions(ctx, o.Name(), root)
		if err != nil {
			return found, err
		}
		for _, f := range stored {
			if !seen[f.Path] {
				seen[f.Path] = true
				found = append(found, f)
			}
		}
	}
	return found, nil
}

// FindIn lists the databases, stored sessions and exports at or below path.
func (o OpenCode) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	files, err := findIn(ctx, o, path)
	if err != nil {
		return files, err
	}
	stored, err := storedSessions(ctx, o.Name(), path)
	return append(files, stored...), err
}

func (OpenCode) recognises(ctx context.Context, f *sniff) bool {
	if isDatabase(f.path) {
		return f.holds(ctx, "message", "id", "session_id", "data") && f.holds(ctx, "part", "id", "message_id", "data")
	}
	return f.is(".json") && f.keys()["info"] && f.keys()["messages"]
}

// The places of stored files below their root.
var (
	storedMessage = regexp.MustCompile(`^(.*)/message/([^/]+)/[^/]+\.json$`)
	storedSession = regexp.MustCompile(`^(.*)/session/(?:[^/]+/)?([^/]+)\.json$`)
)

// storedSessions lists the sessions that are kept as folders of small files.
// Each is told by its session's file, or by its first message's where that is
// missing; size and time are those of all its files.
func storedSessions(ctx context.Context, name, root string) ([]transcript.File, error) {
	files, err := walk(ctx, name, root, func(path string) bool { return filepath.Ext(path) == ".json" })
	if err != nil {
		return nil, err
	}
	return sessionsOf(name, files), nil
}

// sessionsOf puts together the stored sessions that the files are parts of.
func sessionsOf(name string, files []transcript.File) []transcript.File {
	type stored struct {
		info     *transcript.File
		first    *transcript.File
		size     int64
		modified int64
	}
	all := map[string]*stored{}
	for i := range files {
		f := &files[i]
		slash := filepath.ToSlash(f.Path)
		var key string
		message := storedMessage.FindStringSubmatch(slash)
		session := storedSession.FindStringSubmatch(slash)
		switch {
		case message != nil:
			key = message[1] + "\x00" + message[2]
		case session != nil && (&sniff{path: f.Path}).keys()["time"]:
			key = session[1] + "\x00" + sessionOfFile(f.Path)
		default:
			continue
		}
		s := all[key]
		if s == nil {
			s = &stored{}
			all[key] = s
		}
		if message == nil {
			s.info = f
		} else if s.first == nil {
			if !(&sniff{path: f.Path}).keys()["role"] {
				delete(all, key)
				continue
			}
			s.first = f
		}
		s.size += f.Size
		s.modified = max(s.modified, f.Modified.UnixNano())
		if message != nil {
			id := strings.TrimSuffix(filepath.Base(f.Path), ".json")
			if st, err := os.Stat(filepath.Join(filepath.FromSlash(message[1]), "part", id)); err == nil {
				s.modified = max(s.modified, st.ModTime().UnixNano())
			}
		}
	}
	var out []transcript.File
	for _, s := range all {
		f := s.info
		if f == nil {
			f = s.first
		}
		f.Source, f.Size, f.Modified = name, s.size, time.Unix(0, s.modified)
		out = append(out, *f)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out
}

// sessionOfFile returns the id in a session's own file.
func sessionOfFile(path string) string {
	var info openInfo
	if raw, err := os.ReadFile(path); err == nil && decode(raw, &info) == nil && info.ID != "" {
		return info.ID
	}
	return strings.TrimSuffix(filepath.Base(path), ".json")
}

// Read implements [transcript.Source].
func (o OpenCode) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	var err error
	switch {
	case isDatabase(f.Path):
		err = readOpenDB(ctx, f.Path, from, sink)
	case storedMessage.MatchString(filepath.ToSlash(f.Path)), storedSession.MatchString(filepath.ToSlash(f.Path)):
		err = readOpenStored(ctx, f, sink)
	default:
		err = readOpenExport(f.Path, sink)
	}
	if err != nil {
		return fmt.Errorf("read opencode sessions: %w", err)
	}
	return nil
}

type openState struct {
	Updated int64 `json:"updated"` // the latest change of a session that was read
}

// readOpenDB delivers the sessions that changed since from.
func readOpenDB(ctx context.Context, path string, from transcript.Cursor, sink transcript.Sink) error {
	db, err := openDatabase(ctx, path)
	if err != nil {
		return err
	}
	defer db.Close()
	var st openState
	if !state(from, &st) {
		st = openState{}
	}
	infos, ids, latest, err := openSessions(ctx, db, st.Updated)
	if err != nil {
		return err
	}
	count := 0
	for _, id := range ids {
		msgs, err := openMessages(ctx, db, id, sink)
		if err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
		n, err := deliverOpen(infos[id], msgs, path, sink)
		if err != nil {
			return err
		}
		count += n
	}
	if err := db.settled(); err != nil {
		return err
	}
	raw, err := marshal(openState{Updated: latest})
	if err != nil {
		return err
	}
	return sink.Mark(transcript.Cursor{Offset: 1, State: raw}, transcript.Tally{Lines: count, Objects: count})
}

// openSessions returns all sessions, the ids of those changed since a time in
// milliseconds, and the time of the latest change.
func openSessions(ctx context.Context, db *database, since int64) (infos map[string]openInfo, ids []string, latest int64, err error) {
	cols, err := db.columns(ctx, "session")
	if err != nil {
		return nil, nil, 0, err
	}
	infos, latest = map[string]openInfo{}, since
	if len(cols) > 0 {
		err = db.rowsOf(ctx, func(scan func(...any) error) error {
			var id string
			var parent, dir, title, version, created, updated sql.NullString
			if err := scan(&id, &parent, &dir, &title, &version, &created, &updated); err != nil {
				return err
			}
			info := openInfo{ID: id, ParentID: parent.String, Directory: dir.String, Title: title.String, Version: version.String}
			info.Time.Created, info.Time.Updated = moment{parseTime(created.String)}, moment{parseTime(updated.String)}
			infos[id] = info
			ms := info.Time.Updated.UnixMilli()
			if info.Time.Updated.IsZero() || ms >= since {
				ids = append(ids, id)
			}
			if !info.Time.Updated.IsZero() {
				latest = max(latest, ms)
			}
			return nil
		}, "SELECT "+pick(cols, "id", "parent_id", "directory", "title", "version", "time_created", "time_updated")+" FROM session ORDER BY id")
		if err != nil {
			return nil, nil, 0, err
		}
	}
	err = db.rowsOf(ctx, func(scan func(...any) error) error { // sessions without a row of their own
		var id string
		if err := scan(&id); err != nil {
			return err
		}
		if _, known := infos[id]; !known {
			infos[id] = openInfo{ID: id}
			ids = append(ids, id)
		}
		return nil
	}, "SELECT DISTINCT session_id FROM message")
	return infos, ids, latest, err
}

// openMessages returns a session's messages with their parts, in order.
func openMessages(ctx context.Context, db *database, session string, sink transcript.Sink) ([]openMessage, error) {
	var msgs []openMessage
	at := map[string]int{}
	err := db.rowsOf(ctx, func(scan func(...any) error) error {
		var id, data string
		var created sql.NullString
		if err := scan(&id, &created, &data); err != nil {
			return err
		}
		m := openMessage{}
		if decode([]byte(data), &m.Info) != nil {
			sink.Problem(0, "message "+id+" is not valid JSON")
			return nil
		}
		m.Info.ID = id
		if m.Info.Time.Created.IsZero() {
			m.Info.Time.Created = moment{parseTime(created.String)}
		}
		at[id] = len(msgs)
		msgs = append(msgs, m)
		return nil
	}, "SELECT id, time_created, CAST(data AS TEXT) FROM message WHERE session_id = ? ORDER BY time_created, id", session)
	if err != nil {
		return nil, err
	}
	err = db.rowsOf(ctx, func(scan func(...any) error) error {
		var id, message, data string
		if err := scan(&id, &message, &data); err != nil {
			return err
		}
		var p openPart
		i, ok := at[message]
		if !ok {
			return nil
		}
		if decode([]byte(data), &p) != nil {
			sink.Problem(0, "part "+id+" is not valid JSON")
			return nil
		}
		p.ID = id
		msgs[i].Parts = append(msgs[i].Parts, p)
		return nil
	}, "SELECT id, message_id, CAST(data AS TEXT) FROM part WHERE message_id IN (SELECT id FROM message WHERE session_id = ?) ORDER BY id", session)
	return msgs, err
}
