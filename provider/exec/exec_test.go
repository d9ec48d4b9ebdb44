package exec

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/conformance"
	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
)

// The test binary is the programs as well: HERMES_TEST_PROGRAM says which.
func TestMain(m *testing.M) {
	switch role := os.Getenv("HERMES_TEST_PROGRAM"); {
	case role == "":
		os.Exit(m.Run())
	case role == "driver":
		os.Exit(drive(os.Args[1], os.Args[2]))
	default:
		os.Exit(program(role))
	}
}

// program is a provider that behaves as role says.
func program(role string) int {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			fmt.Fprintln(os.Stderr, "not a request:", err)
			return 9
		}
		if code := answer(role, r); code >= 0 {
			return code
		}
	}
}

// answer answers r, or returns the code to end with.
func answer(role string, r request) int {
	starting := r.Op == "start"
	switch role {
	case "refuses to start":
		fmt.Println(`{"error":"no licence"}`)
	case "ends at once":
		fmt.Fprintln(os.Stderr, "a log line\ncannot open the database")
		return 3
	case "hangs at the start":
		time.Sleep(time.Hour)
	case "hangs":
		if !starting {
			time.Sleep(time.Hour)
		}
		fmt.Println("{}")
	case "garbage":
		if !starting {
			fmt.Println("DEBUG: storing the turn")
		}
		fmt.Println("{}")
	case "half a line":
		if !starting {
			fmt.Print(`{"id":`)
			return 0
		}
		fmt.Println("{}")
	case "ten megabytes":
		if !starting {
			fmt.Println(`{"text":"` + strings.Repeat("x", 10<<20) + `"}`)
		}
		fmt.Println("{}")
	case "crashes":
		if !starting {
			fmt.Fprintln(os.Stderr, "panic: out of cheese")
			return 2
		}
		fmt.Println("{}")
	case "drips":
		if !starting {
			for {
				fmt.Print(" ")
				time.Sleep(10 * time.Millisecond)
			}
		}
		fmt.Println("{}")
	case "wrong number":
		if !starting {
			r.ID++
		}
		fmt.Printf("{\"id\":%d}\n", r.ID)
	case "refuses":
		if starting {
			fmt.Println("{}")
		} else {
			fmt.Println(`{"error":"this is too long for me"}`)
		}
	case "is busy":
		if starting {
			fmt.Println("{}")
		} else {
			fmt.Println(`{"error":"the disk is full","retry":true}`)
		}
	case "ends when idle":
		fmt.Println("{}")
		if r.Op == "turn" {
			return 0
		}
	case "leaves a child":
		child := osexec.Command("sleep", "60")
		child.Stdout, child.Stderr, child.Stdin = os.Stdout, os.Stderr, os.Stdin
		if err := child.Start(); err != nil {
			return 8
		}
		if !starting {
			time.Sleep(time.Hour)
		}
		fmt.Println("{}")
	case "has everything":
		everything(r)
	case "records":
		if starting {
			fmt.Println("{}")
			break
		}
		if r.Turn != nil {
			f, err := os.OpenFile(os.Getenv("HERMES_TEST_RECORD"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				return 7
			}
			fmt.Fprintln(f, r.Turn.ID)
			if err := f.Close(); err != nil {
				return 7
			}
		}
		fmt.Println("{}")
	}
	return -1
}

func everything(r request) {
	switch r.Op {
	case "start":
		fmt.Printf(`{"id":"%d","wants":["write","end","switch","compress","delegation","hint","system","tools","close"],"repeatable":["write"]}`+"\n", r.ID)
	case "recall":
		fmt.Println(`{"memories":[{"text":"drinks tea","at":"2026-05-01","label":"fact"},{"text":"no date","at":"yesterday"}]}`)
	case "system":
		fmt.Println(`{"text":"Facts of the team."}`)
	case "tools":
		fmt.Println(`{"tools":[{"name":"team_fact","description":"Say a fact.","schema":{"type":"object"},"read_only":true}]}`)
	case "tool":
		fmt.Printf("{\"result\":{\"you said\":%s}}\n", r.Arguments)
	default:
		fmt.Fprintln(os.Stderr, r.Op)
		fmt.Println("{}")
	}
}

// play returns the test binary as a provider in a role.
func play(t *testing.T, role string, env ...string) *Provider {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := New([]string{self})
	if err != nil {
		t.Fatal(err)
	}
	p.Env = append(os.Environ(), append(env, "HERMES_TEST_PROGRAM="+role)...)
	return p
}

// example is a program as README shows it.
func example(t *testing.T, readme, interpreter, file, data string) *Provider {
	t.Helper()
	if _, err := osexec.LookPath(interpreter); err != nil {
		t.Skipf("no %s on this machine", interpreter)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", readme))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, begun := strings.Cut(string(text), "<!-- example "+file+" -->\n```")
	shown, _, ended := strings.Cut(shown, "\n```\n")
	_, program, named := strings.Cut(shown, "\n")
	if !begun || !ended || !named {
		t.Fatalf("%s shows no %s", readme, file)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(program+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := New([]string{interpreter, filepath.Join(dir, file), filepath.Join(dir, data)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var session = provider.Session{ID: "test:1"}

func TestExamplesConform(t *testing.T) {
	t.Run("shell", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) provider.Provider { return example(t, "README.md", "sh", "notes.sh", "notes.txt") })
	})
	t.Run("python", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) provider.Provider {
			return example(t, "README.md", "python3", "facts.py", "facts.json")
		})
	})
	t.Run("one that has everything", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) provider.Provider { return play(t, "has everything") })
	})
}

func TestExamplesRemember(t *testing.T) {
	for _, e := range [][4]string{
		{"README.md", "sh", "notes.sh", "n.txt"}, {"README.md", "python3", "facts.py", "f.json"},
		{"README.zh-CN.md", "sh", "notes.sh", "n.txt"}, {"README.zh-CN.md", "python3", "facts.py", "f.json"},
	} {
		t.Run(e[0]+" "+e[2], func(t *testing.T) {
			p := example(t, e[0], e[1], e[2], e[3])
			g, err := provider.Open(p, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for i, said := range []string{"The \"backend\" listens on port 8080,\nbehind C:\\nginx", "I like green tea", "Deploys wait for Friday"} {
				if err := g.TurnEnded(t.Context(), provider.Turn{ID: fmt.Sprint(i), Session: session, User: said, Assistant: "ok"}); err != nil {
					t.Fatal(err)
				}
			}
			if n, err := g.Drain(t.Context()); n != 3 || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
			r, err := g.Recall(t.Context(), session, "which port does the backend use?")
			if err != nil || r.Count != 1 || !strings.Contains(r.Text, `The "backend" listens on port 8080,`) || !strings.Contains(r.Text, `behind C:\nginx`) {
				t.Errorf("%+v, %v", r, err)
			}
			if r, err := g.Recall(t.Context(), session, "what about zebras?"); err != nil || r.Count != 0 {
				t.Errorf("%+v, %v", r, err)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAProgramInTroubleLosesNothing(t *testing.T) {
	role := func(name string) func(*testing.T) provider.Provider {
		return func(t *testing.T) provider.Provider { return play(t, name) }
	}
	missing := func(t *testing.T) provider.Provider {
		p, err := New([]string{filepath.Join(t.TempDir(), "no-such-program")})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const soon = 300 * time.Millisecond
	conformance.Faults(t, []conformance.Fault{
		{Name: "it is not there", Open: missing, State: outbox.Waiting, Says: "no such file", Recall: "no such file"},
		{Name: "it refuses to start", Open: role("refuses to start"), State: outbox.Waiting, Says: "no licence", Recall: "no licence"},
		{Name: "it ends at once", Open: role("ends at once"), State: outbox.Waiting, Says: "exit status 3) without an answer; its last words: cannot open the database", Recall: "exit status 3"},
		{Name: "it hangs", Open: role("hangs"), State: outbox.Unknown, Says: "no answer within 300ms", Recall: "no answer within 300ms", Timeout: soon},
		{Name: "it is slow for ever", Open: role("drips"), State: outbox.Unknown, Says: "no answer within 300ms", Recall: "no answer within 300ms", Timeout: soon},
		{Name: "it leaves a child that holds its output", Open: role("leaves a child"), State: outbox.Unknown, Says: "no answer within 300ms", Recall: "no answer within 300ms", Timeout: soon},
		{Name: "it talks garbage", Open: role("garbage"), State: outbox.Unknown, Says: "DEBUG: storing the turn", Recall: "standard error"},
		{Name: "it answers half a line", Open: role("half a line"), State: outbox.Unknown, Says: "in the middle of an answer", Recall: "in the middle"},
		{Name: "it answers ten megabytes", Open: role("ten megabytes"), State: outbox.Unknown, Says: "a line of more than 4194304 bytes", Recall: "more than"},
		{Name: "it crashes in the middle", Open: role("crashes"), State: outbox.Unknown, Says: "panic: out of cheese", Recall: "exit status 2"},
		{Name: "it answers something else", Open: role("wrong number"), State: outbox.Unknown, Says: "was asked", Recall: "was asked"},
		{Name: "it refuses", Open: role("refuses"), State: outbox.Rejected, Says: "this is too long for me", Recall: "too long"},
		{Name: "it is busy", Open: role("is busy"), State: outbox.Waiting, Says: "the disk is full", Recall: "disk is full"},
		{Name: "it ends after each turn", Open: role("ends when idle"), State: "", Recall: ""},
	})
}

func TestAProgramThatHangsAtTheStartIsEnded(t *testing.T) {
	p := play(t, "hangs at the start")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := p.Start(ctx, session); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, provider.ErrNotTaken) {
		t.Errorf("%v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestWhatAProgramCanDo(t *testing.T) {
	var log logged
	p := play(t, "has everything")
	p.Stderr = &log
	g, err := provider.Open(p, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Recall(t.Context(), session, "what do I drink?")
	if err != nil || r.Count != 2 || !strings.Contains(r.Text, "- [2026-05-01, fact] drinks tea\n- no date\n") {
		t.Errorf("%+v, %v", r, err)
	}
	if s, err := g.SystemBlock(t.Context(), session); s != "Facts of the team." || err != nil {
		t.Errorf("%q, %v", s, err)
	}
	if _, err := g.List(t.Context(), session); !errors.Is(err, provider.ErrUnsupported) {
		t.Errorf("a list that it does not have: %v", err)
	}
	tools, _, err := g.Tools(t.Context(), func(context.Context) provider.Session { return session })
	if err != nil || len(tools) != 1 || !tools[0].ReadOnly {
		t.Fatalf("%+v, %v", tools, err)
	}
	if out, err := tools[0].Handle(t.Context(), json.RawMessage(`{"fact":"x"}`)); string(out) != `{"you said":{"fact":"x"}}` || err != nil {
		t.Errorf("%s, %v", out, err)
	}
	if !p.Repeatable(provider.KindWrite) || p.Repeatable(provider.KindTurn) {
		t.Error("what may be repeated is not what it said")
	}
	for _, err := range []error{
		g.TurnEnded(t.Context(), provider.Turn{ID: "1", Session: session, User: "a longer question"}),
		g.SessionSwitched(t.Context(), provider.Switch{From: session, To: provider.Session{ID: "test:2"}, Reason: "reset"}, ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(log.String()); !slices.Equal(got, []string{"turn", "hint", "end", "switch", "close"}) {
		t.Errorf("standard error: %q", got)
	}
}

// logged is a log that is safe to read.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestNoCommandIsRefused(t *testing.T) {
	for _, command := range [][]string{nil, {""}} {
		if _, err := New(command); !errors.Is(err, ErrNoCommand) {
			t.Errorf("%q: %v", command, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"id":7,"memories":[{"text":"x","at":"2026-05-01"}]}`))
	f.Add([]byte(`{"id":"7","error":"no","retry":true}`))
	f.Add([]byte(`{"facts":[{"id":1,"text":"x"}],"result":null}`))
	f.Add([]byte(`[1,2]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parse(line, 7)
		if err != nil {
			if len(err.Error()) > 1000+4*len("\\U0010ffff")*80 {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if !json.Valid(line) || (r.ID != "" && r.ID != "7") {
			t.Fatalf("%q was taken as answer 7", line)
		}
		if refused := r.refusal(); (refused != nil) != (r.Error != "") {
			t.Fatalf("%q is refused by %v", line, refused)
		}
	})
}

func FuzzRequestIsOneLine(f *testing.F) {
	f.Add("two\nlines", "\u2028 \r\x00 \xff")
	f.Fuzz(func(t *testing.T, user, assistant string) {
		line, err := json.Marshal(request{ID: 1, Op: "turn", Turn: &provider.Turn{User: user, Assistant: assistant}, Arguments: json.RawMessage("{\n}")})
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(string(line), "\n\r") || !json.Valid(line) {
			t.Fatalf("%q", line)
		}
	})
}
