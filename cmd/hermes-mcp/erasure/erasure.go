// Package erasure takes sessions out of everything that a home keeps: the
// archive, every backup and copy of it below mcp, the snapshots that were given
// to the sessions, the entries of the memory that were kept for them alone, the
// jobs that wait for them, what is on its way to a provider. It says where they
// still stand outside, which is not ours to change: files of agents, Hermes
// Agent's own database, exports, other entries of the curated memory.
//
// # Promises
//
// A forgetting that was stopped is finished by the next [Erasure.Finish]: the
// rows go in one transaction, together with the receipt that says what is left
// to do. Nothing here writes the text of a session anywhere.
package erasure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/curator"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// An Erasure is for one home. Set the fields before first use.
type Erasure struct {
	DB     *transcript.DB
	Path   string // of the archive
	Folder string // mcp
	Queue  *curator.Queue
	// Stores lists the curated memories of the home: everybody's, of every
	// project.
	Stores func(ctx context.Context) ([]*memstore.Store, error)
}

// Backups is the folder of a home's own backups.
func Backups(folder string) string { return filepath.Join(folder, "backups") }

// Forget takes what is chosen out of the home. With bury it never comes back by
// itself; without, it makes room. The receipt is not Done when something is left
// that a later Finish can clean; Left says what.
func (e Erasure) Forget(ctx context.Context, what transcript.Chosen, bury bool) (transcript.Receipt, error) {
	r, err := e.DB.Forget(ctx, what, bury)
	if err != nil {
		return r, err
	}
	return e.clean(ctx, r)
}

// Finish cleans what earlier runs left, and returns their receipts.
func (e Erasure) Finish(ctx context.Context) ([]transcript.Receipt, error) {
	all, err := e.DB.Receipts(ctx)
	if err != nil {
		return nil, err
	}
	var out []transcript.Receipt
	for _, r := range all {
		if r.Done {
			continue
		}
		if r, err = e.clean(ctx, r); err != nil {
			return out, err
		}
		out = append(out, r)
	}
	return out, nil
}

// clean does everything that is left of one receipt.
func (e Erasure) clean(ctx context.Context, r transcript.Receipt) (transcript.Receipt, error) {
	r.Left = nil
	left := func(what string, err error) {
		if err != nil {
			r.Left = append(r.Left, fmt.Sprintf("%s: %v", what, err))
		}
	}
	left("snapshots", e.dropReports(inMemory(r.Sessions)))
	left("queue", e.dropJobs(r.Sessions))
	left("provider", e.dropDeliveries(ctx, r.Sessions))
	left("copies", e.dropCopies())
	if !r.Room {
		notes, err := e.dropNotes(ctx, inMemory(r.Sessions))
		r.Notes += notes
		left("memory", err)
		copies, err := e.copies()
		left("looking for backups", err)
		for _, path := range copies {
			left("backup "+path, e.cleanBackup(ctx, path, r.Sessions))
		}
	}
	left("archive", e.DB.Scrub(ctx))
	outside, err := e.outside(ctx, r)
	left("looking outside", err)
	r.Outside = outside
	r.Done = len(r.Left) == 0
	return r, e.DB.SaveReceipt(ctx, r)
}

// dropReports removes what was kept for the sessions themselves: the snapshots
// of memory they were given, and what hooks said of them.
func (e Erasure) dropReports(sessions []string) error {
	dir := filepath.Join(e.Folder, "sessions")
	files, err := os.ReadDir(dir)
	if err != nil {
		return ignoreMissing(err)
	}
	var failed error
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if !strings.HasSuffix(path, ".json") {
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			failed = errors.Join(failed, ignoreMissing(err))
			continue
		}
		// A snapshot names its session whole, a report in two parts.
		var of struct {
			Source  string `json:"source"`
			Session string `json:"session"`
		}
		if json.Unmarshal(raw, &of) != nil {
			continue // nobody can tell whose it is, so nobody is given it
		}
		if slices.Contains(sessions, of.Session) || slices.Contains(sessions, of.Source+":"+of.Session) {
			failed = errors.Join(failed, ignoreMissing(os.Remove(path)))
		}
	}
	return failed
}

// dropNotes removes the entries of the memory that were kept for the sessions
// alone, and what its journal quotes of them.
func (e Erasure) dropNotes(ctx context.Context, sessions []string) (entries int, err error) {
	stores, err := e.Stores(ctx)
	done := map[string]bool{} // the notes of a session are its user's, of whatever project
	for _, s := range stores {
		if done[s.User] {
			continue
		}
		done[s.User] = true
		n, failed := s.ForgetSessions(ctx, sessions)
		entries, err = entries+n, errors.Join(err, failed)
	}
	return entries, err
}

// dropDeliveries takes the sessions out of what waits for a provider, and of what
// was delivered to it and is not yet tidied away. The words of a provider's own
// program may be about anything, so they go.
func (e Erasure) dropDeliveries(ctx context.Context, sessions []string) error {
	of := func(id string, body []byte) bool {
		return slices.ContainsFunc(sessions, func(s string) bool {
			quoted, err := json.Marshal(s)
			// An edit of the memory is not the session's, though it was made there.
			return !strings.HasPrefix(id, string(provider.KindWrite)+":") && (err == nil && bytes.Contains(body, quoted) || strings.Contains(id, ":"+s+"/"))
		})
	}
	boxes, err := filepath.Glob(filepath.Join(e.Folder, "queue", "provider", "*"))
	failed := err
	for _, dir := range boxes {
		failed = errors.Join(failed, provider.ForgetWords(dir))
		for _, at := range []string{dir, filepath.Join(dir, "events")} {
			box, err := outbox.Open(at)
			if err == nil {
				err = box.Forget(ctx, of)
			}
			failed = errors.Join(failed, err)
		}
	}
	for _, name := range []string{"provider.log", "provider.log.old"} {
		failed = errors.Join(failed, ignoreMissing(os.Remove(filepath.Join(e.Folder, "logs", name))))
	}
	return failed
}

func (e Erasure) dropJobs(sessions []string) error {
	var failed error
	for _, s := range sessions {
		for _, kind := range []curator.Kind{curator.FlushJob, curator.ReviewJob, curator.SubagentJob, curator.ArchiveJob} {
			failed = errors.Join(failed, e.Queue.Cancel(kind, s))
		}
	}
	return failed
}

// dropCopies removes copies of the archive that served their purpose: the one
// from before a migration, and what a backup or restore left when it was killed.
func (e Erasure) dropCopies() error {
	var failed error
	for _, pattern := range []string{e.Path + ".schema-*", filepath.Join(e.Folder, transcript.Stages), filepath.Join(Backups(e.Folder), "*"+transcript.PartSuffix+"*")} {
		paths, err := filepath.Glob(pattern)
		failed = errors.Join(failed, err)
		for _, path := range paths {
			failed = errors.Join(failed, ignoreMissing(os.Remove(path)))
		}
	}
	return failed
}

// copies lists the archives below the folder other than the one in use, under
// whatever name, and what was put where backups are.
func (e Erasure) copies() ([]string, error) {
	found, err := transcript.Copies(e.Folder, e.Path)
	named, bad := filepath.Glob(filepath.Join(Backups(e.Folder), "*.db"))
	for _, path := range named { // a damaged one may not look like one
		if !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	return found, errors.Join(err, bad)
}

// cleanBackup forgets the sessions in a backup too. It stays a backup of all
// the rest.
func (e Erasure) cleanBackup(ctx context.Context, path string, sessions []string) (err error) {
	if _, err := os.Stat(path); err != nil {
		return ignoreMissing(err) // what was cleaned before took it along; opening would make a new one
	}
	db, err := transcript.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, db.Close())
		if err == nil {
			err = transcript.Seal(ctx, path)
		}
		if err == nil { // an older one was brought up to date first, and copied for that
			err = removeAll(path+".schema-*", path+"-wal", path+"-shm")
		}
	}()
	var what transcript.Chosen
	for _, id := range sessions {
		what.Sessions = append(what.Sessions, transcript.Session{ID: id})
	}
	r, err := db.Forget(ctx, what, true)
	if err != nil {
		return err
	}
	if err := db.Scrub(ctx); err != nil {
		return err
	}
	r.Done = true
	return db.SaveReceipt(ctx, r)
}

func removeAll(patterns ...string) error {
	var failed error
	for _, p := range patterns {
		paths, err := filepath.Glob(p)
		failed = errors.Join(failed, err)
		for _, path := range paths {
			failed = errors.Join(failed, ignoreMissing(os.Remove(path)))
		}
	}
	return failed
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
