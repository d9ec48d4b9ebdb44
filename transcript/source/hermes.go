package source

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Hermes reads Hermes Agent's own state.db, of every schema from 6 to 30: only
// columns that are there are asked for. The database is never written.
type Hermes struct{}

// Name implements [transcript.Source].
func (Hermes) Name() string { return "hermes" }

// Find lists the database of the home and of each profile, and the session
// files of older versions beside them.
func (h Hermes) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	if p.HermesHome == "" {
		return nil, nil
	}
	homes := []string{p.HermesHome}
	profiles, err := filepath.Glob(filepath.Join(globSafe(p.HermesHome), "profiles", "*"))
	if err != nil {
		return nil, fmt.Errorf("look for profiles: %w", err)
	}
	var found []transcript.File
	for _, home := range append(homes, profiles...) {
		if f, ok := databaseAt(h.Name(), filepath.Join(home, "state.db")); ok {
			found = append(found, f)
		}
		files, err := walk(ctx, h.Name(), filepath.Join(home, "sessions"), func(path string) bool {
			return isHermesFile(&sniff{path: path})
		})
		if err != nil {
			return found, err
		}
		found = append(found, files...)
	}
	return found, nil
}

// globSafe escapes what has a meaning in a pattern.
func globSafe(path string) string {
	return strings.NewReplacer("*", `[*]`, "?", `[?]`, "[", `[[]`).Replace(path)
}

// FindIn lists the Hermes databases and session files at or below path.
func (h Hermes) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, h, path)
}

func (Hermes) recognises(ctx context.Context, f *sniff) bool {
	if isDatabase(f.path) {
		return f.holds(ctx, "messages", "session_id", "role", "content", "tool_calls", "timestamp")
	}
	return isHermesFile(f)
}

// Read implements [transcript.Source].
func (h Hermes) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	var err error
	switch {
	case isDatabase(f.Path):
		err = readHermesDB(ctx, f.Path, from, sink)
	case filepath.Ext(f.Path) == ".json":
		err = readHermesJSON(ctx, f.Path, sink)
	default:
		err = readHermesLines(ctx, f, final, sink)
	}
	if err != nil {
		return fmt.Errorf("read hermes sessions: %w", err)
	}
	return nil
}

// hermesState is how far a database was read.
type hermesState struct {
	LastID   int64 `json:"last_id"`
	Flags    int64 `json:"flags"`    // how many rows are rewound or compacted
	Sessions int64 `json:"sessions"` // a hash of what is told about sessions
	Messages int   `json:"messages"`
}

// readHermesDB delivers the sessions that changed and the messages that are
// new since from; all of them when flags of old rows changed.
func readHermesDB(ctx context.Context, path string, from transcript.Cursor, sink transcript.Sink) error {
	db, err := openDatabase(ctx, path)
	if err != nil {
		return err
	}
	defer db.Close()
	d := hermesDB{ctx: ctx, db: db, path: path, sink: sink}
	if !state(from, &d.st) {
		d.st = hermesState{}
	}
	if d.cols, err = db.columns(ctx, "messages"); err != nil {
		return err
	}
	if len(d.cols) == 0 {
		return fmt.Errorf("no messages table in %s", path)
	}
	if d.sessionCols, err = db.columns(ctx, "sessions"); err != nil {
		return err
	}
	return d.run()
}

type hermesDB struct {
	ctx               context.Context
	db                *database
	path              string
	sink              transcript.Sink
	cols, sessionCols map[string]bool
	st                hermesState
}

func (d *hermesDB) run() error {
	var flags int64
	for _, cond := range []struct{ col, sql string }{{"active", "active = 0"}, {"compacted", "compacted <> 0"}} {
		if !d.cols[cond.col] {
			continue
		}
		var n int64
		if err := d.db.QueryRowContext(d.ctx, "SELECT count(*) FROM messages WHERE "+cond.sql).Scan(&n); err != nil {
			return err
		}
		flags = flags<<24 + n
	}
	since := d.st.LastID
	if flags != d.st.Flags {
		since = 0
	}
	known, err := d.sessions()
	if err != nil {
		return err
	}
	var changed []string
	err = d.db.rowsOf(d.ctx, func(scan func(...any) error) error {
		var id string
		if err := scan(&id); err != nil {
			return err
		}
		changed = append(changed, id)
		return nil
	}, "SELECT session_id FROM messages WHERE id > ? GROUP BY session_id ORDER BY min(id)", since)
	if err != nil {
		return err
	}
	for _, id := range changed {
		if err := d.messages(id, since, known[id]); err != nil {
			return err
		}
	}
	d.st.Flags = flags
	return d.mark()
}

// mark is only called where every session read so far was read to its end.
func (d *hermesDB) mark() error {
	if err := d.db.settled(); err != nil {
		return err
	}
	raw, err := marshal(d.st)
	if err != nil {
		return err
	}
	return d.sink.Mark(transcript.Cursor{Offset: max(d.st.LastID, 1), State: raw},
		transcript.Tally{Lines: d.st.Messages, Objects: d.st.Messages})
}

// hermesSession is a row of sessions, as far as it matters for its messages.
type hermesSession struct {
	compressed bool // ended by compression: all of it left the context
	model      string
	dir        string
	branch     string
}

var hermesSessionColumns = []string{"id", "source", "user_id", "model", "model_config", "parent_session_id", "started_at",
	"ended_at", "end_reason", "cwd", "git_branch", "git_repo_root", "title", "last_activity_at", "session_key"}

// sessions announces the sessions when anything about them changed.
func (d *hermesDB) sessions() (map[string]hermesSession, error) {
	known := map[string]hermesSession{}
	if len(d.sessionCols) == 0 {
		return known, nil
	}
	var all []hermesRow
	var sum uint64
	chats := hermesChats(filepath.Join(filepath.Dir(d.path), "sessions"))
	err := d.db.rowsOf(d.ctx, func(scan func(...any) error) error {
		var r hermesRow
		if err := scan(r.fields()...); err != nil {
			return err
		}
		if r.key.String == "" { // an older schema
			r.key.String = chats[r.id]
		}
		all = append(all, r)
		sum += hashOf(r.id, r.source.String, r.title.String, r.endReason.String, r.parent.String, r.model.String, r.cwd.String, r.config.String, r.key.String,
			fmt.Sprint(r.ended.Float64))
		return nil
	}, "SELECT "+pick(d.sessionCols, hermesSessionColumns...)+" FROM sessions ORDER BY started_at, id")
	if err != nil {
		return nil, err
	}
	ended := map[string]string{}
	for _, r := range all {
		ended[r.id] = r.endReason.String
		known[r.id] = hermesSession{compressed: r.endReason.String == "compression", model: r.model.String, dir: r.cwd.String, branch: r.branch.String}
	}
	if int64(sum) == d.st.Sessions {
		return known, nil
	}
	for _, r := range all {
		if err := d.sink.Session(r.session(d.path, ended)); err != nil {
			return nil, err
		}
		if rev, ok := d.sink.(transcript.Reviser); ok && known[r.id].compressed && d.st.LastID > 0 {
			if err := rev.Compact(hermesID(r.id)); err != nil {
				return nil, err
			}
		}
	}
	d.st.Sessions = int64(sum)
	return known, nil
}

// hermesRow is a row of the sessions table.
type hermesRow struct {
	id                                                                      string
	source, user, model, config, parent, endReason, cwd, branch, repository sql.NullString
	title, key                                                              sql.NullString
	started, ended, active                                                  sql.NullFloat64
}

func (r *hermesRow) fields() []any {
	return []any{&r.id, &r.source, &r.user, &r.model, &r.config, &r.parent, &r.started, &r.ended, &r.endReason,
		&r.cwd, &r.branch, &r.repository, &r.title, &r.active, &r.key}
}

func hermesID(own string) string { return Hermes{}.Name() + ":" + own }

// session turns a row into a session; ended holds every session's end reason.
func (r hermesRow) session(path string, ended map[string]string) transcript.Session {
	s := transcript.Session{
		ID: hermesID(r.id), Title: clean(r.title.String), Project: r.repository.String, Dir: r.cwd.String, Branch: r.branch.String,
		Model: r.model.String, Surface: r.source.String, User: r.user.String, Chat: r.key.String, StartedAt: epoch(r.started.Float64),
		EndedAt: epoch(r.ended.Float64), EndReason: r.endReason.String, SourcePath: path,
	}
	s.LastActive = epoch(max(r.active.Float64, r.ended.Float64, r.started.Float64))
	if s.Project == "" {
		s.Project = gitRoot(s.Dir)
	}
	parent, relation := r.lineage(ended)
	if parent != "" && parent != r.id {
		s.ParentID, s.Relation = hermesID(parent), relation
	}
	return s
}

// resetReasons are the ends of a session after which the next one begins
// without its transcript.
var resetReasons = map[string]bool{"session_reset": true, "new_session": true, "session_switch": true, "idle": true,
	"daily": true, "suspended": true, "resume_pending_expired": true, "idle_timeout": true}

// lineage says out of which session this one came, and how: its own marker
// first, else by how the parent ended.
func (r hermesRow) lineage(ended map[string]string) (string, transcript.Relation) {
	var marks struct {
		Branched string `json:"_branched_from"`
		Delegate string `json:"_delegate_from"`
		Reset    string `json:"_reset_from"`
	}
	if r.config.String != "" && decode([]byte(r.config.String), &marks) != nil {
		marks.Branched, marks.Delegate, marks.Reset = "", "", ""
	}
	for _, m := range []struct {
		from string
		rel  transcript.Relation
	}{{marks.Branched, transcript.Branch}, {marks.Delegate, transcript.Delegate}, {marks.Reset, transcript.Reset}} {
		switch {
		case m.from == "":
		case r.parent.String != "":
			return r.parent.String, m.rel
		case m.from != "__orphaned__":
			return m.from, m.rel
		}
	}
	parent := r.parent.String
	switch end := ended[parent]; {
	case parent == "":
		return "", ""
	case end == "compression":
		return parent, transcript.Compaction
	case end == "branched":
		return parent, transcript.Branch
	case resetReasons[end]:
		return parent, transcript.Reset
	}
	return parent, transcript.Delegate
}
