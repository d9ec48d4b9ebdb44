package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/serve/wire"
)

// A desk is a server with a tool that writes, one that reads, and one that is
// broken. It keeps what was written, in order.
type desk struct {
	mu      sync.Mutex
	written []string
	begun   chan string   // told of every write that begins, when not nil
	release chan struct{} // every write waits for it, when not nil
	reading chan struct{} // reads wait for it, when not nil
	bugs    []string
	done    []string
}

func (d *desk) server() *server.MCPServer {
	text := func(req mcp.CallToolRequest) string { return req.GetString("text", "") }
	tool := func(name string, reads bool, h server.ToolHandlerFunc) server.ServerTool {
		return server.ServerTool{Tool: mcp.NewTool(name, mcp.WithReadOnlyHintAnnotation(reads)), Handler: h}
	}
	return New(Parts{
		Name: "hermes-mcp", Version: "0.0.0-test",
		Tools: []server.ServerTool{
			tool("note", false, func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if d.begun != nil {
					d.begun <- text(req)
				}
				if d.release != nil {
					<-d.release
				}
				d.mu.Lock()
				defer d.mu.Unlock()
				d.written = append(d.written, text(req))
				return mcp.NewToolResultText(text(req)), nil
			}),
			tool("look", true, func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if d.reading != nil {
					select {
					case <-d.reading:
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
				return mcp.NewToolResultText(text(req)), nil
			}),
			tool("who", true, func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				name, version := ClientName(ctx)
				return mcp.NewToolResultText(name + " " + version), nil
			}),
			tool("panic", true, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				panic("secret detail")
			}),
			tool("fail", false, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, errors.New("secret detail")
			}),
		},
		Resources: []server.ServerResource{{
			Resource: mcp.NewResource("hermes://gone", "gone"),
			Handler: func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return nil, fmt.Errorf("session: %w", server.ErrResourceNotFound)
			},
		}},
		Instructions: func(_ context.Context, client string) string { return "for " + client },
		Done: func(tool string, failed bool, _ float64) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.done = append(d.done, fmt.Sprint(tool, " ", failed))
		},
		Bug: func(where string, err error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.bugs = append(d.bugs, where+": "+err.Error())
		},
	})
}

// serveAll sends in at once and returns every answer line.
func serveAll(t *testing.T, s *server.MCPServer, in string) []answer {
	t.Helper()
	var out bytes.Buffer
	if err := Stdio(t.Context(), s, strings.NewReader(in), &out); err != nil {
		t.Fatalf("Stdio: %v", err)
	}
	return parseAll(t, out.String())
}

type answer struct {
	JSONRPC string
	ID      json.RawMessage
	Method  string
	Params  map[string]any
	Result  map[string]any
	Error   *struct {
		Code    int
		Message string
	}
	line string
}

func (a answer) text() string {
	content, _ := a.Result["content"].([]any)
	if len(content) == 0 {
		return ""
	}
	s, _ := content[0].(map[string]any)["text"].(string)
	return s
}

func parseAll(t *testing.T, out string) []answer {
	t.Helper()
	var all []answer
	for l := range strings.Lines(out) {
		all = append(all, parseOne(t, l))
	}
	return all
}

func parseOne(t *testing.T, line string) answer {
	t.Helper()
	a := answer{line: line}
	if err := json.Unmarshal([]byte(line), &a); err != nil || a.JSONRPC != "2.0" || !strings.HasSuffix(line, "\n") {
		t.Fatalf("not a JSON-RPC line: %q (%v)", line, err)
	}
	return a
}

func callLine(id any, tool, text string) string {
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": map[string]any{"text": text}}})
	return string(b) + "\n"
}

const (
	hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1.2"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"moderner","version":"3"}}`
)

func TestPipelinedWritesAreAnsweredInOrderAlthoughTheInputEndsAtOnce(t *testing.T) {
	d := &desk{}
	in := hello
	for i := range 30 {
		in += callLine(i, "note", strconv.Itoa(i))
	}
	got := serveAll(t, d.server(), strings.TrimSuffix(in, "\n"))
	if len(got) != 31 || len(d.written) != 30 {
		t.Fatalf("%d answers, %d writes", len(got), len(d.written))
	}
	for i, a := range got[1:] {
		if string(a.ID) != strconv.Itoa(i) || a.text() != strconv.Itoa(i) || d.written[i] != strconv.Itoa(i) {
			t.Errorf("place %d holds answer %s, write %s", i, a.ID, d.written[i])
		}
	}
}

func TestWritesKeepTheirOrderAmongReadsWhateverTheMix(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := &desk{}
		var in strings.Builder
		var want []string
		n := rng.IntN(200)
		for i := range n {
			if rng.IntN(2) == 0 {
				in.WriteString(callLine(i, "look", "x"))
				continue
			}
			want = append(want, strconv.Itoa(i))
			in.WriteString(callLine(i, "note", strconv.Itoa(i)))
		}
		got := serveAll(t, d.server(), in.String())
		var order []string
		seen := map[string]int{}
		for _, a := range got {
			seen[string(a.ID)]++
			if slices.Contains(want, string(a.ID)) {
				order = append(order, string(a.ID))
			}
		}
		if len(got) != n || len(seen) != n || !slices.Equal(order, want) || !slices.Equal(d.written, want) {
			t.Fatalf("seed %d: %d answers of %d, order %v, written %v, want %v", seed, len(got), n, order, d.written, want)
		}
	}
}

// A peer is a client over pipes, for talk that goes to and fro.
type peer struct {
	t    *testing.T
	w    *io.PipeWriter
	r    *bufio.Reader
	end  chan error
	stop context.CancelFunc
}

func dial(t *testing.T, s *server.MCPServer) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	p := &peer{t: t, w: inW, r: bufio.NewReader(outR), end: make(chan error, 1), stop: stop}
	go func() {
		err := Stdio(ctx, s, inR, outW)
		outW.Close()
		p.end <- err
	}()
	return p
}

func (p *peer) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.w, line); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) hear() answer {
	p.t.Helper()
	l, err := p.r.ReadString('\n')
	if err != nil {
		p.t.Fatalf("hear: %v", err)
	}
	return parseOne(p.t, l)
}

// rest closes the input and returns what still comes.
func (p *peer) rest() []answer {
	p.t.Helper()
	p.w.Close()
	b, err := io.ReadAll(p.r)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := <-p.end; err != nil {
		p.t.Fatalf("Stdio: %v", err)
	}
	p.stop()
	return parseAll(p.t, string(b))
}

func TestASearchRunsBesideAWriteThatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{begun: make(chan string, 1), release: make(chan struct{})}
		p := dial(t, d.server())
		p.say(callLine(1, "note", "slow"))
		<-d.begun
		p.say(callLine(2, "look", "quick"))
		if a := p.hear(); string(a.ID) != "2" {
			t.Errorf("first answer is %s", a.ID)
		}
		p.say(`{"jsonrpc":"2.0","id":3,"method":"ping"}` + "\n")
		if a := p.hear(); string(a.ID) != "3" {
			t.Errorf("second answer is %s", a.ID)
		}
		close(d.release)
		if a := p.hear(); string(a.ID) != "1" {
			t.Errorf("third answer is %s", a.ID)
		}
		if left := p.rest(); len(left) != 0 {
			t.Errorf("left over: %v", left)
		}
	})
}

func TestACancelledRequestIsNotAnsweredButABegunWriteCompletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{begun: make(chan string, 1), release: make(chan struct{}), reading: make(chan struct{})}
		p := dial(t, d.server())
		p.say(callLine("a", "note", "begun"))
		<-d.begun
		p.say(callLine(2, "note", "queued"))
		p.say(callLine(3, "look", "never"))
		for _, id := range []string{`"\u0061"`, "2", "3", "99"} {
			p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + "}}\n")
		}
		p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":"nonsense"}` + "\n")
		p.say(`{"jsonrpc":"2.0","id":4,"method":"ping"}` + "\n")
		if a := p.hear(); string(a.ID) != "4" {
			t.Errorf("answered %s", a.ID)
		}
		close(d.release)
		if left := p.rest(); len(left) != 0 {
			t.Errorf("answered after cancel: %v", left)
		}
		if !slices.Equal(d.written, []string{"begun"}) {
			t.Errorf("written: %v", d.written)
		}
	})
}

func TestBeingToldToStopAnswersWhatWasReadAndLeavesNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{begun: make(chan string, 40), release: make(chan struct{})}
		p := dial(t, d.server())
		for i := range 30 {
			p.say(callLine(i, "note", strconv.Itoa(i)))
		}
		synctest.Wait()
		p.stop()
		close(d.release)
		for i := range 30 {
			if a := p.hear(); string(a.ID) != strconv.Itoa(i) {
				t.Errorf("answer %d is %s", i, a.ID)
			}
		}
		if err := <-p.end; err != nil {
			t.Error(err)
		}
		p.w.Close()
	})
}

func TestALineThatIsTooLongIsRefusedAndTheNextIsServed(t *testing.T) {
	huge := strings.Repeat("x", 9<<20)
	for name, c := range map[string]struct{ line, id string }{
		"id before the text":  {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"note","id":1,"arguments":{"text":"` + huge + `"}}}`, "7"},
		"id after the text":   {`{"method":"tools/call","params":{"id":[1,{"id":2}],"x":"id","text":"` + huge + `\"","b":"{"},"jsonrpc":"2.0","id":"se\"ven"}`, `"se\"ven"`},
		"id last of all":      {`{"params":{"text":"` + huge + `"},"id":-1.5}`, "-1.5"},
		"no id":               {`{"params":{"id":"` + huge + `"}}`, "null"},
		"an id of many bytes": {`{"id":"` + huge + `"}`, "null"},
		"an id that is null":  {`{"id":null,"x":"` + huge + `"}`, "null"},
		"not JSON":            {huge + huge + huge, "null"},
	} {
		t.Run(name, func(t *testing.T) {
			got := serveAll(t, (&desk{}).server(), c.line+"\n"+callLine(8, "look", "next"))
			if len(got) != 2 {
				t.Fatalf("%d answers", len(got))
			}
			if string(got[0].ID) != c.id || got[0].Error == nil || got[0].Error.Code != mcp.INVALID_REQUEST || !strings.Contains(got[0].Error.Message, "8 MiB") {
				t.Errorf("answer to the long line: %s", got[0].line)
			}
			if got[1].text() != "next" {
				t.Errorf("next line: %s", got[1].line)
			}
		})
	}
}

// A flood is n bytes of the letter x.
type flood struct{ n int }

func (f *flood) Read(p []byte) (int, error) {
	if f.n == 0 {
		return 0, io.EOF
	}
	n := min(len(p), f.n)
	for i := range p[:n] {
		p[i] = 'x'
	}
	f.n -= n
	return n, nil
}

func TestALineWithoutEndIsNotHeldInMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var out bytes.Buffer
	in := io.MultiReader(strings.NewReader(`{"id":7,"x":"`), &flood{100 << 20}, strings.NewReader("\n"+callLine(8, "look", "next")))
	if err := Stdio(t.Context(), (&desk{}).server(), in, &out); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	// All that is ever allocated for it is the growing of one buffer to 8 MiB.
	if got := after.TotalAlloc - before.TotalAlloc; got > 100<<20 {
		t.Errorf("allocated %d bytes", got)
	}
	if got := parseAll(t, out.String()); len(got) != 2 || string(got[0].ID) != "7" || got[1].text() != "next" {
		t.Errorf("answers: %s", out.String())
	}
}

func TestALineOfAlmostEightMebibytesIsServed(t *testing.T) {
	l := callLine(1, "look", "")
	l = callLine(1, "look", strings.Repeat("y", wire.MaxLine+1-len(l)))
	if len(l) != wire.MaxLine+1 {
		t.Fatalf("line has %d bytes", len(l))
	}
	if got := serveAll(t, (&desk{}).server(), l); len(got) != 1 || len(got[0].text()) < wire.MaxLine-200 {
		t.Fatalf("answers: %d", len(got))
	}
}

func TestOddLinesAreAnsweredForWhatTheyAre(t *testing.T) {
	for name, c := range map[string]struct {
		line, id string
		code     int
	}{
		"a blank line is passed over":                 {"  \r", "", 0},
		"a torn line is a parse error":                {`{"jsonrpc":"2.0","id":1,`, "null", mcp.PARSE_ERROR},
		"a number is no message":                      {`17`, "null", mcp.INVALID_REQUEST},
		"a batch is refused":                          {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", mcp.INVALID_REQUEST},
		"an id that is null is refused":               {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", mcp.INVALID_REQUEST},
		"an id that is a list is refused":             {`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, "null", mcp.INVALID_REQUEST},
		"no method is an invalid request":             {`{"jsonrpc":"2.0","id":5}`, "5", mcp.INVALID_REQUEST},
		"an old JSON-RPC is an invalid request":       {`{"jsonrpc":"1.0","id":5,"method":"ping"}`, "5", mcp.INVALID_REQUEST},
		"a large id comes back unchanged":             {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "9007199254740993", 0},
		"an unknown method is answered at once":       {`{"jsonrpc":"2.0","id":5,"method":"nobody/knows"}`, "5", mcp.METHOD_NOT_FOUND},
		"an unknown tool is an error":                 {callLine(5, "nothing", ""), "5", mcp.INVALID_PARAMS},
		"a method that is no string":                  {`{"jsonrpc":"2.0","id":5,"method":5}`, "5", mcp.INVALID_REQUEST},
		"params that are a list":                      {`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}`, "5", mcp.INVALID_PARAMS},
		"a tool's name that is no string":             {`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7}}`, "5", mcp.INVALID_PARAMS},
		"an answer to nothing is passed over":         {`{"jsonrpc":"2.0","id":5,"result":{}}`, "", 0},
		"an unknown notification is passed over":      {`{"jsonrpc":"2.0","method":"notifications/x"}`, "", 0},
		"a notification with an id is not answered":   {`{"jsonrpc":"2.0","id":4,"method":"notifications/initialized"}`, "", 0},
		"discover without a version is not found":     {`{"jsonrpc":"2.0","id":5,"method":"server/discover","params":{}}`, "5", mcp.METHOD_NOT_FOUND},
		"a version of the future names the known":     {`{"jsonrpc":"2.0","id":5,"method":"server/discover","params":{` + strings.Replace(modern, "2026-07-28", "2027-01-01", 1) + `}}`, "5", -32022},
		"also where all else is missing":              {`{"jsonrpc":"2.0","id":5,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}`, "5", -32022},
		"a resource not there, in the old era":        {`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"hermes://gone"}}`, "5", mcp.RESOURCE_NOT_FOUND},
		"a resource not there, in the new era":        {`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"hermes://gone",` + modern + `}}`, "5", mcp.INVALID_PARAMS},
		"a resource nobody offers, in the new era":    {`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"hermes://x",` + modern + `}}`, "5", mcp.INVALID_PARAMS},
		"a panic is a bare internal error":            {callLine(5, "panic", ""), "5", mcp.INTERNAL_ERROR},
		"a handler's Go error is a bare internal one": {callLine(5, "fail", ""), "5", mcp.INTERNAL_ERROR},
	} {
		t.Run(name, func(t *testing.T) {
			d := &desk{}
			got := serveAll(t, d.server(), c.line+"\n"+`{"jsonrpc":"2.0","id":"after","method":"ping"}`)
			if c.id == "" {
				if len(got) != 1 || string(got[0].ID) != `"after"` {
					t.Fatalf("answers: %+v", got)
				}
				return
			}
			if len(got) != 2 {
				t.Fatalf("%d answers", len(got))
			}
			slices.SortFunc(got, func(a, b answer) int { return strings.Compare(string(b.ID), string(a.ID)) })
			a := got[0]
			if string(a.ID) != c.id || (a.Error == nil) != (c.code == 0) || a.Error != nil && a.Error.Code != c.code {
				t.Errorf("answer: %s", a.line)
			}
			if strings.Contains(a.line, "secret") || strings.Contains(a.line, "Go struct") {
				t.Errorf("the inside shows: %s", a.line)
			}
			if strings.Contains(name, "bare") && (len(d.bugs) != 1 || !strings.Contains(d.bugs[0], "secret detail") || len(d.done) != 1) {
				t.Errorf("bugs %q, done %q", d.bugs, d.done)
			}
		})
	}
}

func TestInstructionsAndClientNamesFollowBothEras(t *testing.T) {
	s := (&desk{}).server()
	got := serveAll(t, s, hello+callLine(2, "who", ""))
	if got[0].Result["instructions"] != "for tester" || got[0].Result["protocolVersion"] != "2025-06-18" || got[1].text() != "tester 1.2" {
		t.Errorf("old era: %s %s", got[0].line, got[1].line)
	}
	got = serveAll(t, s, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+modern+`}}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"who",`+modern+`}}`)
	if r := got[0].Result; r["instructions"] != "for moderner" || r["cacheScope"] != "private" || r["ttlMs"] != 0.0 || r["resultType"] != "complete" || got[1].text() != "moderner 3" {
		t.Errorf("new era: %s %s", got[0].line, got[1].line)
	}
}

func TestAListenerIsAcknowledgedAtOnceAndHoldsUpNobody(t *testing.T) {
	listen := `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["hermes://memory/live"]},` + modern + `}}` + "\n"
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, (&desk{}).server())
		p.say(listen)
		ack, end := p.hear(), p.hear()
		meta, _ := ack.Params["_meta"].(map[string]any)
		if ack.Method != "notifications/subscriptions/acknowledged" || meta["io.modelcontextprotocol/subscriptionId"] != "l" {
			t.Errorf("acknowledgement: %s", ack.line)
		}
		if string(end.ID) != `"l"` || end.Result == nil {
			t.Errorf("end of the stream: %s", end.line)
		}
		p.rest()
	})
	synctest.Test(t, func(t *testing.T) { // a server that does offer subscriptions holds the stream open
		s := server.NewMCPServer("x", "1", server.WithResourceCapabilities(true, true))
		p := dial(t, s)
		p.say(listen)
		if ack := p.hear(); ack.Method != "notifications/subscriptions/acknowledged" {
			t.Errorf("acknowledgement: %s", ack.line)
		}
		p.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n")
		if a := p.hear(); string(a.ID) != "2" {
			t.Errorf("while listening: %s", a.line)
		}
		if left := p.rest(); len(left) != 1 || string(left[0].ID) != `"l"` {
			t.Errorf("at the end: %v", left)
		}
	})
}

type brokenWriter struct{ n int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.n--; w.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestListenersWithOneIDAllEndWithTheInput(t *testing.T) {
	s := server.NewMCPServer("x", "1", server.WithResourceCapabilities(false, true))
	listen := `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},` + modern + `}}` + "\n"
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		if err := Stdio(t.Context(), s, strings.NewReader(listen+listen), &out); err != nil {
			t.Error(err)
		}
		if n := strings.Count(out.String(), "notifications/subscriptions/acknowledged"); n != 2 {
			t.Errorf("%d acknowledgements: %s", n, out.String())
		}
	})
}

// A stuck writer takes nothing until it is released.
type stuck struct{ release chan struct{} }

func (s stuck) Write(p []byte) (int, error) {
	<-s.release
	return len(p), nil
}

func TestAClientThatSendsNonsenseAndReadsNothingIsHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines, out, taken := make(chan wire.Line), stuck{make(chan struct{})}, 0
		s := (&desk{}).server()
		go func() {
			for range 5000 {
				lines <- wire.Line{Text: []byte("nonsense")}
				taken++
			}
			lines <- wire.Line{Err: io.EOF}
		}()
		end := make(chan error, 1)
		go func() { end <- wire.Run(t.Context(), s, wire.NewSession("stuck"), lines, out) }()
		synctest.Wait()
		if taken > 2000 {
			t.Errorf("%d lines were taken, whose answers nobody reads", taken)
		}
		close(out.release)
		if err := <-end; err != nil || taken != 5000 {
			t.Errorf("%d lines in the end: %v", taken, err)
		}
	})
}

func TestAClientThatIsGoneEndsTheLoopAfterTheWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		r, w := io.Pipe()
		end := make(chan error, 1)
		go func() { end <- Stdio(t.Context(), d.server(), r, &brokenWriter{n: 1}) }()
		go io.WriteString(w, callLine(1, "note", "1")+callLine(2, "note", "2")+callLine(3, "note", "3"))
		if err := <-end; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("error %v", err)
		}
		w.Close()
		if len(d.written) < 2 {
			t.Errorf("written: %v", d.written)
		}
	})
}

func TestAReadErrorIsReturnedAfterTheAnswers(t *testing.T) {
	var out bytes.Buffer
	in := io.MultiReader(strings.NewReader(callLine(1, "note", "1")), &failingReader{})
	err := Stdio(t.Context(), (&desk{}).server(), in, &out)
	if !errors.Is(err, io.ErrNoProgress) || len(parseAll(t, out.String())) != 1 {
		t.Errorf("error %v, out %q", err, out.String())
	}
}

type failingReader struct{}

func (*failingReader) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

func TestManyCallsAtOnceStayWithinTheRoom(t *testing.T) {
	d := &desk{}
	var in strings.Builder
	for i := range 3000 {
		in.WriteString(callLine(i, []string{"note", "look"}[i%2], "x"))
	}
	if got := serveAll(t, d.server(), in.String()); len(got) != 3000 || len(d.written) != 1500 {
		t.Fatalf("%d answers, %d writes", len(got), len(d.written))
	}
}

func TestBytesThatAreNotUTF8AreRefusedWithTheirPlaceAndNothingIsDone(t *testing.T) {
	whole := callLine(5, "note", "café")
	at := strings.Index(whole, "é")
	for name, c := range map[string]struct{ line, id, place string }{
		"Latin-1":                 {strings.Replace(whole, "é", "\xe9", 1), "5", fmt.Sprintf("byte %d (0xe9", at)},
		"a torn character":        {strings.Replace(whole, "é", "\xc3", 1), "5", fmt.Sprintf("byte %d (0xc3", at)},
		"half a surrogate pair":   {strings.Replace(whole, "é", "\xed\xa0\xbd", 1), "5", fmt.Sprintf("byte %d (0xed", at)},
		"behind good characters":  {strings.Replace(whole, "é", "é漢\xff", 1), "5", fmt.Sprintf("byte %d (0xff", at+len("é漢"))},
		"in the id":               {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", "null", "byte 23 (0xff"},
		"in a notification":       {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"a\":\"\xff\"}}", "null", "0xff"},
		"U+FFFD itself is a text": {strings.Replace(whole, "é", "\ufffd", 1), "5", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := &desk{}
			a := serveAll(t, d.server(), c.line)[0]
			if c.place == "" {
				if a.text() != "caf\ufffd" || len(d.written) != 1 {
					t.Errorf("answer: %s", a.line)
				}
				return
			}
			if string(a.ID) != c.id || a.Error == nil || a.Error.Code != mcp.PARSE_ERROR || !strings.Contains(a.Error.Message, c.place) {
				t.Errorf("answer: %s, want %s", a.line, c.place)
			}
			if len(d.written) > 0 || strings.ContainsRune(a.line, '\ufffd') {
				t.Errorf("written %q, answer: %s", d.written, a.line)
			}
		})
	}
}

func TestCallRunsAToolInProcess(t *testing.T) {
	d := &desk{}
	s := d.server()
	if got, failed, err := Call(t.Context(), s, "note", []byte(`{"text":"a <b>"}`)); string(got) != "a <b>" || failed || err != nil {
		t.Errorf("note: %q %v %v", got, failed, err)
	}
	if got, _, err := Call(t.Context(), s, "who", nil); string(got) != "hermes-mcp call " || err != nil {
		t.Errorf("who: %q %v", got, err)
	}
	for name, c := range map[string]struct{ tool, args string }{
		"not UTF-8":        {"note", "{\"text\":\"caf\xe9\"}"},
		"an unknown tool":  {"nothing", "{}"},
		"a list":           {"note", "[]"},
		"null":             {"note", "null"},
		"a broken handler": {"fail", "{}"},
	} {
		if got, _, err := Call(t.Context(), s, c.tool, []byte(c.args)); err == nil || got != nil {
			t.Errorf("%s: %q, no error", name, got)
		}
	}
}

func FuzzStdioAnswersOnlyJSONRPC(f *testing.F) {
	f.Add([]byte(hello + callLine(1, "note", "x")))
	f.Add([]byte("{\n\n[]\n{\"id\":1}\n\xff\x00\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\"}"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look",` + modern + `}}`))
	s := (&desk{}).server()
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if err := Stdio(t.Context(), s, bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		parseAll(t, out.String())
	})
}
