package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/erasure"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

func (a *app) backupCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "backup [FILE]", Short: "Copy the archive as it is now, and check the copy", Args: cobra.MaximumNArgs(1),
		Long: `Copies the archive as it is at this moment, also while servers read and write,
and reads the copy from end to end. Without FILE it goes into mcp/backups.
archive forget cleans every backup below mcp too; one elsewhere is yours to look
after.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error {
				path := ""
				if len(args) == 1 {
					path = args[0]
				}
				return a.backup(ctx, path, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func (a *app) backup(ctx context.Context, path string, asJSON bool) error {
	if !a.archive.exists() {
		return errors.New("there is no archive yet; hermes-mcp ingest makes one")
	}
	folder, path, err := a.backupPlace(path)
	if err != nil {
		return err
	}
	db, err := a.archive.open(ctx)
	if err != nil {
		return err
	}
	name := "archive-" + time.Now().Format("20060102-150405")
	for n := 1; ; n++ {
		if folder != "" {
			path = filepath.Join(folder, name+".db")
			if n > 1 { // another backup was made in the same second
				path = filepath.Join(folder, fmt.Sprintf("%s-%d.db", name, n))
			}
		}
		if err = db.Backup(ctx, path); !errors.Is(err, os.ErrExist) || folder == "" || n == mostBackups {
			break
		}
	}
	if errors.Is(err, os.ErrExist) {
		return thereAlready(path)
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(map[string]any{"path": path, "bytes": info.Size()})
	}
	fmt.Fprintf(a.out, "%s: %s, read from end to end and sound\n", path, size(info.Size()))
	return nil
}

// mostBackups bounds how many backups without a name are made in one second.
const mostBackups = 20

func thereAlready(path string) error {
	return fmt.Errorf("%s is there already, and is left as it is: name another file", path)
}

// backupPlace returns the folder that a backup goes into under a name of ours, or
// the file that the user named.
func (a *app) backupPlace(path string) (folder, file string, err error) {
	if path == "" {
		return erasure.Backups(a.home.MCP()), "", nil
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return path, "", nil
	case err == nil:
		return "", "", thereAlready(path)
	}
	return "", path, a.mayBackUpTo(path)
}

// mayBackUpTo refuses a place in a folder that is not there, and one of the files
// that SQLite keeps for the archive.
func (a *app) mayBackUpTo(path string) error {
	folder := filepath.Dir(path)
	if folder == erasure.Backups(a.home.MCP()) {
		return nil // made when it is needed
	}
	info, err := os.Stat(folder)
	if err != nil || !info.IsDir() {
		return fmt.Errorf("there is no folder %s: make it first, or name another", folder)
	}
	own, err := os.Stat(filepath.Dir(a.archive.path))
	if err == nil && os.SameFile(info, own) && strings.HasPrefix(filepath.Base(path), filepath.Base(a.archive.path)) {
		return fmt.Errorf("%s is a file of the archive itself: name another file", path)
	}
	return nil
}

func (a *app) restoreCommand() *cobra.Command {
	var revive, asJSON bool
	c := &cobra.Command{
		Use: "restore FILE", Short: "Put a backup into the archive's place", Args: cobra.ExactArgs(1),
		Long: `Checks a backup, keeps the present archive in mcp/backups, and puts the backup in
its place. What was forgotten since the backup was made is forgotten in it too,
unless --revive is said. Every server and other process that has the archive
open must be ended first.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error { return a.restore(ctx, args[0], revive, asJSON) })
		},
	}
	c.Flags().BoolVar(&revive, "revive", false, "also bring back sessions that were forgotten")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func (a *app) restore(ctx context.Context, path string, revive, asJSON bool) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := a.makeHome(); err != nil {
		return err
	}
	done, err := transcript.Restore(ctx, a.archive.path, path, erasure.Backups(a.home.MCP()), revive)
	switch {
	case errors.Is(err, transcript.ErrInUse):
		return fmt.Errorf("%w: end every client and hermes-mcp serve, then say it again; nothing was changed", err)
	case errors.Is(err, transcript.ErrForeign), errors.Is(err, transcript.ErrNewer), errors.Is(err, transcript.ErrDamaged), errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w; nothing was changed", err)
	case err != nil:
		return err
	}
	if asJSON {
		return a.printJSON(map[string]any{"sessions": done.Sessions, "messages": done.Messages, "left_out": done.Forgotten, "before": done.Aside})
	}
	fmt.Fprintf(a.out, "%s, %s from %s\n", plain.Count(done.Sessions, "session"), plain.Count(done.Messages, "message"), path)
	if done.Forgotten > 0 {
		fmt.Fprintf(a.out, "left out, as forgotten since: %s (--revive takes those too)\n", plain.Count(done.Forgotten, "session"))
	}
	if done.Damaged != nil {
		fmt.Fprintf(a.err, "hermes-mcp: the archive that was there could not be read, so what was forgotten in it is not known: %v\n", done.Damaged)
	}
	if done.Aside != "" {
		fmt.Fprintf(a.out, "what was there before: %s\n", done.Aside)
	}
	return nil
}
