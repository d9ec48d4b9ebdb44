package web

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/serve"
)

const token = "0123456789abcdefghijklmnopqrstuvwxyz"

// A site is an HTTP at work on loopback.
type site struct {
	t    testing.TB
	addr string
	url  string
	end  chan error
	stop context.CancelFunc
}

func (d *desk) site(t testing.TB, change func(*HTTP)) *site {
	t.Helper()
	h := &HTTP{Grants: []Grant{{Name: "owner", Token: token, Server: d.server()}}, SSE: true}
	if change != nil {
		change(h)
	}
	ln, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &site{t: t, addr: ln.Addr().String(), url: "http://" + ln.Addr().String(), end: make(chan error, 1), stop: stop}
	go func() { s.end <- h.Serve(ctx, ln) }()
	t.Cleanup(s.close)
	return s
}

// close stops the server, once.
func (s *site) close() {
	s.stop()
	if err, ok := <-s.end; ok {
		if err != nil {
			s.t.Errorf("Serve: %v", err)
		}
		close(s.end)
	}
}

// A reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) answer(t *testing.T) answer {
	t.Helper()
	return parseOne(t, strings.TrimRight(r.body, "\n")+"\n")
}

// send sends a request as a client with a good token would; headers given
// replace or, when empty, remove the usual ones.
func (s *site) send(method, path, body string, headers ...string) reply {
	s.t.Helper()
	r, err := s.try(method, path, body, headers...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

func (s *site) try(method, path, body string, headers ...string) (reply, error) {
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			req.Host = headers[i+1]
		case strings.HasPrefix(headers[i], "+"):
			req.Header.Add(headers[i][1:], headers[i+1])
		case headers[i+1] == "":
			req.Header.Del(headers[i])
		default:
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(b)}, err
}

const (
	legacyHello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1.2"}}}`
	modernHead  = "Mcp-Protocol-Version"
)

// hello begins a session and returns its id.
func (s *site) hello() string {
	s.t.Helper()
	r := s.send("POST", "/mcp", legacyHello)
	id := r.header.Get("Mcp-Session-Id")
	if r.status != 200 || !strings.HasPrefix(id, idPrefix) {
		s.t.Fatalf("initialize: %+v", r)
	}
	return id
}

// modernCall is a tool call of the era without sessions, with its headers.
func modernCall(id int, tool, text string) (body string, headers []string) {
	body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":%q},%s}}`, id, tool, text, modern)
	return body, []string{modernHead, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}
}

func TestBothErasWorkOverHTTP(t *testing.T) {
	d := &desk{}
	s := d.site(t, nil)
	id := s.hello()
	if r := s.send("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id); r.status != 202 {
		t.Errorf("initialized: %+v", r)
	}
	if a := s.send("POST", "/mcp", callLine(2, "who", ""), "Mcp-Session-Id", id).answer(t); a.text() != "tester 1.2" {
		t.Errorf("old era: %s", a.line)
	}
	body, headers := modernCall(3, "who", "")
	if a := s.send("POST", "/mcp", body, headers...).answer(t); a.text() != "moderner 3" {
		t.Errorf("new era: %s", a.line)
	}
	r := s.send("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+modern+`}}`, modernHead, "2026-07-28", "Mcp-Method", "server/discover")
	if a := r.answer(t); a.Result["instructions"] != "for moderner" || a.Result["cacheScope"] != "private" {
		t.Errorf("discover: %s", a.line)
	}
	for era, c := range map[string]struct {
		body, code string
		status     int
		headers    []string
	}{
		"old": {`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"hermes://gone"}}`, "-32002", 200, []string{"Mcp-Session-Id", id}},
		"new": {`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"hermes://gone",` + modern + `}}`, "-32602", 400,
			[]string{modernHead, "2026-07-28", "Mcp-Method", "resources/read", "Mcp-Name", "hermes://gone"}},
	} {
		if r := s.send("POST", "/mcp", c.body, c.headers...); r.status != c.status || !strings.Contains(r.body, `"code":`+c.code) {
			t.Errorf("a resource that is not there, %s era: %+v", era, r)
		}
	}
	if r := s.send("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+strings.Replace(modern, "2026-07-28", "2027-01-01", 1)+`}}`, modernHead, "2027-01-01"); r.status != 400 || !strings.Contains(r.body, "-32022") {
		t.Errorf("an unknown version: %+v", r)
	}
	if r := s.send("POST", "/mcp", callLine(2, "who", "")); r.status != 400 || !strings.Contains(r.body, "initialize first") {
		t.Errorf("a request without a session: %+v", r)
	}
}

// An attack must be refused with its status, without a star for other origins.
func TestStrangersAreKeptOut(t *testing.T) {
	d := &desk{}
	s := d.site(t, func(h *HTTP) { h.Origins = []string{"https://friend.example"} })
	write, modernHeaders := modernCall(1, "note", "from a stranger")
	with := func(more ...string) []string { return append(append([]string{}, modernHeaders...), more...) }
	id := s.hello()
	for name, c := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
	}{
		"another name, as by DNS rebinding":   {"POST", "/mcp", write, with("Host", "evil.example"), 403},
		"our name with another port":          {"POST", "/mcp", write, with("Host", "127.0.0.1:1"), 403},
		"our name within another":             {"POST", "/mcp", write, with("Host", "localhost.evil.example:80"), 403},
		"another origin":                      {"POST", "/mcp", write, with("Origin", "http://evil.example"), 403},
		"an origin that is null":              {"POST", "/mcp", write, with("Origin", "null"), 403},
		"our own address as origin":           {"POST", "/mcp", write, with("Origin", s.url), 403},
		"two origins":                         {"POST", "/mcp", write, with("Origin", "https://friend.example", "+Origin", "http://evil.example"), 400},
		"another origin on a stream":          {"GET", "/sse", "", []string{"Origin", "http://evil.example"}, 403},
		"another site without an origin":      {"GET", "/sse", "", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a preflight of another origin":       {"OPTIONS", "/mcp", "", []string{"Origin", "http://evil.example", "Authorization", ""}, 403},
		"no token":                            {"POST", "/mcp", write, with("Authorization", ""), 401},
		"a wrong token":                       {"POST", "/mcp", write, with("Authorization", "Bearer "+token[:35]), 401},
		"a token and more":                    {"POST", "/mcp", write, with("Authorization", "Bearer "+token+"x"), 401},
		"the token as a password":             {"POST", "/mcp", write, with("Authorization", "Basic "+token), 401},
		"the token in the address":            {"POST", "/mcp?token=" + token, write, with("Authorization", ""), 401},
		"two tokens":                          {"POST", "/mcp", write, with("+Authorization", "Bearer x"), 400},
		"a session id instead of a token":     {"POST", "/mcp", write, []string{"Authorization", "", "Mcp-Session-Id", id}, 401},
		"a form, as by a page":                {"POST", "/mcp", write, with("Content-Type", "text/plain"), 415},
		"no content type":                     {"POST", "/mcp", write, with("Content-Type", ""), 415},
		"two content types":                   {"POST", "/mcp", write, with("+Content-Type", "text/plain"), 400},
		"an encoded body":                     {"POST", "/mcp", write, with("Content-Encoding", "gzip"), 415},
		"a body that is too long":             {"POST", "/mcp", `{"x":"` + strings.Repeat("x", maxBody) + `"}`, modernHeaders, 413},
		"a session that was never issued":     {"POST", "/mcp", callLine(1, "note", "x"), []string{"Mcp-Session-Id", "mcp-session-6f1f6b0e-8a53-4b4e-9d3c-4a6f1f6b0e8a"}, 404},
		"a session that was made up":          {"POST", "/mcp", callLine(1, "note", "x"), []string{"Mcp-Session-Id", id[:len(id)-1] + "!"}, 404},
		"a session id that climbs":            {"POST", "/mcp", callLine(1, "note", "x"), []string{"Mcp-Session-Id", "../../token"}, 404},
		"two session ids":                     {"POST", "/mcp", callLine(1, "note", "x"), []string{"Mcp-Session-Id", id, "+Mcp-Session-Id", "x"}, 400},
		"the stream of a made up session":     {"GET", "/mcp", "", []string{"Mcp-Session-Id", "hm-x-y"}, 404},
		"a stream without a session":          {"GET", "/mcp", "", nil, 400},
		"a stream of the era without them":    {"GET", "/mcp", "", []string{modernHead, "2026-07-28"}, 405},
		"a body where there is none":          {"GET", "/mcp", "x", []string{"Mcp-Session-Id", id}, 400},
		"a header that differs from the body": {"POST", "/mcp", write, []string{modernHead, "2026-07-28", "Mcp-Method", "tools/list", "Mcp-Name", "note"}, 400},
		"a tool named otherwise in a header":  {"POST", "/mcp", write, []string{modernHead, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "look"}, 400},
		"a path that climbs":                  {"GET", "/mcp/../token", "", nil, 404},
		"another path":                        {"GET", "/token", "", nil, 404},
		"another method":                      {"PUT", "/mcp", write, modernHeaders, 405},
		"a stream by POST":                    {"POST", "/sse", "{}", nil, 405},
		"a message to no stream":              {"POST", "/message?sessionId=x", callLine(1, "note", "x"), nil, 404},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.send(c.method, c.path, c.body, c.headers...)
			if r.status != c.status {
				t.Errorf("status %d, want %d: %s", r.status, c.status, r.body)
			}
			if o := r.header.Get("Access-Control-Allow-Origin"); o == "*" || strings.Contains(o, "evil") {
				t.Errorf("allowed origin %q", o)
			}
			if r.status == 401 && !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Bearer ") {
				t.Errorf("headers: %v", r.header)
			}
		})
	}
	if len(d.written) != 0 {
		t.Errorf("a stranger wrote %q", d.written)
	}
	if a := s.send("POST", "/mcp", write, modernHeaders...).answer(t); a.text() != "from a stranger" {
		t.Errorf("the owner is kept out too: %s", a.line)
	}
	r := s.send("POST", "/mcp", write, with("Origin", "https://friend.example")...)
	if r.status != 200 || r.header.Get("Access-Control-Allow-Origin") != "https://friend.example" || r.header.Get("Vary") != "Origin" {
		t.Errorf("a friend: %+v", r)
	}
	if r := s.send("OPTIONS", "/mcp", "", "Origin", "https://friend.example", "Authorization", ""); r.status != 204 || !strings.Contains(r.header.Get("Access-Control-Allow-Headers"), "Mcp-Session-Id") {
		t.Errorf("a friend's preflight: %+v", r)
	}
}

func TestHeadersThatDoNotEndAreGivenUp(t *testing.T) {
	s := (&desk{}).site(t, nil)
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// One byte after the other would be answered as long; 64 KiB and some end it.
	if _, err := io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: "+s.addr+"\r\n"); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := fmt.Fprintf(c, "X-Slow: %s\r\n", strings.Repeat("x", 1000)); err != nil {
			break
		}
	}
	line, _ := bufio.NewReader(c).ReadString('\n')
	if line != "" && !strings.Contains(line, "431") {
		t.Errorf("answered %q", line)
	}
	if r := s.send("POST", "/mcp", legacyHello); r.status != 200 {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestABodyThatDoesNotArriveHoldsNobody(t *testing.T) {
	s := (&desk{}).site(t, func(h *HTTP) { h.Body = 50 * time.Millisecond })
	for name, test := range map[string]struct{ method, headers, want string }{
		"a stranger's":             {"POST", "", "401"},
		"with the token":           {"POST", "Authorization: Bearer " + token + "\r\nContent-Type: application/json\r\n", "408"},
		"of no JSON":               {"POST", "Authorization: Bearer " + token + "\r\nContent-Type: text/plain\r\n", "415"},
		"another page's":           {"POST", "Origin: http://evil.example\r\n", "403"},
		"of a request without one": {"DELETE", "Authorization: Bearer " + token + "\r\n", "400"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := fmt.Fprintf(c, "%s /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n%s\r\n{", test.method, s.addr, test.headers); err != nil {
				t.Fatal(err)
			}
			// The answer, and then the end: the client gets no second try.
			said, err := io.ReadAll(c)
			if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 "+test.want) {
				t.Errorf("%q, %v", said, err)
			}
		})
	}
	s.hello()
	http.DefaultClient.CloseIdleConnections()
	s.close()
	noneLeft(t)
}

func TestAClientThatTakesNoAnswerIsLetGo(t *testing.T) {
	s := (&desk{}).site(t, func(h *HTTP) { h.Answer = 50 * time.Millisecond })
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body, _ := modernCall(1, "look", strings.Repeat("x", 10_000))
	request := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: look\r\nContent-Length: %d\r\n\r\n%s", s.addr, token, len(body), body)
	// The server lets go of the connection; a test that waits this long has failed.
	if err := c.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = io.WriteString(c, request)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server waits for a client that reads nothing")
	}
	s.close()
	noneLeft(t)
}

func TestASessionIsRevivedAfterARestartUnlessItsClientEndedIt(t *testing.T) {
	ended := filepath.Join(t.TempDir(), "ended")
	d := &desk{}
	s := d.site(t, func(h *HTTP) { h.Ended = ended })
	kept, dropped := s.hello(), s.hello()
	if r := s.send("DELETE", "/mcp", "", "Mcp-Session-Id", dropped); r.status != 200 {
		t.Fatalf("delete: %+v", r)
	}
	call := func(id string) int {
		return s.send("POST", "/mcp", callLine(1, "look", "x"), "Mcp-Session-Id", id).status
	}
	if a, b := call(kept), call(dropped); a != 200 || b != 404 {
		t.Errorf("before: kept %d, dropped %d", a, b)
	}
	s.close()
	s = d.site(t, func(h *HTTP) { h.Ended = ended })
	if a, b := call(kept), call(dropped); a != 200 || b != 404 {
		t.Errorf("after a restart: kept %d, dropped %d", a, b)
	}
	other := "another token of more than 32 characters"
	s = d.site(t, func(h *HTTP) { h.Grants[0].Token = other })
	if r := s.send("POST", "/mcp", callLine(1, "look", "x"), "Mcp-Session-Id", kept, "Authorization", "Bearer "+other); r.status != 404 {
		t.Errorf("with another token: %+v", r)
	}
}

func TestEveryClientHasASessionOfItsOwn(t *testing.T) {
	asked := make(chan string, 100)
	s := server.NewMCPServer("x", "1")
	s.AddTool(mcp.NewTool("where"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		asked <- Session(ctx)
		return mcp.NewToolResultText(Session(ctx)), nil
	})
	other := "another token of more than 32 characters"
	site := (&desk{}).site(t, func(h *HTTP) {
		h.Grants = []Grant{{Name: "a", Token: token, Server: s}, {Name: "b", Token: other, Server: s}}
	})
	legacy := func(id string) string {
		return site.send("POST", "/mcp", callLine(1, "where", ""), "Mcp-Session-Id", id).answer(t).text()
	}
	one, two := site.hello(), site.hello()
	if got := legacy(one); got != "http:"+one || legacy(one) != got || legacy(two) != "http:"+two {
		t.Errorf("sessions: %q", got)
	}
	guest := func(name, token string) string {
		body, headers := modernCall(1, "where", "")
		return site.send("POST", "/mcp", strings.Replace(body, "moderner", name, 1), append(headers, "Authorization", "Bearer "+token)...).answer(t).text()
	}
	a := guest("cursor", token)
	if !strings.HasPrefix(a, "http:guest-") || guest("cursor", token) != a || guest("codex", token) == a || guest("cursor", other) == a {
		t.Errorf("guest: %q", a)
	}
	var out bytes.Buffer
	if err := serve.Stdio(t.Context(), s, strings.NewReader(callLine(1, "where", "")), &out); err != nil || parseOne(t, out.String()).text() != "" {
		t.Errorf("over stdio: %q %v", out.String(), err)
	}
}

func TestSilenceDropsTheStateOfASessionAndAGuestBeginsAnew(t *testing.T) {
	g := &grant{Grant: Grant{Name: "a", Token: token}}
	past, err := openEnded("")
	if err != nil {
		t.Fatal(err)
	}
	s := newSessions(30*time.Minute, 3, past)
	now := time.Now()
	for i := range 5 {
		s.use(fmt.Sprint("s", i), g)()
		s.all[fmt.Sprint("s", i)].last = now.Add(time.Duration(i) * time.Minute)
	}
	s.all["s0"].open = 1
	stale := s.stale(now.Add(10 * time.Minute))
	if len(stale) != 2 || stale["s1"] == nil || stale["s2"] == nil {
		t.Errorf("too many: %v", stale)
	}
	if stale := s.stale(now.Add(33*time.Minute + 30*time.Second)); len(stale) != 1 || stale["s3"] == nil {
		t.Errorf("silent: %v", stale)
	}
	first := s.guest("a", "cursor", now)
	if s.guest("a", "cursor", now.Add(29*time.Minute)) != first || s.guest("a", "cursor", now.Add(60*time.Minute)) == first {
		t.Error("a guest's session must end with silence")
	}
	long := s.guest("a", "codex", now)
	at := now
	for range 12 * 3 {
		at = at.Add(20 * time.Minute)
		if got := s.guest("a", "codex", at); (got == long) != (at.Sub(now) < 12*time.Hour) {
			t.Fatalf("after %v: %v", at.Sub(now), got == long)
		}
	}
	for i := range 20 {
		s.guest("a", fmt.Sprint(i), now)
	}
	if len(s.guests) > 3 {
		t.Errorf("%d guests are kept", len(s.guests))
	}
}

func TestTenThousandSessionsAreHeldAsFew(t *testing.T) {
	d := &desk{}
	s := d.site(t, func(h *HTTP) { h.Max = 20 })
	var ids []string
	for range 200 {
		ids = append(ids, s.hello())
	}
	for _, id := range []string{ids[0], ids[199]} {
		if r := s.send("POST", "/mcp", callLine(1, "look", "x"), "Mcp-Session-Id", id); r.status != 200 {
			t.Errorf("session %s: %+v", id, r)
		}
	}
}

// An ear listens to an SSE stream.
type ear struct {
	t    testing.TB
	r    *bufio.Reader
	body io.Closer
}

func (s *site) listen(headers ...string) *ear {
	s.t.Helper()
	req, err := http.NewRequest("GET", s.url+"/sse", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("sse: %v %v", res, err)
	}
	return &ear{s.t, bufio.NewReader(res.Body), res.Body}
}

// hear returns the next event's name and data.
func (e *ear) hear() (event, data string) {
	e.t.Helper()
	for {
		l, err := e.r.ReadString('\n')
		if err != nil {
			e.t.Fatalf("sse: %v", err)
		}
		l = strings.TrimSuffix(l, "\n")
		switch {
		case strings.HasPrefix(l, "event: "):
			event = l[7:]
		case strings.HasPrefix(l, "data: "):
			data = l[6:]
		case l == "" && event != "":
			return event, data
		}
	}
}

func TestSSEKeepsTheOrderOfWritesAndServesBothEras(t *testing.T) {
	d := &desk{}
	s := d.site(t, nil)
	e := s.listen()
	defer e.body.Close()
	event, path := e.hear()
	if event != "endpoint" || !strings.HasPrefix(path, "/message?sessionId=sse-") {
		t.Fatalf("%s %s", event, path)
	}
	if r := s.send("POST", path, strings.ReplaceAll(legacyHello, ",", ",\n")); r.status != 202 {
		t.Fatalf("initialize: %+v", r)
	}
	if _, data := e.hear(); !strings.Contains(data, `"instructions":"for tester"`) {
		t.Errorf("initialize: %s", data)
	}
	for i := range 20 {
		if r := s.send("POST", path, callLine(i, "note", fmt.Sprint(i))); r.status != 202 {
			t.Fatalf("call %d: %+v", i, r)
		}
	}
	for i := range 20 {
		if _, data := e.hear(); parseOne(t, data+"\n").text() != fmt.Sprint(i) {
			t.Errorf("answer %d: %s", i, data)
		}
	}
	if r := s.send("POST", path, "  "); r.status != 400 {
		t.Errorf("empty: %+v", r)
	}
	if r := s.send("POST", path, "{torn"); r.status != 202 {
		t.Errorf("torn: %+v", r)
	}
	if _, data := e.hear(); !strings.Contains(data, "-32700") {
		t.Errorf("torn: %s", data)
	}
	if r := s.send("POST", path, strings.Replace(callLine(77, "note", "café"), "é", "\xe9", 1)); r.status != 202 {
		t.Errorf("not UTF-8: %+v", r)
	}
	if _, data := e.hear(); !strings.Contains(data, `"id":77,"error":{"code":-32700,"message":"the message is not UTF-8`) {
		t.Errorf("not UTF-8: %s", data)
	}
	if r := s.send("POST", path, callLine(1, "note", "x"), "Authorization", ""); r.status != 401 {
		t.Errorf("with the session id alone: %+v", r)
	}
	off := (&desk{}).site(t, func(h *HTTP) { h.SSE = false })
	if r := off.send("GET", "/sse", ""); r.status != 404 {
		t.Errorf("not asked for: %+v", r)
	}
}

func TestStoppingFinishesWhatRunsAndLeavesNothing(t *testing.T) {
	d := &desk{begun: make(chan string, 4), release: make(chan struct{})}
	s := d.site(t, nil)
	e := s.listen()
	_, path := e.hear()
	s.send("POST", path, callLine(1, "note", "by sse"))
	<-d.begun
	id := s.hello()
	stream := make(chan error, 1)
	go func() {
		_, err := s.try("GET", "/mcp", "", "Mcp-Session-Id", id)
		stream <- err
	}()
	call := make(chan reply, 1)
	go func() {
		r, err := s.try("POST", "/mcp", callLine(2, "note", "by http"), "Mcp-Session-Id", id)
		if err != nil {
			t.Error(err)
		}
		call <- r
	}()
	<-d.begun
	s.stop()
	close(d.release)
	if r := <-call; r.status != 200 || r.answer(t).text() != "by http" {
		t.Errorf("by http: %+v", r)
	}
	if _, data := e.hear(); parseOne(t, data+"\n").text() != "by sse" {
		t.Errorf("by sse: %s", data)
	}
	s.close()
	<-stream
	e.body.Close()
	if len(d.written) != 2 {
		t.Errorf("written: %q", d.written)
	}
	http.DefaultClient.CloseIdleConnections()
	noneLeft(t)
}

// noneLeft waits until no goroutine of the server is left.
func noneLeft(t *testing.T) {
	t.Helper()
	var stacks []byte
	for range 200 {
		stacks = make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left := 0
		for g := range bytes.SplitSeq(stacks, []byte("\n\n")) {
			if bytes.Contains(g, []byte("hermes-mcp/serve")) && !bytes.Contains(g, []byte("testing.tRunner")) || bytes.Contains(g, []byte("mcp-go")) {
				left++
			}
		}
		if left == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("goroutines are left:\n%s", stacks)
}

func TestManyClientsOfWhichSomeLeaveLoseNoAcknowledgedWrite(t *testing.T) {
	d := &desk{}
	s := d.site(t, nil)
	var acked sync.Map
	var clients sync.WaitGroup
	for c := range 50 {
		clients.Go(func() {
			id := ""
			if r, err := s.try("POST", "/mcp", legacyHello); err == nil {
				id = r.header.Get("Mcp-Session-Id")
			}
			for i := range 200 {
				text := fmt.Sprintf("%d-%d", c, i)
				if c%5 == 0 && i == 100 { // leaves in the middle of a call
					ctx, cancel := context.WithCancel(context.Background())
					req, err := http.NewRequestWithContext(ctx, "POST", s.url+"/mcp", strings.NewReader(callLine(i, "note", text)))
					if err != nil {
						t.Error(err)
					}
					req.Header.Set("Authorization", "Bearer "+token)
					req.Header.Set("Content-Type", "application/json")
					req.Header.Set("Mcp-Session-Id", id)
					go cancel()
					if res, err := http.DefaultClient.Do(req); err == nil {
						res.Body.Close()
					}
					return
				}
				tool := []string{"note", "look"}[i%2]
				r, err := s.try("POST", "/mcp", callLine(i, tool, text), "Mcp-Session-Id", id)
				if err != nil || r.status != 200 {
					t.Errorf("%s: %+v %v", text, r, err)
					return
				}
				if tool == "note" {
					acked.Store(text, true)
				}
			}
		})
	}
	clients.Wait()
	s.close()
	http.DefaultClient.CloseIdleConnections()
	written := map[string]int{}
	for _, w := range d.written {
		written[w]++
	}
	acked.Range(func(text, _ any) bool {
		if written[text.(string)] != 1 {
			t.Errorf("%v was acknowledged and written %d times", text, written[text.(string)])
		}
		return true
	})
	noneLeft(t)
}

func TestGrantsThatLetAnybodyInAreRefused(t *testing.T) {
	s := (&desk{}).server()
	for name, grants := range map[string][]Grant{
		"none":         nil,
		"no token":     {{Name: "a", Server: s}},
		"a short one":  {{Name: "a", Token: "short", Server: s}},
		"no server":    {{Name: "a", Token: token}},
		"a name twice": {{Name: "a", Token: token, Server: s}, {Name: "a", Token: token + "2", Server: s}},
	} {
		ln, err := Listen(t.Context(), "127.0.0.1:0", false)
		if err != nil {
			t.Fatal(err)
		}
		if err := (&HTTP{Grants: grants}).Serve(t.Context(), ln); !errors.Is(err, ErrToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAClosedDoorSaysWhyToWhoHasItsTokenOnly(t *testing.T) {
	other := strings.Repeat("o", 40)
	s := (&desk{}).site(t, func(h *HTTP) {
		h.Grants = append(h.Grants, Grant{Name: "other", Token: other, Closed: "not made yet"})
	})
	if r := s.send("POST", "/mcp", legacyHello, "Authorization", "Bearer "+other); r.status != 403 || r.body != "not made yet\n" {
		t.Errorf("with its token: %+v", r)
	}
	if r := s.send("POST", "/mcp", legacyHello, "Authorization", "Bearer "+other+"x"); r.status != 401 || strings.Contains(r.body, "made yet") {
		t.Errorf("with another: %+v", r)
	}
	s.hello() // the others are served
}

func TestListenStaysOnThisMachine(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0"} {
		if ln, err := Listen(t.Context(), addr, false); !errors.Is(err, ErrOpen) {
			t.Errorf("%s: %v %v", addr, ln, err)
		}
	}
	if ln, err := Listen(t.Context(), "nonsense", false); err == nil {
		t.Errorf("nonsense: %v", ln)
	}
	path := filepath.Join(t.TempDir(), "s")
	for range 2 { // the second time over what a dead server left
		ln, err := Listen(t.Context(), "unix:"+path, false)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("socket: %v %v", info.Mode(), err)
		}
		if second, err := Listen(t.Context(), "unix:"+path, false); err == nil {
			t.Errorf("two servers on one socket: %v", second)
		}
		ln.(*net.UnixListener).SetUnlinkOnClose(false)
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path+"f", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if ln, err := Listen(t.Context(), "unix:"+path+"f", false); err == nil {
		t.Errorf("over a file: %v", ln)
	}
}

func TestAUnixSocketServesWhoHasTheToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := Listen(t.Context(), "unix:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	end := make(chan error, 1)
	h := &HTTP{Grants: []Grant{{Name: "a", Token: token, Server: (&desk{}).server()}}}
	go func() { end <- h.Serve(ctx, ln) }()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}}
	req, err := http.NewRequest("POST", "http://localhost/mcp", strings.NewReader(legacyHello))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for auth, want := range map[string]int{"": 401, "Bearer " + token: 200} {
		req.Header.Set("Authorization", auth)
		req.Body = io.NopCloser(strings.NewReader(legacyHello))
		res, err := client.Do(req)
		if err != nil || res.StatusCode != want {
			t.Fatalf("%q: %v %v", auth, res, err)
		}
		res.Body.Close()
	}
	client.CloseIdleConnections()
	stop()
	if err := <-end; err != nil {
		t.Error(err)
	}
}

func TestTheTokenIsMadeOnceAndKeptFromOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp", "token")
	got := make([]string, 8)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() {
			var err error
			if got[i], err = Token(path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, g := range got {
		if g != got[0] || len(g) < 32 {
			t.Fatalf("tokens: %q", got)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != got[0]+"\n" {
		t.Errorf("file: %q %v", text, err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("files: %v", files)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if again, err := Token(path); err != nil || again != got[0] {
		t.Errorf("again: %q %v", again, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("rights: %v %v", info.Mode(), err)
	}
	for _, bad := range []string{"", "short\n", token + "\n" + token + "\n"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Token(path); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}

func TestEndedSessionsAreRememberedUpToANumber(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ended")
	var text strings.Builder
	for i := range 2*maxEnded + 5 {
		fmt.Fprintf(&text, "hm-%d\n", i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := openEnded(path)
	if err != nil || e.has("hm-4") || !e.has(fmt.Sprintf("hm-%d", 2*maxEnded)) || len(e.ids) != maxEnded {
		t.Fatalf("%d ids, %v", len(e.ids), err)
	}
	if err := e.add("hm-new"); err != nil {
		t.Fatal(err)
	}
	cut, err := os.ReadFile(path)
	if err != nil || bytes.Count(cut, []byte("\n")) != maxEnded+1 || !bytes.HasSuffix(cut, []byte("\nhm-new\n")) {
		t.Errorf("file of %d lines, %v", bytes.Count(cut, []byte("\n")), err)
	}
}

func FuzzGuard(f *testing.F) {
	d := &desk{}
	h := &HTTP{Grants: []Grant{{Name: "a", Token: token, Server: d.server()}}, SSE: false}
	doors, err := h.doors(context.Background(), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("POST", "/mcp", "localhost", "", "Bearer x", "hm-a-b", []byte(callLine(1, "note", "x")))
	f.Add("GET", "/mcp", "127.0.0.1:80", "null", "Bearer "+token[1:], "", []byte(nil))
	f.Fuzz(func(t *testing.T, method, path, host, origin, auth, session string, body []byte) {
		req, err := http.NewRequest(method, "http://localhost/", bytes.NewReader(body))
		if err != nil {
			return
		}
		req.URL.Path, req.Host = path, host
		req.Header = http.Header{"Content-Type": {"application/json"}, "Origin": {origin}, "Authorization": {auth}, "Mcp-Session-Id": {session}}
		if auth == "Bearer "+token {
			return
		}
		w := &recorder{}
		doors.ServeHTTP(w, req)
		if w.status < 400 && method != http.MethodOptions || w.status < 100 || len(d.written) > 0 {
			t.Errorf("%s %s from %q: %d", method, path, origin, w.status)
		}
	})
}

type recorder struct {
	nobody
	status int
}

func (r *recorder) WriteHeader(status int) { r.status = status }
