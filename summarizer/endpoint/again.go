package endpoint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// firstWait is how long the first repetition waits when nobody says.
const firstWait = time.Second

// A StatusError is an answer that is no success.
type StatusError struct {
	Code  int
	After time.Duration // what the endpoint asked us to wait; 0 when it did not
	Said  string
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("endpoint answered %d %s", e.Code, http.StatusText(e.Code))
	if e.Said != "" {
		text += ": " + e.Said
	}
	return text
}

// WorthAgain tells whether the same request may fare better.
func WorthAgain(err error) bool {
	if errors.Is(err, ErrDown) || errors.Is(err, ErrBudget) || errors.Is(err, errTooLarge) {
		return false
	}
	var s *StatusError
	if errors.As(err, &s) {
		return s.Code == http.StatusTooManyRequests || s.Code == http.StatusRequestTimeout || s.Code >= 500
	}
	return true // cut off, not reached, not JSON
}

// WaitFor is how long to wait before the try-th repetition: what the endpoint
// asked for, else twice as long each time; and always a random bit more, so
// that clients do not come back all at once.
func WaitFor(err error, try int) time.Duration {
	var s *StatusError
	wait := firstWait << (try - 1)
	if errors.As(err, &s) && s.After > 0 {
		wait = s.After
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

// Pause waits for d, or not at all where ctx ends before.
func Pause(ctx context.Context, d time.Duration) bool {
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

// AboutRequest tells whether err says something of the one request only, and
// nothing of the endpoint.
func AboutRequest(err error) bool {
	var s *StatusError
	return errors.As(err, &s) && (s.Code == http.StatusBadRequest || s.Code == http.StatusRequestEntityTooLarge || s.Code == http.StatusUnprocessableEntity)
}
