package engine

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// A seal is a number in a copy's header (user_version) that stands for every byte
// of the file, so that one which changes on a disk later is noticed: SQLite itself
// keeps no sums. 0 is none. Whoever opens the copy to write breaks it.

// Seal seals the database at path, which nobody has open.
func Seal(ctx context.Context, path string) error {
	// In WAL mode it would be open to be written already.
	if err := execute(ctx, path, "PRAGMA journal_mode=DELETE"); err != nil {
		return err
	}
	n, err := sealOf(path)
	if err != nil {
		return fmt.Errorf("seal %s: %w", path, err)
	}
	return execute(ctx, path, fmt.Sprintf("PRAGMA user_version=%d", n))
}

func execute(ctx context.Context, path, pragma string) error {
	db, err := sql.Open("sqlite", dsn(path, "_pragma=synchronous(FULL)"))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, pragma)
	return errors.Join(explain(path, err), db.Close())
}

// sealed compares the file at path, which nobody has open, with its seal.
func (s Schema) sealed(path string) error {
	head, err := header(path)
	if err != nil || len(head) < headerSize || int32(binary.BigEndian.Uint32(head[applicationAt:])) != s.ApplicationID {
		return err // not ours to judge
	}
	was := int32(binary.BigEndian.Uint32(head[sealAt:]))
	if was == 0 {
		return nil
	}
	now, err := sealOf(path)
	if err == nil && now != was {
		err = errors.New("some of its bytes have changed since it was made or cleaned: take another backup")
	}
	return err
}

// sealOf sums a file up, but for what sealing changes in its header.
func sealOf(path string) (n int32, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head := make([]byte, wholeHeader)
	if _, err := io.ReadFull(f, head); err != nil {
		return 0, err
	}
	clear(head[24:28])          // how often it was changed
	clear(head[sealAt:][:4])    // the seal
	clear(head[92:wholeHeader]) // by whom last
	sum := sha256.New()
	sum.Write(head) // never fails
	if _, err := io.Copy(sum, f); err != nil {
		return 0, err
	}
	return max(1, int32(binary.LittleEndian.Uint32(sum.Sum(nil))&math.MaxInt32)), nil
}
