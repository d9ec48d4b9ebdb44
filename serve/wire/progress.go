package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

const (
	firstBeat = time.Second     // before that a call is not worth a word
	beatEvery = 5 * time.Second // clients give up a call after a minute of silence
)

// working is what a client hears of a call that has said nothing itself.
const working = "working"

// A Progress tells a client that one of its requests is being worked on: how
// many seconds it has been, which only grows, and what is done now. The engine
// has notices of its own, which overtake the answer or are lost; these leave in
// order with it. A nil Progress says nothing. It is safe for concurrent use.
type Progress struct {
	token json.RawMessage // as the client wrote it
	send  func(notice []byte)
	gone  <-chan struct{} // closed when nobody waits any more
	begun time.Time

	mu    sync.Mutex
	stage string
	told  int64 // milliseconds, in the last notice
	over  bool
}

type progressKey struct{}

// WithProgress returns ctx with the Progress of a request, if the request has a
// token for it; send sends one notification, and what is sent after it arrives
// after it.
func WithProgress(ctx context.Context, request []byte, send func(notice []byte)) context.Context {
	var r struct {
		Params struct {
			Meta struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(request, &r) != nil || usableID(r.Params.Meta.Token) == nil {
		return ctx
	}
	p := &Progress{token: r.Params.Meta.Token, send: send, gone: ctx.Done(), begun: time.Now(), stage: working}
	return context.WithValue(ctx, progressKey{}, p)
}

// ProgressOf is the Progress of the request that ctx belongs to, nil when its
// client did not ask for one.
func ProgressOf(ctx context.Context) *Progress {
	p, _ := ctx.Value(progressKey{}).(*Progress)
	return p
}

// Say tells the client at once what is done now.
func (p *Progress) Say(stage string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage = stage
	p.tell()
}

// tell sends a notice; p.mu is held.
func (p *Progress) tell() {
	select {
	case <-p.gone:
		return
	default:
	}
	if p.over {
		return
	}
	p.told = max(p.told+1, time.Since(p.begun).Milliseconds())
	stage, err := json.Marshal(p.stage)
	if err != nil {
		return // a string always has JSON
	}
	p.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d.%03d,"message":%s}}`,
		p.token, p.told/1000, p.told%1000, stage))
}

// Beat tells the client from time to time that the request is still worked on,
// until the returned function is called; after that nothing more is said.
func (p *Progress) Beat() (stop func()) {
	if p == nil {
		return func() {}
	}
	ended := make(chan struct{})
	var owned sync.WaitGroup
	owned.Go(func() {
		next := time.NewTimer(firstBeat)
		defer next.Stop()
		for {
			select {
			case <-ended:
				return
			case <-p.gone:
				return
			case <-next.C:
				p.mu.Lock()
				p.tell()
				p.mu.Unlock()
				next.Reset(beatEvery)
			}
		}
	})
	return func() {
		close(ended)
		p.mu.Lock()
		p.over = true
		p.mu.Unlock()
		owned.Wait()
	}
}
