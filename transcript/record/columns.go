package record

import (
	"fmt"
	"path"
	"strings"
	"time"
)

// SessionColumns are the columns that SessionFields scans, in order.
const SessionColumns = `name, parent, relation, title, project, dir, branch, model, surface, user, version,
	started, ended, active, end_reason, path, gone, messages, preview, chat`

// SessionFields are the fields of s that SessionColumns are scanned into.
func SessionFields(s *Session) []any {
	return []any{&s.ID, &s.ParentID, &s.Relation, &s.Title, &s.Project, &s.Dir, &s.Branch, &s.Model, &s.Surface, &s.User, &s.Version,
		Stamp{&s.StartedAt}, Stamp{&s.EndedAt}, Stamp{&s.LastActive}, &s.EndReason, &s.SourcePath, &s.SourceGone, &s.Messages, &s.Preview, &s.Chat}
}

// A Stamp scans a column of Unix milliseconds.
type Stamp struct{ t *time.Time }

// ScanTime returns what scans a column of Unix milliseconds into t.
func ScanTime(t *time.Time) Stamp { return Stamp{t} }

// Scan implements sql.Scanner.
func (s Stamp) Scan(v any) error {
	ms, ok := v.(int64)
	if !ok {
		return fmt.Errorf("time column holds %T", v)
	}
	*s.t = FromMillis(ms)
	return nil
}

// CutID splits a session id at its first colon; without one, source is "".
func CutID(id string) (source, bare string, ok bool) {
	source, bare, ok = strings.Cut(id, ":")
	if !ok {
		return "", id, false
	}
	return source, bare, true
}

// TitleText is the title of a session and the name of its project.
func TitleText(s *Session) string {
	project := s.Project
	if project == "" {
		project = s.Dir
	}
	text := s.Title
	if project != "" {
		text += "\n" + path.Base(strings.ReplaceAll(project, `\`, "/"))
	}
	return strings.TrimSpace(text)
}
