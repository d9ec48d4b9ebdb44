package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

func TestProgressTellsFilesBytesSpeedAndTimeLeft(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, false, 30, 4_000_000)
	p.begun = time.Now().Add(-10 * time.Second)
	p.done(10, 1_000_000, transcript.IngestReport{Messages: 500})
	p.update(transcript.Progress{FilesDone: 5, BytesDone: 1_000_000, Messages: 500})
	if out.Len() > 0 {
		t.Errorf("told at once: %q", out.String())
	}
	p.lastLine = time.Now().Add(-time.Minute)
	p.update(transcript.Progress{FilesDone: 5, BytesDone: 1_000_000, Messages: 500})
	want := "archived 15 of 30 files, 2.0 of 4.0 MB, 1000 messages, "
	if !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), " a second, about 1") || !strings.HasSuffix(out.String(), "s left\n") {
		t.Errorf("%q", out.String())
	}
	if said := left(time.Second, 0, 10) + left(time.Second, 10, 10); said != "" {
		t.Errorf("time left of nothing and of everything: %q", said)
	}
	out.Reset()
	bar := newProgress(&out, true, 30, 4_000_000)
	bar.update(transcript.Progress{FilesDone: 5, BytesDone: 1_000_000, Messages: 500})
	bar.end()
	if !strings.Contains(out.String(), "5 of 30 files") || !strings.Contains(out.String(), "messages/s") {
		t.Errorf("%q", out.String())
	}
}
