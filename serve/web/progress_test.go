package web

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/serve"
)

// digging is a server whose one tool says two things before it is done.
func digging() *server.MCPServer {
	return serve.New(serve.Parts{Name: "hermes-mcp", Version: "0.0.0-test", Tools: []server.ServerTool{{
		Tool: mcp.NewTool("dig", mcp.WithReadOnlyHintAnnotation(true)),
		Handler: func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			serve.Progress(ctx, "one")
			serve.Progress(ctx, "two")
			return mcp.NewToolResultText("done"), nil
		},
	}}})
}

func TestNoticesComeBeforeTheAnswerAndOnlyToWhoAskedForThem(t *testing.T) {
	s := (&desk{}).site(t, func(h *HTTP) { h.Grants[0].Server = digging() })
	const call = `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"dig","_meta":{%s}}}`
	id := s.hello()
	legacy := []string{"Mcp-Session-Id", id}
	newest := []string{modernHead, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "dig"}
	versions := strings.TrimSuffix(strings.TrimPrefix(modern, `"_meta":{`), "}")
	for _, test := range []struct {
		name, meta string
		headers    []string
		streamed   bool
	}{
		{"with a session", `"progressToken":"t"`, legacy, true},
		{"without sessions", `"progressToken":"t",` + versions, newest, true},
		{"not asked for", ``, legacy, false},
		{"a client that takes no stream", `"progressToken":"t"`, append([]string{"Accept", "application/json"}, legacy...), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := s.send("POST", "/mcp", fmt.Sprintf(call, test.meta), test.headers...)
			body := regexp.MustCompile(`"progress":\d+\.\d{3}`).ReplaceAllString(r.body, `"progress":N`)
			notice := `event: message` + "\n" + `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":N,"message":"%s"}}` + "\n\n"
			head, kind := fmt.Sprintf(notice, "one")+fmt.Sprintf(notice, "two")+"event: message\ndata: ", "text/event-stream"
			if !test.streamed {
				head, kind = "", "application/json"
			}
			rest, ok := strings.CutPrefix(body, head)
			if r.status != 200 || !strings.HasPrefix(r.header.Get("Content-Type"), kind) || !ok {
				t.Fatalf("%+v", r)
			}
			if test.streamed != strings.HasSuffix(rest, "}\n\n") {
				t.Errorf("the answer ends %q", rest)
			}
			a := parseOne(t, rest)
			if a.text() != "done" || !strings.Contains(rest, `"id":9007199254740993,`) {
				t.Errorf("answer %s", rest)
			}
		})
	}
}

func TestNoticesTravelOnTheStreamOfSSE(t *testing.T) {
	s := (&desk{}).site(t, func(h *HTTP) { h.Grants[0].Server = digging() })
	e := s.listen()
	defer e.body.Close()
	_, path := e.hear()
	if r := s.send("POST", path, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dig","_meta":{"progressToken":5}}}`); r.status != 202 {
		t.Fatalf("%+v", r)
	}
	for _, want := range []string{`"progressToken":5,`, `"message":"two"`, `"id":1,`} {
		if _, got := e.hear(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAListIsReadPageByPageAndByNoOtherCursor(t *testing.T) {
	var many []server.ServerTool
	for i := range 250 {
		many = append(many, server.ServerTool{Tool: mcp.NewTool(fmt.Sprintf("tool%03d", i))})
	}
	s := (&desk{}).site(t, func(h *HTTP) {
		h.Grants[0].Server = serve.New(serve.Parts{Name: "hermes-mcp", Version: "0.0.0-test", Tools: many})
	})
	list := func(method, cursor string, newest bool) reply {
		params, headers := `"cursor":`+cursor, []string{"Mcp-Session-Id", s.hello()}
		if newest {
			params, headers = params+","+modern, []string{modernHead, "2026-07-28", "Mcp-Method", method}
		}
		return s.send("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`, headers...)
	}
	for _, newest := range []bool{false, true} {
		var pages []int
		cursor := `""`
		for range 5 {
			r := list("tools/list", cursor, newest)
			a := r.answer(t)
			pages = append(pages, len(a.Result["tools"].([]any)))
			next, more := a.Result["nextCursor"].(string)
			if !more {
				break
			}
			cursor = `"` + next + `"`
		}
		if fmt.Sprint(pages) != "[100 100 50]" {
			t.Errorf("pages of %v", pages)
		}
		status := 200
		if newest {
			status = 400
		}
		for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
			for _, wrong := range []string{`"%%%"`, `"dG9vbDAxMA=="`, `"dG9v"`, `7`, `{}`, `"` + strings.Repeat("A", 1<<16) + `"`} {
				if r := list(method, wrong, newest); r.status != status || !strings.Contains(r.body, `"code":-32602`) || !strings.Contains(r.body, "ask for the list again without a cursor") {
					t.Errorf("%s with cursor %.20s: %+v", method, wrong, r)
				}
			}
		}
	}
}
