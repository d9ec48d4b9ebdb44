package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrPinned is returned when what was deleted still stands in the log, since
// another process is reading what was there before.
var ErrPinned = errors.New("another process reads the archive and keeps its log from being emptied")

// unpinTime is how long Scrub waits for readers to end.
const unpinTime = 5 * time.Second

// Scrub writes the file anew from what is in it and empties the log, so that
// no byte of what was deleted is left in either. It needs as much free space as
// the archive takes, and keeps other writers waiting. Errors: ErrPinned.
func (db *DB) Scrub(ctx context.Context) error {
	if err := db.rewrite(ctx); err != nil {
		return fmt.Errorf("write the archive anew: %w", db.Explain(err))
	}
	deadline := time.Now().Add(unpinTime)
	for {
		empty, err := db.emptyLog(ctx)
		if err != nil || empty {
			return db.Explain(err)
		}
		if time.Now().After(deadline) {
			return ErrPinned
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (db *DB) rewrite(ctx context.Context) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.write == nil {
		return db.unwritten()
	}
	// An archive may be larger than the memory.
	if _, err := db.write.ExecContext(ctx, "PRAGMA temp_store=file"); err != nil {
		return err
	}
	err := retry(ctx, func() error {
		_, err := db.write.ExecContext(context.WithoutCancel(ctx), "VACUUM")
		return err
	})
	_, undo := db.write.ExecContext(context.WithoutCancel(ctx), "PRAGMA temp_store=memory")
	return errors.Join(err, undo)
}

// emptyLog copies the log back and truncates it, and tells whether that worked.
func (db *DB) emptyLog(ctx context.Context) (bool, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.write == nil {
		return false, db.unwritten()
	}
	var busy, log, done int
	err := db.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &done)
	if isBusy(err) {
		return false, nil
	}
	return busy == 0, err
}
