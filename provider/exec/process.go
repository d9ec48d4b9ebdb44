package exec

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider"
)

// remembered is how much of standard error is kept for an error, in bytes.
const remembered = 2048

// farewell is how long a program may take to end by itself.
const farewell = 2 * time.Second

// A process is one run of the program.
type process struct {
	cmd   *exec.Cmd
	in    *os.File
	out   *os.File
	words *lastWords

	lines  chan []byte   // whole answers; closed when there will be no more
	broken error         // why not; set before lines is closed
	done   chan struct{} // closed when the program has ended
	exit   error         // how; set before done is closed
	once   sync.Once
}

// start runs the program of p.
func start(p *Provider) (*process, error) {
	cmd := exec.Command(p.command[0], p.command[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.Dir, p.Env, farewell
	ownGroup(cmd)
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the program: %w", err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the program: %w", err), inRead.Close(), inWrite.Close())
	}
	words := &lastWords{to: p.Stderr}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inRead, outWrite, words
	err = cmd.Start()
	if shut := errors.Join(inRead.Close(), outWrite.Close()); err != nil || shut != nil {
		return nil, errors.Join(fmt.Errorf("start the program: %w", errors.Join(err, shut)), inWrite.Close(), outRead.Close())
	}
	r := &process{cmd: cmd, in: inWrite, out: outRead, words: words, lines: make(chan []byte), done: make(chan struct{})}
	limit := p.MaxLine
	if limit <= 0 {
		limit = 4 << 20
	}
	go r.read(limit)
	go func() {
		r.exit = cmd.Wait()
		close(r.done)
	}()
	return r, nil
}

// read passes on whole lines until there are no more.
func (r *process) read(limit int) {
	defer close(r.lines)
	in := bufio.NewReaderSize(r.out, 64<<10)
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > limit:
			r.broken = fmt.Errorf("the program answered with a line of more than %d bytes", limit)
			return
		case err == nil:
			r.lines <- bytes.TrimSpace(line)
			line = nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			if len(line) > 0 {
				r.broken = fmt.Errorf("the program ended in the middle of an answer")
			}
			return
		}
	}
}

// over tells whether there will be no more answers.
func (r *process) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// errGone: the program ended in order, or before it was asked.
var errGone = errors.New("the program had ended")

// ask writes a line and waits for the next one. When ctx ends, so does the
// program. errGone or provider.ErrNotTaken when the line was not written whole.
func (r *process) ask(ctx context.Context, line []byte) ([]byte, error) {
	select {
	case extra, ok := <-r.lines:
		if ok {
			return nil, fmt.Errorf("%w: the program said something that nobody asked: %s", provider.ErrNotTaken, shorten(extra))
		}
		return nil, fmt.Errorf("%w: %w: %w", provider.ErrNotTaken, errGone, r.why(true))
	default:
	}
	stop := context.AfterFunc(ctx, r.kill)
	defer func() {
		if !stop() {
			r.kill() // wait until it is done, so that the next call finds no dying program
		}
	}()
	if _, err := r.in.Write(line); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: the program did not read: %w", provider.ErrNotTaken, ctx.Err())
		}
		return nil, fmt.Errorf("%w: %w: %w", provider.ErrNotTaken, errGone, r.why(false))
	}
	answer, ok := <-r.lines
	switch {
	case ok:
		return answer, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the program did not answer: %w", ctx.Err())
	default:
		return nil, r.why(true)
	}
}

// why says how the program came to say nothing more. closed says that lines
// is.
func (r *process) why(closed bool) error {
	if closed && r.broken != nil {
		return r.broken
	}
	timer := time.NewTimer(farewell)
	defer timer.Stop()
	select {
	case <-r.done:
	case <-timer.C:
		return errors.New("the program closed its input or output")
	}
	how := "without an answer"
	if words := r.words.last(); words != "" {
		how += "; its last words: " + words
	}
	if r.exit != nil {
		return fmt.Errorf("the program ended (%w) %s", r.exit, how)
	}
	return fmt.Errorf("%w %s", errGone, how)
}

// kill ends the program and what it started, and waits until it is gone.
func (r *process) kill() {
	r.once.Do(func() {
		killGroup(r.cmd)
		// What it started may still hold the pipes open: these ends are ours.
		_ = r.in.Close()
		_ = r.out.Close()
		for range r.lines { // so that read, which may hold one, ends
		}
		<-r.done
	})
}

// end lets the program end by itself, asking when it wants that, and kills it
// when it takes too long. How a program ends is its own affair.
func (r *process) end(ask bool) error {
	if ask {
		_, _ = r.in.WriteString(`{"id":0,"op":"close"}` + "\n") // it may be gone already
	}
	err := r.in.Close()
	timer := time.NewTimer(farewell)
	defer timer.Stop()
	lines := r.lines
	for over := false; !over; {
		select {
		case _, ok := <-lines:
			if !ok {
				lines = nil
			}
		case <-r.done:
			over = true
		case <-timer.C:
			over = true
		}
	}
	r.kill()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// lastWords passes on what the program writes to standard error, and remembers
// the last line.
type lastWords struct {
	to io.Writer

	mu   sync.Mutex
	tail []byte
}

// Write never fails, since a program must not suffer from a full log.
func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to != nil {
		_, _ = w.to.Write(p)
	}
	w.tail = append(w.tail, p...)
	if len(w.tail) > remembered {
		w.tail = append([]byte(nil), w.tail[len(w.tail)-remembered:]...)
	}
	return len(p), nil
}

func (w *lastWords) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(w.tail)), "\n")
	return strings.Trim(shorten([]byte(lines[len(lines)-1])), `"`)
}
