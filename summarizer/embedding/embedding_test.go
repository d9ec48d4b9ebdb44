package embedding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/summarizer/endpoint"
)

// A behaviour is what an endpoint does with the n-th call, from 1.
type behaviour func(w http.ResponseWriter, r *http.Request, n int, texts []string)

// vectors answers as it should, with vectors of so many numbers.
func vectors(size int) behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ int, texts []string) {
		var data []any
		for i := len(texts) - 1; i >= 0; i-- { // the order is the index's, not the list's
			v := make([]float64, size)
			v[len(texts[i])%size] = 3
			data = append(data, map[string]any{"index": i, "embedding": v})
		}
		json.NewEncoder(w).Encode(map[string]any{"data": data, "usage": map[string]any{"prompt_tokens": 10}})
	}
}

func say(text string) behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ int, _ []string) { fmt.Fprint(w, text) }
}

func status(code int, header ...string) behaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ int, _ []string) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, `{"error":{"message":"out of order"}}`)
	}
}

func firstly(n int, do, then behaviour) behaviour {
	return func(w http.ResponseWriter, r *http.Request, call int, texts []string) {
		if call > n {
			then(w, r, call, texts)
			return
		}
		do(w, r, call, texts)
	}
}

// hang answers nothing until the client goes.
func hang(_ http.ResponseWriter, r *http.Request, _ int, _ []string) {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// at is a client of an endpoint that behaves so, and how often it was called.
func at(t *testing.T, do behaviour) (*Client, *atomic.Int64) {
	t.Helper()
	var calls atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		if err := json.Unmarshal(raw, &asked); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		do(w, r, int(calls.Add(1)), asked.Input)
	}))
	t.Cleanup(srv.Close)
	return &Client{Model: "m", BaseURL: srv.URL, Timeout: 20 * time.Second, QueryTimeout: 20 * time.Second, HTTP: srv.Client()}, &calls
}

func TestEachWayAnEndpointBehavesHasItsOutcome(t *testing.T) {
	giant := `{"data":[{"index":0,"embedding":[` + strings.Repeat("0.1,", 1<<20) + `1]}]}`
	for _, c := range []struct {
		name  string
		do    behaviour
		err   error
		says  string
		calls int64 // of a question; documents may be asked for again
	}{
		{"success", vectors(4), nil, "", 1},
		{"a rate limit", status(429, "Retry-After", "1"), nil, "429", 1},
		{"an inner error", status(500), nil, "out of order", 1},
		{"a refused key", status(401), nil, "401", 1},
		{"no such model", status(404), nil, "404", 1},
		{"a redirect is not followed", status(307, "Location", "http://127.0.0.1:1/"), nil, "307", 1},
		{"too few vectors", say(`{"data":[]}`), endpoint.ErrAnswer, "0 vectors for 1 texts", 1},
		{"too many vectors", say(`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`), endpoint.ErrAnswer, "2 vectors for 1", 1},
		{"an index that is not one", say(`{"data":[{"index":7,"embedding":[1]}]}`), endpoint.ErrAnswer, "index 7", 1},
		{"a number that is none", say(`{"data":[{"index":0,"embedding":[1,null]}]}`), endpoint.ErrAnswer, "none", 1},
		{"NaN written out", say(`{"data":[{"index":0,"embedding":[1,NaN]}]}`), endpoint.ErrAnswer, "", 1},
		{"a number too large", say(`{"data":[{"index":0,"embedding":[1e99]}]}`), endpoint.ErrAnswer, "", 1},
		{"a vector of nothing", say(`{"data":[{"index":0,"embedding":[0,0]}]}`), endpoint.ErrAnswer, "nothing", 1},
		{"no vector", say(`{"data":[{"index":0}]}`), endpoint.ErrAnswer, "", 1},
		{"base64", say(`{"data":[{"index":0,"embedding":"AACAPw=="}]}`), endpoint.ErrAnswer, "", 1},
		{"not JSON", say("<html>"), endpoint.ErrAnswer, "", 1},
		{"an error that calls itself fine", say(`{"error":{"message":"overloaded"}}`), nil, "overloaded", 1},
		{"a giant answer", say(giant), endpoint.ErrAnswer, "larger than", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, calls := at(t, c.do)
			v, err := client.Query(t.Context(), "hello")
			failed := c.err != nil || c.says != ""
			if (err != nil) != failed || c.err != nil && !errors.Is(err, c.err) || failed && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v", err)
			}
			if !failed && (len(v) != 4 || v[1] != 1) {
				t.Errorf("%v", v)
			}
			if calls.Load() != c.calls {
				t.Errorf("%d calls", calls.Load())
			}
			alone(t)
		})
	}
}

// alone tells of goroutines that run our code beside the test.
func alone(t *testing.T) {
	t.Helper()
	buf := make([]byte, 1<<20)
	for i, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if i > 0 && strings.Contains(stack, "embedding.(*Client)") {
			t.Errorf("a goroutine is left:\n%s", stack)
		}
	}
}

func TestAQuestionWaitsNoLongerThanItMay(t *testing.T) {
	client, calls := at(t, hang)
	client.QueryTimeout = 30 * time.Millisecond
	if _, err := client.Query(t.Context(), "hello"); !errors.Is(err, endpoint.ErrTimeout) {
		t.Errorf("%v", err)
	}
	client.Timeout = 30 * time.Millisecond
	if _, err := client.Documents(t.Context(), []string{"hello"}); !errors.Is(err, endpoint.ErrTimeout) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Query(ctx, "hello"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	alone(t)
	if calls.Load() > 2 {
		t.Errorf("%d calls", calls.Load())
	}
}

func TestAnEndpointThatKeepsFailingIsNotAskedAnyMore(t *testing.T) {
	client, calls := at(t, firstly(3, status(500), vectors(2)))
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.Local)
	path := filepath.Join(t.TempDir(), "embeddings.json")
	client.Account = &endpoint.Account{Path: path, Now: func() time.Time { return now }}
	for range 3 {
		if _, err := client.Query(t.Context(), "hello"); err == nil {
			t.Error("no error")
		}
	}
	for range 10 {
		if _, err := client.Query(t.Context(), "hello"); !errors.Is(err, endpoint.ErrDown) {
			t.Errorf("%v", err)
		}
	}
	other, more := at(t, vectors(2)) // another process, by the same account
	other.BaseURL, other.Account = client.BaseURL, client.Account
	if _, err := other.Query(t.Context(), "hello"); !errors.Is(err, endpoint.ErrDown) || more.Load() != 0 {
		t.Errorf("%v", err)
	}
	if calls.Load() != 3 {
		t.Errorf("%d calls", calls.Load())
	}
	now = now.Add(2 * time.Minute)
	third, _ := at(t, vectors(2))
	third.BaseURL, third.Account = client.BaseURL, client.Account
	if _, err := third.Query(t.Context(), "hello"); err != nil {
		t.Errorf("after a rest: %v", err)
	}
}

func TestABudgetStopsTheDay(t *testing.T) {
	client, calls := at(t, vectors(2))
	client.Account = &endpoint.Account{DailyTokens: 25}
	for range 5 {
		client.Query(t.Context(), "hi")
	}
	if _, err := client.Query(t.Context(), "hi"); !errors.Is(err, endpoint.ErrBudget) {
		t.Errorf("%v", err)
	}
	if calls.Load() != 3 { // 10 tokens each, and one or two set aside before
		t.Errorf("%d calls", calls.Load())
	}
}

func TestDocumentsAreSentInPartsAndAgain(t *testing.T) {
	client, calls := at(t, firstly(1, status(503, "Retry-After", "0.01"), vectors(8)))
	client.Batch, client.DocumentPrefix = 3, "doc: "
	texts := []string{"a", "bb", "ccc", "dddd", "eeeee"}
	got, err := client.Documents(t.Context(), texts)
	if err != nil || len(got) != 5 {
		t.Fatalf("%d, %v", len(got), err)
	}
	for i, v := range got {
		if v[(len("doc: ")+len(texts[i]))%8] != 1 {
			t.Errorf("%d: %v", i, v)
		}
	}
	if calls.Load() != 3 {
		t.Errorf("%d calls", calls.Load())
	}
}

func TestVectorsOfAnotherLengthAreRefused(t *testing.T) {
	client, _ := at(t, firstly(1, vectors(4), vectors(5)))
	if _, err := client.Query(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Query(t.Context(), "two"); !errors.Is(err, endpoint.ErrAnswer) || !strings.Contains(err.Error(), "5 numbers where others have 4") {
		t.Errorf("%v", err)
	}
	mixed, _ := at(t, say(`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[1]}]}`))
	if _, err := mixed.Documents(t.Context(), []string{"a", "b"}); !errors.Is(err, endpoint.ErrAnswer) {
		t.Errorf("%v", err)
	}
}

func TestATextThatIsTooLongIsShortenedAlone(t *testing.T) {
	client, _ := at(t, func(w http.ResponseWriter, r *http.Request, n int, texts []string) {
		for _, text := range texts {
			if len(text) > 1000 || strings.Contains(text, "poison") {
				status(400)(w, r, n, texts)
				return
			}
		}
		vectors(4)(w, r, n, texts)
	})
	got, err := client.Documents(t.Context(), []string{"short", strings.Repeat("long ", 500), "also short", "poison"})
	if err != nil || len(got) != 4 || got[0] == nil || got[1] == nil || got[2] == nil || got[3] != nil {
		t.Errorf("%v, %v", got, err)
	}
	never, _ := at(t, status(400)) // everything is refused: that is no text's fault
	if got, err := never.Documents(t.Context(), []string{"short"}); err == nil {
		t.Errorf("%v", got)
	}
}

func TestTheKeyAndTheFieldsAreSent(t *testing.T) {
	var body map[string]any
	var header http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/embeddings" {
			t.Errorf("%s, %v", r.URL.Path, err)
		}
		fmt.Fprint(w, `{"data":[{"index":0,"embedding":[3,4]}]}`)
	}))
	defer srv.Close()
	c := &Client{Model: "m", BaseURL: srv.URL + "/v1/", APIKey: "k", Dimensions: 2, QueryPrefix: "q: "}
	v, err := c.Query(t.Context(), "<hello>")
	if err != nil || math.Abs(float64(v[0])-0.6) > 1e-6 {
		t.Fatalf("%v, %v", v, err)
	}
	if header.Get("Authorization") != "Bearer k" || body["model"] != "m" || body["dimensions"] != 2.0 || fmt.Sprint(body["input"]) != "[q: <hello>]" {
		t.Errorf("%v %v", header, body)
	}
	if (&Client{Model: "m"}).Name() == (&Client{Model: "m", Dimensions: 2}).Name() || (&Client{Model: "m"}).Name() == (&Client{Model: "m", DocumentPrefix: "x"}).Name() {
		t.Error("names do not tell models apart")
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"data":[{"index":0,"embedding":[1,2]}]}`, 1)
	f.Add(`{"data":[{"index":1,"embedding":[1]},{"index":0,"embedding":[2]}]}`, 2)
	f.Add(`{"data":[{"index":0,"embedding":[1e38,1e38]}]}`, 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		var a answer
		if n < 1 || n > 100 || json.Unmarshal([]byte(text), &a) != nil {
			return
		}
		got, err := (&Client{}).read(a, n)
		if err != nil {
			return
		}
		if len(got) != n {
			t.Fatalf("%d of %d", len(got), n)
		}
		for _, v := range got {
			sum := 0.0
			for _, x := range v {
				sum += float64(x) * float64(x)
			}
			if len(v) != len(got[0]) || !(math.Abs(sum-1) < 1e-3) {
				t.Fatalf("length %f of %v", sum, v)
			}
		}
	})
}
