package summarizer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var question = request{system: "be brief", user: "hello", maxTokens: 50}

// A behaviour is what an endpoint does with the n-th call, from 1.
type behaviour func(w http.ResponseWriter, r *http.Request, n int, answer string)

func fine(w http.ResponseWriter, _ *http.Request, _ int, answer string) { fmt.Fprint(w, answer) }

func status(code int, header ...string) behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ int, _ string) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, `{"error":{"message":"out of order"}}`)
	}
}

// firstly does one thing n times and then another.
func firstly(n int, do, then behaviour) behaviour {
	return func(w http.ResponseWriter, r *http.Request, call int, answer string) {
		if call > n {
			then(w, r, call, answer)
			return
		}
		do(w, r, call, answer)
	}
}

// hang answers nothing until the client goes.
func hang(_ http.ResponseWriter, r *http.Request, _ int, _ string) {
	io.Copy(io.Discard, r.Body) // a server hears of a client that goes only then
	<-r.Context().Done()
}

func TestEachWayAnEndpointBehavesHasItsOutcome(t *testing.T) {
	large := strings.Repeat("x", maxAnswer)
	tests := []struct {
		name     string
		do       behaviour
		timeout  time.Duration
		want     string // the text
		err      error
		says     string // of the error
		calls    int
		least    time.Duration
		atMost   time.Duration
		failures int
	}{
		{name: "an answer is taken", do: fine, want: "hi", calls: 1},
		{name: "a slow answer is waited for", timeout: 30 * time.Second, want: "hi", calls: 1, least: 20 * time.Second, atMost: 20 * time.Second,
			do: func(w http.ResponseWriter, r *http.Request, n int, answer string) {
				time.Sleep(20 * time.Second)
				fine(w, r, n, answer)
			}},
		{name: "a hang ends at the task's timeout", do: hang, timeout: 5 * time.Second, err: ErrTimeout, calls: 1, least: 5 * time.Second, atMost: 5 * time.Second, failures: 1},
		{name: "a body that trickles ends at the task's timeout", timeout: 5 * time.Second, err: ErrTimeout, calls: 1, least: 5 * time.Second, atMost: 5 * time.Second, failures: 1,
			do: func(w http.ResponseWriter, r *http.Request, _ int, answer string) {
				for i := range answer {
					fmt.Fprint(w, answer[i:i+1])
					w.(http.Flusher).Flush()
					select {
					case <-time.After(time.Second):
					case <-r.Context().Done():
						return
					}
				}
			}},
		{name: "429 is asked again after what it says", do: firstly(1, status(429, "Retry-After", "7"), fine), want: "hi", calls: 2, least: 7 * time.Second, atMost: 9 * time.Second},
		{name: "429 is asked again at the date it says", do: firstly(1, func(w http.ResponseWriter, r *http.Request, n int, a string) {
			status(429, "Retry-After", time.Now().Add(10*time.Second).UTC().Format(http.TimeFormat))(w, r, n, a)
		}, fine), want: "hi", calls: 2, least: 9 * time.Second, atMost: 13 * time.Second},
		{name: "429 for longer than the task has is not waited for", do: status(429, "Retry-After", "3600"), says: "429", calls: 1, atMost: 0, failures: 1},
		{name: "500 once is asked again", do: firstly(1, status(500), fine), want: "hi", calls: 2, least: time.Second, atMost: 2 * time.Second},
		{name: "500 for ever is given up", do: status(503), says: "503 Service Unavailable: out of order", calls: 3, least: 3 * time.Second, atMost: 5 * time.Second, failures: 3},
		{name: "401 is not asked again", do: status(401), says: "401", calls: 1, failures: 1},
		{name: "400 says nothing about the endpoint", do: status(400), says: "400", calls: 1},
		{name: "a redirect is not followed", do: status(307, "Location", "http://elsewhere/"), says: "307", calls: 1, failures: 1},
		{name: "a truncated body is asked again", want: "hi", calls: 2, least: time.Second, atMost: 2 * time.Second,
			do: firstly(1, func(w http.ResponseWriter, _ *http.Request, _ int, answer string) {
				w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
				fmt.Fprint(w, answer[:len(answer)/2])
				panic(http.ErrAbortHandler)
			}, fine)},
		{name: "wrong JSON for ever is given up", err: ErrAnswer, calls: 3, least: 3 * time.Second, atMost: 5 * time.Second, failures: 3,
			do: func(w http.ResponseWriter, _ *http.Request, _ int, _ string) { fmt.Fprint(w, "<html>busy</html>") }},
		{name: "JSON of another kind is no answer", err: ErrAnswer, calls: 3, least: 3 * time.Second, atMost: 5 * time.Second, failures: 3,
			do: func(w http.ResponseWriter, _ *http.Request, _ int, _ string) { fmt.Fprint(w, `{"ok":true}`) }},
		{name: "a giant answer is refused and not asked for again", err: ErrAnswer, says: "larger", calls: 1, failures: 1,
			do: func(w http.ResponseWriter, _ *http.Request, _ int, answer string) { fmt.Fprint(w, large, large) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eachShape(t, func(t *testing.T, provider string) {
				synctest.Test(t, func(t *testing.T) {
					var n atomic.Int32
					do := tt.do
					base, web := inMemory(t, func(w http.ResponseWriter, r *http.Request) {
						body(t, r)
						do(w, r, int(n.Add(1)), shapes[provider](said{text: "hi"}))
					})
					c := &Client{Task: Task{Name: SessionSearch, Provider: provider, Model: "m", BaseURL: base, Timeout: tt.timeout}, HTTP: web, Account: &Account{}}
					ctx, cancel := c.task(t.Context())
					defer cancel()
					begun := time.Now()
					got, err := c.ask(ctx, question)
					took := time.Since(begun)
					if (err != nil) != (tt.err != nil || tt.says != "") || tt.err != nil && !errors.Is(err, tt.err) {
						t.Fatalf("error %v, want %v", err, tt.err)
					}
					if err != nil && !strings.Contains(err.Error(), tt.says) {
						t.Errorf("error %q does not say %q", err, tt.says)
					}
					if err == nil && got.text != tt.want {
						t.Errorf("text %q, want %q", got.text, tt.want)
					}
					if took < tt.least || took > tt.atMost {
						t.Errorf("took %s, want %s to %s", took, tt.least, tt.atMost)
					}
					if int(n.Load()) != tt.calls {
						t.Errorf("%d calls, want %d", n.Load(), tt.calls)
					}
					s, err := c.Account.Statement()
					if err != nil {
						t.Fatal(err)
					}
					if got := s.Endpoints[base].Failures; got != tt.failures {
						t.Errorf("%d failures of the endpoint counted, want %d", got, tt.failures)
					}
				})
			})
		})
	}
}

func TestARefusalIsSaidAndNotAskedAgain(t *testing.T) {
	eachShape(t, func(t *testing.T, provider string) {
		calls := 0
		base, web := onLoopback(t, func(w http.ResponseWriter, r *http.Request) {
			calls++
			fmt.Fprint(w, shapes[provider](said{text: "I cannot", refusal: "I cannot"}))
		})
		c := &Client{Task: Task{Provider: provider, BaseURL: base}, HTTP: web}
		if _, err := c.ask(t.Context(), question); !errors.Is(err, ErrRefused) || calls != 1 {
			t.Errorf("error %v after %d calls", err, calls)
		}
	})
}

func TestACallerWhoGoesAwayIsNoFailureOfTheEndpoint(t *testing.T) {
	eachShape(t, func(t *testing.T, provider string) {
		synctest.Test(t, func(t *testing.T) {
			base, web := inMemory(t, func(w http.ResponseWriter, r *http.Request) { hang(w, r, 0, "") })
			c := &Client{Task: Task{Provider: provider, BaseURL: base}, HTTP: web, Account: &Account{}}
			parent, leave := context.WithCancel(t.Context())
			ctx, cancel := c.task(parent)
			defer cancel()
			time.AfterFunc(time.Second, leave)
			if _, err := c.ask(ctx, question); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			s, err := c.Account.Statement()
			if err != nil || len(s.Endpoints) != 0 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	})
}

func TestNoGoroutineOutlivesItsCall(t *testing.T) {
	eachShape(t, func(t *testing.T, provider string) {
		synctest.Test(t, func(t *testing.T) {
			base, web := inMemory(t, func(w http.ResponseWriter, r *http.Request) { hang(w, r, 0, "") })
			c := &Client{Task: Task{Provider: provider, BaseURL: base, Timeout: time.Second}, HTTP: web}
			found := make([]Found, 5)
			for i := range found {
				found[i] = session(i, "why did the build fail", "the cache was stale")
			}
			if _, err := c.Focus(t.Context(), "build", found); !errors.Is(err, ErrTimeout) {
				t.Fatalf("error %v", err)
			}
			synctest.Wait()
			all := make([]byte, 1<<20)
			for _, g := range strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n") {
				if strings.Contains(g, "summarizer.(*Client)") {
					t.Errorf("still there:\n%s", g)
				}
			}
		})
	})
}
