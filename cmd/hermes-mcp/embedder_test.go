package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// embedderAt starts an endpoint for embeddings and names it in a config file:
// embedder CONFIG WORDS. In the file WORDS the words of a line mean the same;
// all others mean themselves. What is asked is kept in the file "embedded", one
// text a line. Where there is a file "mood", the endpoint does what it says: a
// status to answer, "nan" or "short".
func embedderAt(ts *testscript.TestScript, neg bool, args []string) {
	e := fakeEndpoint{same: map[string]string{}, log: ts.MkAbs("embedded"), mood: ts.MkAbs("mood"), fail: func(err error) { ts.Logf("fake endpoint: %v", err) }}
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		for _, w := range strings.Fields(line) {
			e.same[w] = strings.Fields(line)[0]
		}
	}
	srv := httptest.NewServer(&e)
	ts.Defer(srv.Close)
	ts.Setenv("ENDPOINT", srv.URL+"/v1")
	config := fmt.Sprintf("embeddings: {provider: openai, model: fake, base_url: %q, timeout: 30s}\n", srv.URL+"/v1")
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o700))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(config), 0o600))
}

type fakeEndpoint struct {
	mu        sync.Mutex
	same      map[string]string
	log, mood string
	fail      func(error)
}

func (e *fakeEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var asked struct {
		Model string
		Input []string
	}
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &asked)
	}
	if err != nil || r.URL.Path != "/v1/embeddings" || asked.Model == "" {
		e.fail(fmt.Errorf("%s: %s: %w", r.URL.Path, raw, err))
		w.WriteHeader(http.StatusNotFound)
		return
	}
	f, err := os.OpenFile(e.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		e.fail(err)
		return
	}
	defer f.Close()
	mood, err := os.ReadFile(e.mood)
	if err == nil && strings.HasPrefix(string(mood), "5") {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":{"message":"not today"}}`)
		return
	}
	var data []any
	for i, text := range asked.Input {
		fmt.Fprintln(f, strings.ReplaceAll(text, "\n", " "))
		data = append(data, map[string]any{"index": i, "embedding": e.vector(text)})
	}
	if strings.HasPrefix(string(mood), "nan") {
		fmt.Fprint(w, `{"data":[{"index":0,"embedding":[null,1]}]}`)
		return
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"data": data, "usage": map[string]any{"prompt_tokens": 7}}); err != nil {
		e.fail(err)
	}
}

func (e *fakeEndpoint) vector(text string) []float64 {
	v, sum := make([]float64, 128), 0.0
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if s, ok := e.same[word]; ok {
			word = s
		}
		h := fnv.New32a()
		h.Write([]byte(word))
		v[h.Sum32()%128]++
	}
	for _, x := range v {
		sum += x * x
	}
	for i := range v {
		v[i] /= math.Sqrt(math.Max(sum, 1e-9))
	}
	return v
}
