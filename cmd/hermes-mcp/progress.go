package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A progress shows how far an ingest is: a bar on a terminal, elsewhere a line
// every few seconds.
type progress struct {
	out      io.Writer
	bar      *progressbar.ProgressBar // nil where there is no terminal
	files    int
	size     int64
	before   int // files of the calls that are done, and so on
	bytes    int64
	messages int
	lastLine time.Time
}

const lineEvery = 3 * time.Second

func newProgress(out io.Writer, terminal bool, files int, size int64) *progress {
	p := &progress{out: out, files: files, size: size, lastLine: time.Now()}
	if terminal {
		p.bar = progressbar.NewOptions64(size,
			progressbar.OptionSetWriter(out), progressbar.OptionShowBytes(true),
			progressbar.OptionSetDescription("archiving"), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
	return p
}

// update takes what the archive reports of the call that runs. A bar that
// cannot be drawn must not stop the work.
func (p *progress) update(now transcript.Progress) {
	if p.bar != nil {
		if err := p.bar.Set64(min(p.bytes+now.BytesDone, p.size)); err != nil {
			p.bar = nil
		}
		return
	}
	if time.Since(p.lastLine) < lineEvery {
		return
	}
	p.lastLine = time.Now()
	fmt.Fprintf(p.out, "archived %d of %d files, %d messages\n", p.before+now.FilesDone, p.files, p.messages+now.Messages)
}

// done adds a call that has ended.
func (p *progress) done(files int, r transcript.IngestReport) {
	p.before += files
	p.bytes += r.Bytes
	p.messages += r.Messages
}

func (p *progress) end() {
	if p.bar == nil {
		return
	}
	if err := p.bar.Finish(); err != nil {
		p.bar = nil
	}
}
