package provider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// A said error is one of the provider's in words that may be shown: to a user,
// and to a model. A provider may quote in them what it was told.
type said struct {
	words string
	kind  string // what a log may hold of it
	err   error
}

func (s *said) Error() string { return s.words }
func (s *said) Unwrap() error { return s.err }

// plainly says in words that may be shown what went wrong in a call that had
// limit.
func plainly(err error, limit time.Duration) *said {
	if errors.Is(err, context.DeadlineExceeded) {
		words := fmt.Sprintf("no answer within %s", limit)
		return &said{words, words, err}
	}
	words := head(strings.Join(strings.Fields(scanner.Redact(scanner.StripFences(err.Error()))), " "), maxError)
	for _, class := range []error{ErrNotTaken, ErrRejected, ErrNotTaken} { // said by what becomes of it
		words = strings.TrimPrefix(words, class.Error()+": ")
	}
	if found := scanner.Scan(words, scanner.Context); len(found) > 0 {
		words = "its words were withheld, since they look like an attack on their reader (" + found[0].Rule + ")"
	}
	return &said{words, kind(err, words), err}
}

// kind says what went wrong without the words of the provider.
func kind(err error, words string) string {
	what := "it failed"
	var ended *exec.ExitError
	var missing *exec.Error
	var path *fs.PathError
	switch {
	case errors.As(err, &ended):
		what = "the program ended (" + ended.Error() + ")"
	case errors.As(err, &missing):
		return missing.Error()
	case errors.As(err, &path):
		return path.Error()
	case errors.Is(err, ErrUnsupported):
		what = ErrUnsupported.Error()
	case errors.Is(err, ErrRejected):
		what = "it refused"
	case errors.Is(err, ErrNotTaken):
		what = "it did not take it"
	}
	return fmt.Sprintf("%s; its words, %d characters, stand in the status of the provider", what, utf8.RuneCountInString(words))
}

// Loggable is err for a log: without the words of a provider, which may quote
// what it was told. What else err says stays.
func Loggable(err error) string {
	text := err.Error()
	for _, s := range allSaid(err) {
		if s.words != "" {
			text = strings.ReplaceAll(text, s.words, s.kind)
		}
	}
	return text
}

// allSaid finds all that is said in the tree of err.
func allSaid(err error) []*said {
	switch e := err.(type) {
	case *said:
		return []*said{e}
	case interface{ Unwrap() error }:
		return allSaid(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*said
		for _, one := range e.Unwrap() {
			all = append(all, allSaid(one)...)
		}
		return all
	}
	return nil
}
