// Package exec makes a provider of any program that reads one JSON object a
// line and answers each with one line, so that a user can write one in fifty
// lines of any language.
//
// # The program
//
// It is started when it is first needed, and again when it has ended or was
// ended. It runs only as the configuration says: nothing that comes over the
// wire names a command. Requests come on standard input, one at a time: the
// next comes when the last is answered. What it writes to standard error goes
// to the log. It must end when its standard input does. It and all that it
// started are killed when an answer is late, or is no answer.
//
// Several processes may run it at once, a server and a hook for example. What is
// delivered comes to one of them at a time, so a program reads what it keeps anew
// before it writes it.
//
// # Requests
//
// Each has a number, an op and what the op needs:
//
//	{"id":1,"op":"start","protocol":1,"session":{"id":"claude-code:8f2c"}}
//	{"id":2,"op":"recall","session":{…},"query":"which port does the backend use?"}
//	{"id":3,"op":"turn","turn":{"id":"…","session":{…},"user":"…","assistant":"…","at":"2026-05-01T09:00:00Z"}}
//
// A program gets these three. More it gets if it said so when it started:
//
//	{"op":"write","write":{"id":"…","session":{…},"target":"user","action":"replace","old":"…","old_hash":"…","new":"…","new_hash":"…"}}
//	{"op":"end","session":{…}}
//	{"op":"switch","switch":{"from":{…},"to":{…},"reason":"reset","reset":true}}
//	{"op":"compress","compress":{"id":"…","session":{…},"conversation":"…"}}
//	{"op":"delegation","delegation":{"id":"…","session":{…},"child":"…","task":"…","result":"…"}}
//	{"op":"hint","session":{…},"query":"…"}
//	{"op":"system"}
//	{"op":"list"}
//	{"op":"tools"}
//	{"op":"tool","session":{…},"name":"…","arguments":{…}}
//	{"op":"close"}
//
// # Answers
//
// {} says that all is well; an "id", when there is one, must be the request's.
// What else an answer holds:
//
//	start    "wants": the ops of the second list that it wants
//	         "repeatable": those of turn, write, end, switch, compress and
//	         delegation that it may get twice without harm
//	recall   "memories": [{"text":"…","at":"2026-05-01","label":"…"}], best first
//	system   "text": fixed words for the prompt
//	list     "facts": [{"id":"…","text":"…","entry":"new_hash it came with","target":"user","at":"…"}]
//	tools    "tools": [{"name":"…","description":"…","schema":{…},"read_only":true}]
//	tool     "result": an object
//
// {"error":"words"} says that nothing was stored and that trying again will not
// help; with "retry":true, that it may. A line that is not JSON, one of more
// than 4 MiB, an answer that is late and an end without an answer leave open
// what happened: such a delivery is not repeated unless the program said that
// it may be.
package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/hermes-mcp/hermes-mcp/provider"
)

// ErrNoCommand: the configuration names no command.
var ErrNoCommand = errors.New("no command is configured")

// A Provider is one program. Safe for concurrent use: calls wait for each
// other. Set the fields before first use.
type Provider struct {
	Dir     string    // where the program runs; the current folder when ""
	Env     []string  // its environment; ours when nil
	Stderr  io.Writer // what it writes to standard error; dropped when nil
	MaxLine int       // bytes of an answer; 4 MiB when 0

	command []string
	turn    chan struct{} // one slot: held for one call, and for what follows
	running *process
	last    int
	session provider.Session
	hello   atomic.Pointer[reply] // the answer to the last start
	closed  bool
}

// New returns the provider that command, a program and its arguments, makes.
// Nothing is started. Errors: ErrNoCommand.
func New(command []string) (*Provider, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, ErrNoCommand
	}
	p := &Provider{command: slices.Clone(command), turn: make(chan struct{}, 1)}
	p.hello.Store(&reply{})
	return p, nil
}

// Name is exec.
func (p *Provider) Name() string { return "exec" }

// Start starts the program.
func (p *Provider) Start(ctx context.Context, s provider.Session) error {
	free, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer free()
	p.session = s
	return p.ready(ctx)
}

// Close asks the program to end, and ends it if it does not.
func (p *Provider) Close() error {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	p.closed = true
	if p.running == nil {
		return nil
	}
	running := p.running
	p.running = nil
	return running.end(p.wants("close"))
}

// take waits until no other call is under way.
func (p *Provider) take(ctx context.Context) (free func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", provider.ErrNotTaken, err)
	}
	select {
	case p.turn <- struct{}{}:
		return func() { <-p.turn }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: the program is still busy with another call: %w", provider.ErrNotTaken, ctx.Err())
	}
}

// ready starts the program if it is not running.
func (p *Provider) ready(ctx context.Context) error {
	if p.closed {
		return fmt.Errorf("%w: the provider is closed", provider.ErrNotTaken)
	}
	if p.running != nil && !p.running.over() {
		return nil
	}
	p.stop()
	running, err := start(p)
	if err != nil {
		return fmt.Errorf("%w: %w", provider.ErrNotTaken, err)
	}
	p.running = running
	hello, err := p.exchange(ctx, request{Op: "start", Protocol: 1, Session: &p.session})
	if hello.Error != "" {
		err = fmt.Errorf("the program says: %s", hello.Error)
	}
	if err != nil {
		p.stop()
		return fmt.Errorf("%w: %w", provider.ErrNotTaken, err)
	}
	p.hello.Store(&hello)
	return nil
}

// stop ends the program without asking.
func (p *Provider) stop() {
	if p.running != nil {
		p.running.kill()
		p.running = nil
	}
}

// call makes one request. Once it was written, an error that is not the
// program's own words leaves open what happened, and the program is ended.
func (p *Provider) call(ctx context.Context, r request) (reply, error) {
	free, err := p.take(ctx)
	if err != nil {
		return reply{}, err
	}
	defer free()
	return p.request(ctx, r, false)
}

// reads are the ops that change nothing: they may be asked twice.
var reads = map[string]bool{"recall": true, "system": true, "list": true, "tools": true}

// request starts the program when it is not running, and asks it. One that
// ended since the last call is started once more. If optional is set, r goes
// only to a program that wants it.
func (p *Provider) request(ctx context.Context, r request, optional bool) (out reply, err error) {
	for range 2 {
		if err := p.ready(ctx); err != nil {
			return reply{}, err
		}
		if optional && !p.wants(r.Op) {
			return reply{}, nil
		}
		out, err = p.exchange(ctx, r)
		if !errors.Is(err, errGone) || !(errors.Is(err, provider.ErrNotTaken) || reads[r.Op]) {
			break
		}
	}
	return out, err
}

// exchange writes r and reads its answer.
func (p *Provider) exchange(ctx context.Context, r request) (reply, error) {
	p.last++
	r.ID = p.last
	line, err := json.Marshal(r)
	if err != nil {
		return reply{}, fmt.Errorf("%w: %w", provider.ErrRejected, err)
	}
	answer, err := p.running.ask(ctx, append(line, '\n'))
	if err != nil {
		p.stop()
		return reply{}, err
	}
	out, err := parse(answer, r.ID)
	if err != nil {
		p.stop()
		return reply{}, err
	}
	return out, out.refusal()
}

// deliver makes one request for which there is only success.
func (p *Provider) deliver(ctx context.Context, r request) error {
	_, err := p.call(ctx, r)
	return err
}

// offer is deliver for an op that the program may not want.
func (p *Provider) offer(ctx context.Context, r request) (reply, error) {
	free, err := p.take(ctx)
	if err != nil {
		return reply{}, err
	}
	defer free()
	return p.request(ctx, r, true)
}

func (p *Provider) wants(op string) bool {
	return slices.Contains(p.hello.Load().Wants, op)
}
