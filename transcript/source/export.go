package source

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// An export is a file of many conversations: a JSON array, several values one
// after the other, or a zip that holds such files. Conversations are read one
// at a time, whatever the size of the file.

// firstKeys returns the keys of the first object in b, as far as b goes.
func firstKeys(b []byte) map[string]bool {
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF")), " \r\n\t[")
	return topKeys(b)
}

// isExport tells whether the first conversation of a file has a key. Zips are
// looked into.
func isExport(f *sniff, key string) bool {
	switch strings.ToLower(filepath.Ext(f.path)) {
	case ".json", ".jsonl":
		return firstKeys(f.bytes())[key]
	case ".zip":
		z, err := zip.OpenReader(f.path)
		if err != nil {
			return false
		}
		defer z.Close()
		for _, in := range z.File {
			if !isConversations(in.Name) {
				continue
			}
			r, err := in.Open()
			if err != nil {
				return false
			}
			b, err := io.ReadAll(io.LimitReader(r, sniffBytes))
			if closing := r.Close(); err != nil || closing != nil {
				return false
			}
			return firstKeys(b)[key]
		}
	}
	return false
}

// isConversations tells whether a file in a zip holds conversations.
func isConversations(name string) bool {
	base := filepath.Base(filepath.FromSlash(name))
	return strings.HasPrefix(base, "conversations") && strings.HasSuffix(base, ".json")
}

// readExport calls fn with each conversation of a file.
func readExport(ctx context.Context, f transcript.File, sink transcript.Sink, fn func(raw rawJSON) (int, error)) error {
	var tally transcript.Tally
	tally.Types = map[string]int{}
	each := func(r io.Reader) error {
		return eachValue(ctx, r, func(raw rawJSON) error {
			tally.Objects++
			n, err := fn(raw)
			tally.Types["message"] += n
			return err
		})
	}
	var err error
	if strings.EqualFold(filepath.Ext(f.Path), ".zip") {
		err = eachInZip(f.Path, each)
	} else {
		err = inFile(f.Path, each)
	}
	var broken *brokenExport
	if errors.As(err, &broken) {
		sink.Problem(0, broken.Error())
		tally.Bad++
	} else if err != nil {
		return err
	}
	tally.Lines = tally.Objects
	st, err := os.Stat(f.Path)
	if err != nil {
		return err
	}
	return sink.Mark(transcript.Cursor{Offset: max(st.Size(), 1)}, tally)
}

func inFile(path string, each func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return each(f)
}

// maxInflated is how much a file in a zip may become.
const maxInflated = 16 << 30

func eachInZip(path string, each func(io.Reader) error) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		if !isConversations(f.Name) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		err = each(io.LimitReader(r, maxInflated))
		if closing := r.Close(); err == nil {
			err = closing
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// maxConversation is the largest conversation of an export. A zip of a few
// megabytes can hold one that no memory takes.
const maxConversation = 128 << 20

var errTooLarge = fmt.Errorf("a conversation of more than %d MiB; it and what follows it in that file were not read", maxConversation>>20)

// A rationed reader gives out left bytes, and then errTooLarge.
type rationed struct {
	r    io.Reader
	left int
}

func (r *rationed) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errTooLarge
	}
	n, err := r.r.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// brokenExport says where an export stops being JSON, or has a conversation
// that is too large; what stands before it was read.
type brokenExport struct {
	at  int64
	err error
}

func (b *brokenExport) Error() string {
	if errors.Is(b.err, errTooLarge) {
		return fmt.Sprintf("from byte %d on: %v", b.at, b.err)
	}
	return fmt.Sprintf("not JSON from byte %d on: %v", b.at, b.err)
}

// eachValue calls fn with each object of an array, or of values one after the
// other.
func eachValue(ctx context.Context, r io.Reader, fn func(rawJSON) error) error {
	in := bufio.NewReaderSize(r, 1<<20)
	if b, err := in.Peek(3); err == nil && string(b) == "\xEF\xBB\xBF" {
		if _, err := in.Discard(3); err != nil {
			return err
		}
	}
	list := false
	for {
		b, err := in.Peek(1)
		if err != nil {
			return nil // empty
		}
		if b[0] != ' ' && b[0] != '\n' && b[0] != '\r' && b[0] != '\t' {
			list = b[0] == '['
			break
		}
		if _, err := in.Discard(1); err != nil {
			return err
		}
	}
	ration := &rationed{in, maxConversation}
	dec := json.NewDecoder(ration)
	if list {
		if _, err := dec.Token(); err != nil {
			return &brokenExport{dec.InputOffset(), err}
		}
	}
	for !list || dec.More() {
		if err := ctx.Err(); err != nil {
			return err
		}
		ration.left = maxConversation
		var raw rawJSON
		if err := dec.Decode(&raw); err == io.EOF {
			return nil
		} else if err != nil {
			return &brokenExport{dec.InputOffset(), err}
		}
		if len(raw) == 0 || raw[0] != '{' {
			continue
		}
		if err := fn(raw); err != nil {
			return err
		}
	}
	if ration.left <= 0 { // not the end of the list
		return &brokenExport{dec.InputOffset(), errTooLarge}
	}
	return nil
}
