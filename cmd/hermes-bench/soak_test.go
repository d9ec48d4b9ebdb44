package main

import (
	"io"
	"testing"
	"time"
)

func TestWhatIsWrittenWhileOthersSearchIsFoundOnce(t *testing.T) {
	s := soak{messages: 400, files: 20, rate: 200, readers: 4, pause: 5 * time.Millisecond, length: 4 * time.Second}
	r, err := s.run(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if r.Lines == 0 || r.Appends == 0 || r.Searches == 0 || r.Probes == 0 {
		t.Errorf("nothing happened: %+v", r)
	}
	if r.Missing != 0 || r.Doubled != 0 {
		t.Errorf("%d missing, %d doubled of %d lines", r.Missing, r.Doubled, r.Lines)
	}
}
