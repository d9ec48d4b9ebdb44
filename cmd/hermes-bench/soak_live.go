package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A liveHalf is what happens beside the readers in the second half of a soak.
type liveHalf struct {
	soak
	bed    *bed
	corpus *corpus
	home   string
	end    chan struct{} // closed when the half is over

	out   []*os.File
	lines int // written

	mu     sync.Mutex
	newest writtenLine

	lags    []time.Duration
	appends []time.Duration
}

// A writtenLine can be searched for by its word.
type writtenLine struct {
	word string
	at   time.Time
}

const (
	writeEvery = 50 * time.Millisecond
	askEvery   = 40 * time.Millisecond
	// lost is how long a line is waited for.
	lost = 15 * time.Second
	// recordEvery is how often another process appends.
	recordEvery      = 200 * time.Millisecond
	recordedMessages = 2
)

func (l *liveHalf) folder() string { return filepath.Join(l.home, ".claude", "projects", "-work-live") }

func liveSession(i int) string { return fmt.Sprintf("%08x-aaaa-4000-8000-00000000000a", i) }

// open makes the files, so that they are known before the first line counts.
func (l *liveHalf) open() error {
	for i := range l.files {
		f, err := os.OpenFile(filepath.Join(l.folder(), liveSession(i)+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return errors.Join(err, l.shut())
		}
		l.out = append(l.out, f)
	}
	return nil
}

func (l *liveHalf) shut() error {
	var errs []error
	for _, f := range l.out {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// write appends to the files until the half is over.
func (l *liveHalf) write(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, l.shut()) }()
	lang := newLanguage(23)
	start := time.Now()
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.end:
			return nil
		case <-tick.C:
		}
		for due := int(time.Since(start).Seconds() * float64(l.rate)); l.lines < due; l.lines++ {
			if err := l.writeLine(lang); err != nil {
				return err
			}
		}
	}
}

func (l *liveHalf) writeLine(lang *language) error {
	i := l.lines % l.files
	letters := make([]byte, 14) // so far from every other word that no typo leads there
	for j := range letters {
		letters[j] = byte('a' + lang.rnd.IntN(26))
	}
	word := string(letters)
	at := time.Now()
	_, err := fmt.Fprintf(l.out[i], `{"type":"user","uuid":"%08x-%04x-4000-8000-0000000000aa","parentUuid":null,"sessionId":"%s","timestamp":"%s","cwd":"/work/live","version":"2.1.140","isSidechain":false,"userType":"external","message":{"role":"user","content":"%s %s"}}`+"\n",
		l.lines, i, liveSession(i), at.UTC().Format("2006-01-02T15:04:05.000Z"), word, lang.sentences(60))
	l.mu.Lock()
	l.newest = writtenLine{word, at}
	l.mu.Unlock()
	return err
}

// probe takes the newest line again and again and asks until it is found.
func (l *liveHalf) probe(ctx context.Context) error {
	last := ""
	for {
		select {
		case <-l.end:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(askEvery):
		}
		l.mu.Lock()
		line := l.newest
		l.mu.Unlock()
		if line.word == last {
			continue
		}
		last = line.word
		for {
			found, err := l.bed.search(ctx, line.word, 1)
			if err != nil {
				return err
			}
			if len(found) > 0 || time.Since(line.at) > lost {
				break
			}
			wait(ctx, askEvery)
		}
		l.lags = append(l.lags, time.Since(line.at))
	}
}

// record appends to the archive through a connection of its own, as another
// server's session_record would.
func (l *liveHalf) record(ctx context.Context) (err error) {
	db, err := transcript.Open(ctx, filepath.Join(l.bed.home, "mcp", "archive.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for n := 0; ; n++ {
		select {
		case <-l.end:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(recordEvery):
		}
		id := fmt.Sprintf("recorded:%d", n%5)
		msgs := make([]transcript.Message, recordedMessages)
		for i := range msgs {
			msgs[i] = transcript.Message{UID: fmt.Sprintf("%d.%d", n, i), Role: transcript.UserRole, Content: fmt.Sprintf("the outcome of turn %d, part %d", n, i), At: time.Now()}
		}
		start := time.Now()
		if err := db.Put(ctx, transcript.Session{ID: id}, msgs); err != nil {
			return err
		}
		l.appends = append(l.appends, time.Since(start))
	}
}

// await waits until the archive holds want messages, or no more come.
func (l *liveHalf) await(ctx context.Context, want int) (have int, err error) {
	for start := time.Now(); time.Since(start) < lost; wait(ctx, askEvery) {
		if have, err = archived(ctx, l.bed.db); err != nil || have >= want {
			return have, err
		}
	}
	return have, ctx.Err()
}
