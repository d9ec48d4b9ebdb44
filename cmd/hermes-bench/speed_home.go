package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// sliceLength is how many messages are generated at a time, so that a large
// archive takes no room beside itself.
const sliceLength = 100_000

// A sampleFile keeps what a generated home can be asked about, and how far it
// has come.
type sampleFile struct {
	Messages int // in the archive
	Prose    []string
	Foreign  []string
}

// samplesName stands in a generated home.
const samplesName = "bench-samples.json"

// speedBed makes a bed with so many generated messages in a folder below keep,
// or goes on where an earlier run stopped; in a temporary folder when keep is "".
func speedBed(ctx context.Context, keep string, messages int, stderr io.Writer) (*bed, *corpus, error) {
	home := ""
	if keep != "" {
		home = filepath.Join(keep, fmt.Sprintf("messages-%d", messages))
		if err := os.MkdirAll(home, 0o700); err != nil {
			return nil, nil, err
		}
	}
	b, err := newBed(ctx, home)
	if err != nil {
		return nil, nil, err
	}
	c, err := b.fill(ctx, messages, stderr)
	if err != nil {
		return nil, nil, closing(b, err)
	}
	return b, c, nil
}

// fill generates and ingests messages, a slice at a time, but those that an
// earlier run did.
func (b *bed) fill(ctx context.Context, messages int, stderr io.Writer) (*corpus, error) {
	c := &corpus{language: newLanguage(7)}
	done, err := b.samples(c)
	if err != nil {
		return nil, err
	}
	if done < messages {
		fmt.Fprintf(stderr, "hermes-bench: generating and ingesting %d messages\n", messages-done)
	}
	for done < messages {
		to := min(messages, done+sliceLength)
		if err := b.slice(ctx, c, done, to); err != nil {
			return nil, err
		}
		done = to
		raw, err := json.Marshal(sampleFile{done, c.prose, c.foreign})
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(b.home, samplesName), raw, 0o600); err != nil {
			return nil, err
		}
		fmt.Fprintf(stderr, "hermes-bench: %d of %d\n", done, messages)
	}
	return c, nil
}

// samples reads what an earlier run left into c, and how many messages it made.
func (b *bed) samples(c *corpus) (int, error) {
	path := filepath.Join(b.home, samplesName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var s sampleFile
	if err := json.Unmarshal(raw, &s); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	c.prose, c.foreign = s.Prose, s.Foreign
	return s.Messages, nil
}

// slice generates and ingests the messages from one number to another. A slice
// that was broken off is made again, and changes nothing that is there.
func (b *bed) slice(ctx context.Context, c *corpus, from, to int) error {
	dir := filepath.Join(b.home, "generated")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	c.seed(uint64(from))
	if err := c.write(dir, from, to); err != nil {
		return err
	}
	if _, err := b.ingestAll(ctx, dir, nil); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
