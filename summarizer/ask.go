package summarizer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// A request is one question to the model, in nobody's format.
type request struct {
	system, user string
	maxTokens    int
	tool         *tool // the only one on offer
}

// A tool is what the model may call.
type tool struct {
	name, description string
	schema            json.RawMessage
}

// A reply is what came back.
type reply struct {
	text    string
	calls   []json.RawMessage // the arguments of each call of the tool
	refused string            // why the model declined
	cut     bool              // it ran into maxTokens
	in, out int64             // tokens, 0 when not told
	dollars float64           // 0 when not told
}

const (
	attempts  = 3
	firstWait = time.Second
	// charsPerToken is low, so that estimates err on the side of too many.
	charsPerToken = 3
)

// task bounds ctx by the task's timeout.
func (c *Client) task(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.timeout(), ErrTimeout)
}

// ask sends one request, again where that may help and ctx leaves the time.
// ctx comes from task.
func (c *Client) ask(ctx context.Context, r request) (reply, error) {
	var err error
	for try := range attempts {
		if try > 0 {
			if !pause(ctx, waitFor(err, try)) {
				return reply{}, c.because(ctx, err)
			}
		}
		var out reply
		if out, err = c.once(ctx, r); err == nil {
			return out, nil
		}
		if !worthAgain(err) || ctx.Err() != nil {
			break
		}
	}
	return reply{}, c.because(ctx, err)
}

// because puts the task's end before what it caused.
func (c *Client) because(ctx context.Context, err error) error {
	switch {
	case ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(ctx), ErrTimeout):
		return fmt.Errorf("%w (%s)", ErrTimeout, c.timeout())
	}
	return ctx.Err()
}

// once makes one call, if the account lets it.
func (c *Client) once(ctx context.Context, r request) (reply, error) {
	guess := int64((len(r.system)+len(r.user))/charsPerToken + 1)
	most := c.cost(guess, int64(r.maxTokens))
	if err := c.Account.admit(ctx, c.Task, most); err != nil {
		return reply{}, err
	}
	out, err := c.call(ctx, r)
	used := c.cost(out.in, out.out)
	if err == nil && out.in+out.out == 0 { // not told: the guess stands, so that a budget stops in any case
		used = c.cost(guess, int64(len(out.text)/charsPerToken+1))
	}
	if out.dollars > 0 {
		used.dollars = out.dollars
	}
	failed := err
	if errors.Is(err, ErrRefused) {
		failed = nil // the endpoint works
	}
	neutral := ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrTimeout) // the caller went away
	if s := (*statusError)(nil); errors.As(err, &s) && (s.code == http.StatusBadRequest || s.code == http.StatusRequestEntityTooLarge || s.code == http.StatusUnprocessableEntity) {
		neutral = true // about this request, not about the endpoint
	}
	return out, errors.Join(err, c.Account.settle(ctx, c.Task, most, used, failed, neutral))
}

// call is one exchange over HTTP.
func (c *Client) call(ctx context.Context, r request) (out reply, err error) {
	switch c.Provider {
	case OpenAI:
		out, err = c.chat(ctx, r)
	case Anthropic:
		out, err = c.messages(ctx, r)
	default:
		return out, fmt.Errorf("provider %q is neither %s nor %s", c.Provider, OpenAI, Anthropic)
	}
	switch {
	case err != nil:
		return out, err
	case out.refused != "":
		return out, fmt.Errorf("%w: %s", ErrRefused, clip(out.refused, 200))
	case out.text == "" && len(out.calls) == 0 && r.tool == nil:
		return out, fmt.Errorf("%w: it is empty", ErrAnswer)
	}
	return out, nil
}

// A statusError is an answer that is no success.
type statusError struct {
	code  int
	after time.Duration // what the endpoint asked us to wait; 0 when it did not
	said  string
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("endpoint answered %d %s", e.code, http.StatusText(e.code))
	if e.said != "" {
		text += ": " + e.said
	}
	return text
}

// worthAgain tells whether the same request may fare better.
func worthAgain(err error) bool {
	if errors.Is(err, ErrRefused) || errors.Is(err, ErrDown) || errors.Is(err, ErrBudget) || errors.Is(err, errTooLarge) {
		return false
	}
	var s *statusError
	if errors.As(err, &s) {
		return s.code == http.StatusTooManyRequests || s.code == http.StatusRequestTimeout || s.code >= 500
	}
	return true // cut off, not reached, not JSON
}

// waitFor is how long to wait before the try-th repetition: what the endpoint
// asked for, else twice as long each time; and always a random bit more, so
// that clients do not come back all at once.
func waitFor(err error, try int) time.Duration {
	var s *statusError
	wait := firstWait << (try - 1)
	if errors.As(err, &s) && s.after > 0 {
		wait = s.after
	}
	return wait + rand.N(wait/4+time.Millisecond)
}

// retryAfter reads the header, in seconds or as a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 0 && n < 1e6 {
		return time.Duration(n * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// pause waits for d, or not at all where ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
