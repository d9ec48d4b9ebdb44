package caller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// A Report is what the hook of an agent last said about one session.
type Report struct {
	Source     string    `json:"source"`
	Session    string    `json:"session"` // the agent's own id
	Event      string    `json:"event"`
	Dir        string    `json:"dir,omitempty"`
	Transcript string    `json:"transcript,omitempty"`
	Agent      Process   `json:"agent"`
	At         time.Time `json:"at"`
	Ended      bool      `json:"ended,omitempty"`
	// Given says when a snapshot last went into the session's context, and
	// Answered when each kind of start was last answered.
	Given    time.Time            `json:"given,omitzero"`
	Answered map[string]time.Time `json:"answered,omitempty"`
	// Prompts counts the user's, Counted how many of them there were when a
	// review was last due. Remind says that the next prompt carries a reminder.
	Prompts int  `json:"prompts,omitempty"`
	Counted int  `json:"counted,omitempty"`
	Remind  bool `json:"remind,omitempty"`
	// Recalled names the prompt that the provider was last asked about, and when.
	Recalled   string    `json:"recalled,omitempty"`
	RecalledAt time.Time `json:"recalled_at,omitzero"`
}

// ID is the session's id as it is known everywhere else.
func (r Report) ID() string { return r.Source + ":" + r.Session }

const reportSuffix = ".report.json"

// safeID keeps ids out of other folders: agents' ids are UUIDs or the like.
var safeID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

// ErrUnsafeID is returned for a session id that cannot be a file name.
var ErrUnsafeID = errors.New("session id is not a plain word")

// Change reads the report of source and session, lets change edit it and keeps
// it, excluding other processes meanwhile. A report that is not there or not
// readable is handed over empty but for its names. Errors: ErrUnsafeID.
func Change(ctx context.Context, folder, source, session string, change func(*Report)) error {
	if !safeID.MatchString(session) || !safeID.MatchString(source) {
		return fmt.Errorf("report %q: %w", source+":"+session, ErrUnsafeID)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	lock := flock.New(folder + ".lock") // beside it: old files in the folder are removed
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return fmt.Errorf("report: lock: %w", err)
	}
	defer lock.Unlock() //nolint:errcheck // the process ends soon, and its locks with it

	path := filepath.Join(folder, source+"-"+session+reportSuffix)
	r, err := readReport(path)
	if err != nil {
		r = Report{}
	}
	r.Source, r.Session = source, session
	change(&r)
	return writeReport(path, r)
}

func readReport(path string) (Report, error) {
	var r Report
	raw, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return Report{}, fmt.Errorf("report %s: %w", path, err)
	}
	return r, nil
}

// writeReport replaces the file whole. It is a cache of what the next hook
// says again, so it is not forced to the disk.
func writeReport(path string, r Report) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".report-*")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = temp.Write(append(raw, '\n'))
	if err := errors.Join(err, temp.Close()); err != nil {
		return errors.Join(fmt.Errorf("report: %w", err), os.Remove(temp.Name()))
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return errors.Join(fmt.Errorf("report: %w", err), os.Remove(temp.Name()))
	}
	return nil
}

func reportFiles(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // no hook ever ran here
	}
	var paths []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), reportSuffix) {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	return paths
}

// liveReports returns the reports of sessions that have not ended. One that
// cannot be read counts as none: the hook writes it anew.
func liveReports(folder string) []Report {
	var out []Report
	for _, path := range reportFiles(folder) {
		if r, err := readReport(path); err == nil && !r.Ended {
			out = append(out, r)
		}
	}
	return out
}

// Before returns the id of the session that agent reported last, other than id:
// "" when there was none, or when it is not known which process the agent is.
func Before(folder string, agent Process, id string) string {
	if agent == (Process{}) {
		return ""
	}
	var newest Report
	for _, path := range reportFiles(folder) {
		r, err := readReport(path)
		if err == nil && r.Agent == agent && r.ID() != id && r.At.After(newest.At) {
			newest = r
		}
	}
	if newest.Session == "" {
		return ""
	}
	return newest.ID()
}
