// Package endpoint speaks JSON over HTTP with the models that a user named, and
// keeps account of it.
//
// [Post] is one exchange: no redirect is followed, and an answer over a bound is
// refused. An [Account] counts what was spent, stops at a day's budget and leaves
// an endpoint alone that keeps failing. [WorthAgain], [WaitFor] and [Pause] are
// what a caller needs to try again.
//
// The wire is our own: the two official SDKs add 26 MB to the program for the
// three requests that are made here. No goroutine outlives its call.
package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner"
)

var (
	// ErrDown is returned without a call while an endpoint is left alone after
	// repeated failures.
	ErrDown = errors.New("endpoint is left alone after failures")
	// ErrBudget is returned without a call when the day's budget does not
	// cover it.
	ErrBudget = errors.New("budget of the day is spent")
	// ErrAnswer is returned when the answer is not what was asked for: no JSON,
	// cut off, too large, or empty.
	ErrAnswer = errors.New("answer not understood")
	// ErrTimeout is returned when the time for a task ran out.
	ErrTimeout = errors.New("no answer in time")

	errTooLarge = fmt.Errorf("%w: it is larger", ErrAnswer)
)

// A Request is what Post sends.
type Request struct {
	URL       string
	Header    http.Header // beside content type and user agent
	Body      []byte      // JSON
	MaxAnswer int         // bytes
}

// Post sends r and decodes the answer into out. It follows no redirect:
// transcripts go where the user said, and nowhere else. Errors: StatusError,
// ErrAnswer, and what the network says.
func Post(ctx context.Context, web *http.Client, r Request, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	req.Header = r.Header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "hermes-mcp")
	once := *web
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := once.Do(req)
	if err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	answer, err := io.ReadAll(io.LimitReader(res.Body, int64(r.MaxAnswer)+1))
	err = errors.Join(err, res.Body.Close())
	switch {
	case res.StatusCode != http.StatusOK:
		return &StatusError{res.StatusCode, retryAfter(res.Header, time.Now()), Complaint(answer)}
	case err != nil:
		return fmt.Errorf("%w: cut off after %d bytes: %w", ErrAnswer, len(answer), err)
	case len(answer) > r.MaxAnswer:
		return fmt.Errorf("%w than %d bytes", errTooLarge, r.MaxAnswer)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return nil
}

// Shown is an endpoint's address for people and files: without a password, and
// without the values of a query, one of which may be a key. One that cannot be
// taken apart is not shown.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that is no URL"
	}
	if u.User == nil && u.RawQuery == "" {
		return address
	}
	values := u.Query()
	for name := range values {
		values.Set(name, "xxxxx")
	}
	u.RawQuery = values.Encode()
	return u.Redacted()
}

// Complaint is what an endpoint says about an error, for a person.
func Complaint(answer []byte) string {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	var deep struct {
		Message string `json:"message"`
	}
	text := string(answer)
	if json.Unmarshal(answer, &e) == nil && len(e.Error) > 0 {
		text = string(e.Error)
		if json.Unmarshal(e.Error, &deep) == nil && deep.Message != "" {
			text = deep.Message
		}
	}
	return brief(strings.Join(strings.Fields(scanner.Redact(strings.ToValidUTF8(text, "?"))), " "))
}

// brief is the beginning of s, for a line of status.
func brief(s string) string {
	const most = 200
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + " […]"
}
