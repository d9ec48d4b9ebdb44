package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A progress shows how far an ingest is: a bar on a terminal, elsewhere a line
// every few seconds. Both tell files, megabytes, messages a second and the time
// that is left.
type progress struct {
	out      io.Writer
	bar      *progressbar.ProgressBar // nil where there is no terminal
	files    int
	size     int64
	before   int // files of the calls that are done, and so on
	bytes    int64
	messages int
	begun    time.Time
	lastLine time.Time
}

const lineEvery = 3 * time.Second

func newProgress(out io.Writer, terminal bool, files int, size int64) *progress {
	p := &progress{out: out, files: files, size: size, begun: time.Now(), lastLine: time.Now()}
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
	files, bytes, messages := p.before+now.FilesDone, min(p.bytes+now.BytesDone, p.size), p.messages+now.Messages
	took := time.Since(p.begun)
	perSecond := int(float64(messages) / max(took.Seconds(), 0.001))
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("%d of %d files, %d messages/s", files, p.files, perSecond))
		if err := p.bar.Set64(bytes); err != nil {
			p.bar = nil
		}
		return
	}
	if time.Since(p.lastLine) < lineEvery {
		return
	}
	p.lastLine = time.Now()
	fmt.Fprintf(p.out, "archived %d of %d files, %.1f of %.1f MB, %d messages, %d a second%s\n",
		files, p.files, float64(bytes)/1e6, float64(p.size)/1e6, messages, perSecond, left(took, bytes, p.size))
}

// left says how long the rest may take, "" where that cannot be told yet.
func left(took time.Duration, done, all int64) string {
	if done <= 0 || done >= all {
		return ""
	}
	rest := time.Duration(float64(took) * float64(all-done) / float64(done))
	return fmt.Sprintf(", about %s left", rest.Round(time.Second))
}

// done adds a call that has ended, of files of so many bytes.
func (p *progress) done(files int, size int64, r transcript.IngestReport) {
	p.before += files
	p.bytes += size
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
