package source

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// How often a reader says how far it is: whichever comes first.
const (
	markBytes    = 1 << 20
	markMessages = 500
)

// A pass is one read of one JSONL file.
type pass struct {
	ctx   context.Context
	path  string
	sink  transcript.Sink
	final bool
	in    *lines

	pending int // messages since the last mark
	marked  int64
}

// A format turns the values of a file's lines into messages. What it needs to
// go on at a later read is encoded as JSON.
type format interface {
	value(v []byte) error // one JSON value of a line
	flush() error         // deliver what is held back
	end() error           // the file is finished
}

// saved is a cursor's state: the counts so far, and the format's own.
type saved struct {
	Tally transcript.Tally `json:"tally"`
	Line  int              `json:"line"`
	Own   json.RawMessage  `json:"own,omitempty"`
}

// openPass opens a file to read on at a cursor, and decodes the format's own
// state into own, which stays as it is where reading begins anew.
func openPass(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink, own any) (*pass, error) {
	var s saved
	if !state(from, &s) {
		s, from = saved{}, transcript.Cursor{}
	}
	in, err := openLines(f.Path, from.Offset, s.Tally)
	if err != nil {
		return nil, err
	}
	if in.fresh() {
		s = saved{}
	} else if err := json.Unmarshal(s.Own, own); err != nil {
		return nil, fmt.Errorf("decode cursor of %s: %w", f.Path, err)
	}
	in.no = s.Line
	return &pass{ctx: ctx, path: f.Path, sink: sink, final: final, in: in, marked: in.offset}, nil
}

// run reads to the end and closes the file. own is the format's state, encoded
// anew at every mark.
func (p *pass) run(r format, own any) (err error) {
	defer func() {
		if closing := p.in.Close(); err == nil {
			err = closing
		}
	}()
	var kept []byte // the state before a torn last line
	for {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		line, tooLong, err := p.in.next(p.final)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if p.in.torn {
			if kept, err = p.save(r, own); err != nil {
				return err
			}
		}
		vals, reason := p.in.values(line, tooLong)
		if reason != "" {
			p.sink.Problem(p.in.no, reason)
		}
		for _, v := range vals {
			if err := r.value(v); err != nil {
				return err
			}
		}
		if p.in.offset-p.marked >= markBytes || p.pending >= markMessages {
			if err := p.mark(r, own, nil); err != nil {
				return err
			}
		}
	}
	if p.final {
		if err := r.end(); err != nil {
			return err
		}
	}
	return p.mark(r, own, kept)
}

// save encodes the state, with everything read so far delivered.
func (p *pass) save(r format, own any) ([]byte, error) {
	if err := r.flush(); err != nil {
		return nil, err
	}
	raw, err := marshal(own)
	if err != nil {
		return nil, err
	}
	line := p.in.no
	if p.in.torn {
		line--
	}
	return marshal(saved{Tally: p.in.tally, Line: line, Own: raw})
}

// mark tells the sink how far the file is read. kept, when not nil, is the
// state to go on from: that before a torn line.
func (p *pass) mark(r format, own any, kept []byte) error {
	now, err := p.save(r, own)
	if err != nil {
		return err
	}
	if kept == nil {
		kept = now
	}
	p.pending, p.marked = 0, p.in.offset
	return p.sink.Mark(transcript.Cursor{Offset: p.in.position(), State: kept}, p.in.tally)
}

// message delivers a message.
func (p *pass) message(m transcript.Message) error {
	p.pending++
	return p.sink.Message(m)
}

// A counter makes ids for messages without: with a time, an equal message is
// the same one; without, it is the next one. It is part of a format's state.
type counter map[string]int

const maxCounted = 1 << 13

func (c *counter) id(m transcript.Message) string {
	calls := callIDs(m.ToolCalls)
	for _, t := range m.ToolCalls {
		calls += string(t.Args)
	}
	h := hashOf(string(m.Role), m.Content, m.ToolCallID, calls)
	if !m.At.IsZero() {
		return fmt.Sprintf("t%x.%x", m.At.UnixMilli(), h)
	}
	return "h" + c.next(h)
}

// next returns a hash with how often it came.
func (c *counter) next(h uint64) string {
	if *c == nil || len(*c) > maxCounted {
		*c = counter{}
	}
	key := strconv.FormatUint(h, 36)
	(*c)[key]++
	return key + "." + strconv.Itoa((*c)[key])
}
