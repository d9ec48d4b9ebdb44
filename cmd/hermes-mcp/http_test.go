package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A site is a server over HTTP in this process.
type site struct {
	t     *testing.T
	url   string
	token string
	stop  context.CancelFunc
	code  chan int
}

// startSite waits for the line that says where the server listens.
func startSite(t *testing.T, home string, args ...string) *site {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	lines, stderr := io.Pipe()
	s := &site{t: t, stop: stop, code: make(chan int, 1)}
	go func() {
		s.code <- run(ctx, append([]string{"serve", "--home", home, "--addr", "127.0.0.1:0"}, args...), strings.NewReader(""), io.Discard, stderr)
		stderr.Close() //nolint:errcheck // a pipe's end
	}()
	scan := bufio.NewScanner(lines)
	for scan.Scan() {
		if _, rest, ok := strings.Cut(scan.Text(), "listening on "); ok {
			address, _, _ := strings.Cut(rest, ",")
			s.url = "http://" + address
			break
		}
	}
	if s.url == "" {
		t.Fatal("the server never said where it listens")
	}
	go io.Copy(io.Discard, lines) //nolint:errcheck // until the server ends
	token, err := os.ReadFile(filepath.Join(home, "mcp", "token"))
	if err != nil {
		t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(token))
	return s
}

// post sends one request and returns status, session and body.
func (s *site) post(session, body string) (int, string, []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("Mcp-Session-Id"), text
}

// end stops the server, which must end in order.
func (s *site) end() {
	s.t.Helper()
	s.stop()
	if code := <-s.code; code != 0 {
		s.t.Errorf("exit code %d", code)
	}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// call returns the text of a tool's result.
func (s *site) call(session, tool, args string) string {
	s.t.Helper()
	_, _, body := s.post(session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`}}`)
	if i := bytes.Index(body, []byte("data: ")); i >= 0 {
		body = body[i+len("data: "):]
	}
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(bytes.TrimSpace(body), &answer); err != nil || len(answer.Result.Content) == 0 {
		s.t.Fatalf("%s %s: %v: %s", tool, args, err, body)
	}
	return answer.Result.Content[0].Text
}

func TestTheMemoryIsServedOverHTTPToWhoHasTheToken(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	s := startSite(t, home, "--transport", "http")
	status, session, body := s.post("", hello)
	if status != http.StatusOK || session == "" || !bytes.Contains(body, []byte(`"hermes-mcp"`)) {
		t.Fatalf("initialize: %d %q %s", status, session, body)
	}
	if got := s.call(session, "memory", `{"action":"add","content":"uses Go"}`); !strings.Contains(got, `"success":true`) {
		t.Errorf("add: %s", got)
	}
	if got := s.call(session, "session_search", `{"query":"x","project":"current"}`); !strings.Contains(got, `"success":false`) || !strings.Contains(got, "project") {
		t.Errorf("a project over HTTP: %s", got)
	}
	history := string(hermes(t, home, "memory", "history", "--json"))
	if !strings.Contains(history, `"session":"http:`+session+`"`) {
		t.Errorf("the journal does not say which session: %s", history)
	}
	good := s.token
	s.token = strings.Repeat("x", len(good))
	if status, _, _ := s.post(session, hello); status != http.StatusUnauthorized {
		t.Errorf("with a wrong token: %d", status)
	}
	s.token = good
	s.end()

	// The same token and the same home after a restart.
	again := startSite(t, home, "--transport", "sse", "--read-only")
	if again.token != good {
		t.Error("the token changed")
	}
	if got := again.call(session, "memory", `{"action":"add","content":"x"}`); !strings.Contains(got, "read_only") {
		t.Errorf("add on a read-only server: %s", got)
	}
	again.end()
}

// Upstream #52900: over HTTP the token says who the user is.
func TestEachTokenOpensWhatIsItsUsers(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	anna, tom := strings.Repeat("a", 40), strings.Repeat("t", 40)
	if err := os.MkdirAll(filepath.Join(home, "mcp"), 0o700); err != nil {
		t.Fatal(err)
	}
	tokens := filepath.Join(home, "mcp", "tokens.yaml")
	if err := os.WriteFile(tokens, []byte("- {user: anna, token: "+anna+"}\n- {user: tom, token: "+tom+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startSite(t, home, "--transport", "http")
	owner := s.token
	as := func(token, tool, args string) string {
		s.token = token
		status, session, body := s.post("", hello)
		if status != http.StatusOK {
			t.Fatalf("initialize: %d %s", status, body)
		}
		return s.call(session, tool, args)
	}
	as(anna, "memory", `{"action":"add","target":"user","content":"is called Anna"}`)
	as(owner, "memory", `{"action":"add","target":"user","content":"is called Eva"}`)
	as(tom, "memory", `{"action":"add","content":"shared by all"}`)
	for token, want := range map[string][]string{anna: {"Anna", "shared"}, tom: {"shared"}, owner: {"Eva", "shared"}} {
		got := as(token, "memory", `{}`)
		for _, word := range []string{"Anna", "Eva", "shared"} {
			if has := strings.Contains(got, word); has != slices.Contains(want, word) {
				t.Errorf("%.3s… sees %s: %v: %s", token, word, has, got)
			}
		}
		_, session, _ := s.post("", hello)
		_, _, status := s.post(session, `{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"hermes://memory/live"}}`)
		if bytes.Contains(status, []byte("Anna")) != slices.Contains(want, "Anna") {
			t.Errorf("%.3s… is shown %s", token, status)
		}
	}
	s.end()

	if err := os.WriteFile(tokens, []byte("- {user: anna, token: short}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"serve", "--home", home, "--addr", "127.0.0.1:0", "--transport", "http"}, strings.NewReader(""), io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), "tokens.yaml, item 1") {
		t.Errorf("a bad token: %d %s", code, stderr.String())
	}
}

func TestATokenMayOpenAnotherProfileOrReadOnly(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	reader, work := strings.Repeat("r", 40), strings.Repeat("w", 40)
	for _, dir := range []string{"mcp", filepath.Join("profiles", "work")} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tokens := filepath.Join(home, "mcp", "tokens.yaml")
	if err := os.WriteFile(tokens, []byte("- {token: "+reader+", read_only: true}\n- {token: "+work+", profile: work}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startSite(t, home, "--transport", "http")
	owner := s.token
	as := func(token, args string) string {
		s.token = token
		status, session, body := s.post("", hello)
		if status != http.StatusOK {
			t.Fatalf("initialize: %d %s", status, body)
		}
		return s.call(session, "memory", args)
	}
	as(owner, `{"action":"add","content":"of the home"}`)
	as(work, `{"action":"add","content":"of the work"}`)
	if got := as(reader, `{"action":"add","content":"of a guest"}`); !strings.Contains(got, "read_only") {
		t.Errorf("a reader writes: %s", got)
	}
	for token, want := range map[string]string{owner: "of the home", reader: "of the home", work: "of the work"} {
		got := as(token, `{}`)
		if !strings.Contains(got, want) || strings.Count(got, `"text":"of `) != 1 {
			t.Errorf("%.3s… sees %s", token, got)
		}
	}
	s.end()
	if text, err := os.ReadFile(filepath.Join(home, "profiles", "work", "memories", "MEMORY.md")); err != nil || string(text) != "of the work" {
		t.Errorf("the profile's memory: %q %v", text, err)
	}

	for name, list := range map[string]string{
		"a key that is misspelt":     "- {token: " + work + ", readonly: true}",
		"the home's own token":       "- {token: " + owner + ", read_only: true}",
		"a token twice":              "- {token: " + work + "}\n- {token: " + work + ", read_only: true}",
		"a token that is short":      "- {token: abc}",
		"a token with a space in it": "- {token: " + strings.Repeat("a b", 20) + "}",
		"a user that is a path":      "- {token: " + work + ", user: ../x}",
		"a profile that is a path":   "- {token: " + work + ", profile: ../x}",
	} {
		if err := os.WriteFile(tokens, []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		if code := run(t.Context(), []string{"serve", "--home", home, "--addr", "127.0.0.1:0", "--transport", "http"}, strings.NewReader(""), io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), "tokens.yaml") {
			t.Errorf("%s: %d %s", name, code, stderr.String())
		}
	}
}

func TestATokenWhoseProfileIsNotThereIsTurnedAwayAlone(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	early := strings.Repeat("e", 40)
	if err := os.MkdirAll(filepath.Join(home, "mcp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "mcp", "tokens.yaml"), []byte("- {token: "+early+", profile: later}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{http.StatusForbidden, http.StatusOK} {
		s := startSite(t, home, "--transport", "http")
		if status, _, body := s.post("", hello); status != http.StatusOK {
			t.Errorf("the owner: %d %s", status, body)
		}
		s.token = early
		status, _, body := s.post("", hello)
		if status != want || status == http.StatusForbidden && !strings.Contains(string(body), "hermes-mcp --profile later memory list") {
			t.Errorf("status %d, want %d: %s", status, want, body)
		}
		s.end()
		hermes(t, home, "--profile", "later", "memory", "add", "made") // as it was told to
	}
}

func TestATokenOfTheEnvironmentThatWillNotDoIsNamed(t *testing.T) {
	for token, want := range map[string]string{
		"secret":                  "has 6 characters and needs at least 32",
		strings.Repeat("a b", 20): "has a space",
	} {
		t.Setenv("HERMES_MCP_TOKEN", token)
		var stderr bytes.Buffer
		code := run(t.Context(), []string{"serve", "--home", t.TempDir(), "--addr", "127.0.0.1:0", "--transport", "http"}, strings.NewReader(""), io.Discard, &stderr)
		if code != 2 || !strings.Contains(stderr.String(), want) || strings.Contains(stderr.String(), token) {
			t.Errorf("%q: %d %s", token, code, stderr.String())
		}
	}
}

func TestAnAuthorizationServerIsNamedToWhoHasNoToken(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	args := []string{"--transport", "http", "--authorization-server", "https://login.example.com"}
	var stderr bytes.Buffer
	if code := run(t.Context(), append([]string{"serve", "--home", home, "--addr", "127.0.0.1:0"}, args...), strings.NewReader(""), io.Discard, &stderr); code != 2 || !strings.Contains(stderr.String(), "http.subjects") {
		t.Errorf("without subjects: %d %s", code, stderr.String())
	}
	s := startSite(t, home, append(args, "--http-resource", "https://memory.example.com/mcp", "--http-subjects", "anna")...)
	res, err := http.Get(s.url + "/.well-known/oauth-protected-resource/mcp")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(`["https://login.example.com"]`)) {
		t.Errorf("metadata: %d %s %v", res.StatusCode, text, err)
	}
	s.end()
}
