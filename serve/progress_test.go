package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// slow is a server whose tool takes as many seconds as it is told, and says so
// in the middle.
func slow() *server.MCPServer {
	return New(Parts{Name: "hermes-mcp", Version: "0.0.0-test", Tools: []server.ServerTool{{
		Tool: mcp.NewTool("dig", mcp.WithReadOnlyHintAnnotation(true)),
		Handler: func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			half := time.Duration(req.GetInt("seconds", 0)) * time.Second / 2
			time.Sleep(half)
			Progress(ctx, "half \"way\"")
			select {
			case <-time.After(half):
			case <-ctx.Done():
			}
			if req.GetBool("linger", false) { // a bug, which must not reach the client
				go func() {
					time.Sleep(time.Minute)
					Progress(ctx, "late")
				}()
			}
			return mcp.NewToolResultText("done"), nil
		},
	}}})
}

func TestACallThatTakesLongIsReportedUntilItsAnswer(t *testing.T) {
	for _, test := range []struct {
		name, meta string
		seconds    int
		want       []string
	}{
		{"half a minute", `"_meta":{"progressToken":"t"},`, 24, []string{`"t" 1.000 working`, `"t" 6.000 working`, `"t" 11.000 working`, `"t" 12.000 half "way"`, `"t" 16.000 half "way"`, `"t" 21.000 half "way"`, "done"}},
		{"a token that is a number stays one", `"_meta":{"progressToken":9007199254740993},`, 4, []string{`9007199254740993 1.000 working`, `9007199254740993 2.000 half "way"`, "done"}},
		{"nothing was asked for", ``, 24, []string{"done"}},
		{"a token that is none", `"_meta":{"progressToken":{"a":1}},`, 24, []string{"done"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s"name":"dig","arguments":{"seconds":%d}}}`+"\n", test.meta, test.seconds)
				var out strings.Builder
				if err := Stdio(t.Context(), slow(), strings.NewReader(in), &out); err != nil {
					t.Fatal(err)
				}
				if got := notices(t, out.String()); strings.Join(got, "\n") != strings.Join(test.want, "\n") {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
				}
			})
		})
	}
}

func TestACallIsReportedNoMoreOnceItIsOver(t *testing.T) {
	for name, test := range map[string]struct{ arguments, then, last string }{
		"withdrawn": {`"seconds":600`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "working"},
		"answered":  {`"seconds":2,"linger":true`, `{"jsonrpc":"2.0","method":"notifications/nothing"}`, `"text":"done"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, feed := io.Pipe()
				out, said := io.Pipe()
				ended := make(chan error, 1)
				go func() {
					ended <- Stdio(t.Context(), slow(), in, said)
					said.Close()
				}()
				fmt.Fprintln(feed, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":1},"name":"dig","arguments":{`+test.arguments+`}}}`)
				lines := bufio.NewScanner(out)
				for lines.Scan() && !strings.Contains(lines.Text(), test.last) {
				}
				fmt.Fprintln(feed, test.then)
				go func() {
					time.Sleep(time.Hour)
					feed.Close()
				}()
				for lines.Scan() {
					t.Errorf("afterwards came %s", lines.Text())
				}
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// notices are the lines of an output in short.
func notices(t *testing.T, out string) []string {
	t.Helper()
	var all []string
	for _, a := range parseAll(t, out) {
		if a.Method == "" {
			all = append(all, a.text())
			continue
		}
		var n struct {
			Params struct {
				Token    json.RawMessage `json:"progressToken"`
				Progress json.Number
				Message  string
			}
		}
		if err := json.Unmarshal([]byte(a.line), &n); err != nil || a.Method != "notifications/progress" {
			t.Fatalf("%s: %v", a.line, err)
		}
		all = append(all, fmt.Sprintf("%s %s %s", n.Params.Token, n.Params.Progress, n.Params.Message))
	}
	return all
}
