package wire

import (
	"fmt"
	"io"
	"sync"
)

// An outbox writes messages in the order they were put, from one goroutine,
// so that a client which does not read yet never stops the reader. What it
// holds is bounded by whoever puts: see room.
type outbox struct {
	mu     sync.Mutex
	wake   *sync.Cond
	queue  []outgoing
	closed bool
	err    error // the first one; nothing is written after it
	ended  chan struct{}
}

type outgoing struct {
	text []byte
	sent func()
}

// newOutbox starts the writer; broken is called once when w fails.
func newOutbox(w io.Writer, broken func()) *outbox {
	o := &outbox{ended: make(chan struct{})}
	o.wake = sync.NewCond(&o.mu)
	go o.run(w, broken)
	return o
}

// put queues text. sent, when not nil, is called after it has been written or
// given up.
func (o *outbox) put(text []byte, sent func()) {
	o.mu.Lock()
	o.queue = append(o.queue, outgoing{text, sent})
	o.mu.Unlock()
	o.wake.Signal()
}

// close waits until everything is written and returns the first error.
func (o *outbox) close() error {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.wake.Signal()
	<-o.ended
	return o.err
}

func (o *outbox) run(w io.Writer, broken func()) {
	defer close(o.ended)
	for {
		o.mu.Lock()
		for len(o.queue) == 0 && !o.closed {
			o.wake.Wait()
		}
		batch := o.queue
		o.queue = nil
		o.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, m := range batch {
			if o.err == nil {
				if _, err := w.Write(m.text); err != nil {
					o.err = fmt.Errorf("write an answer: %w", err)
					broken()
				}
			}
			if m.sent != nil {
				m.sent()
			}
		}
	}
}

// A room bounds what is under way, in pieces and in bytes. One piece alone
// always fits.
type room struct {
	mu                sync.Mutex
	freed             *sync.Cond
	pieces, maxPieces int
	bytes, maxBytes   int
}

func newRoom(pieces, bytes int) *room {
	r := &room{maxPieces: pieces, maxBytes: bytes}
	r.freed = sync.NewCond(&r.mu)
	return r
}

// take waits until n bytes have room.
func (r *room) take(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.pieces > 0 && (r.pieces >= r.maxPieces || r.bytes+n > r.maxBytes) {
		r.freed.Wait()
	}
	r.pieces++
	r.bytes += n
}

// give returns what take took.
func (r *room) give(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pieces--
	r.bytes -= n
	r.freed.Signal()
}
