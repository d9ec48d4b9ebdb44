package web

import (
	"strings"
	"testing"
)

func TestWhatAClientWithdrewIsNotAnsweredAndABegunWriteCompletes(t *testing.T) {
	d := &desk{begun: make(chan string, 1), release: make(chan struct{})}
	s := d.site(t, nil)
	id, other := s.hello(), s.hello()
	got := make(chan reply)
	go func() { got <- s.send("POST", "/mcp", callLine(7, "note", "kept"), "Mcp-Session-Id", id) }()
	<-d.begun
	withdraw := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	if r := s.send("POST", "/mcp", withdraw, "Mcp-Session-Id", other); r.status != 202 {
		t.Errorf("another session withdraws: %+v", r)
	}
	if r := s.send("POST", "/mcp", withdraw, "Mcp-Session-Id", id); r.status != 202 {
		t.Errorf("withdraw: %+v", r)
	}
	close(d.release)
	if r := <-got; r.status != 202 || r.body != "" {
		t.Errorf("what was withdrawn is answered: %+v", r)
	}
	// The same id may be used again.
	d.begun = nil
	if r := s.send("POST", "/mcp", callLine(7, "note", "after"), "Mcp-Session-Id", id); !strings.Contains(r.body, "after") {
		t.Errorf("after: %+v", r)
	}
	if len(d.written) != 2 || d.written[0] != "kept" {
		t.Errorf("written: %q", d.written)
	}
}

func TestIDsComeBackAsTheClientWroteThem(t *testing.T) {
	s := (&desk{}).site(t, nil)
	session := s.hello()
	for _, id := range []string{`1`, `0`, `-3`, `9007199254740993`, `12345678901234567890`, `1.50`, `1e3`, `"9007199254740993"`, `"a,b"`} {
		line := strings.Replace(callLine(1, "look", "x"), `"id":1`, `"id":`+id, 1)
		if r := s.send("POST", "/mcp", line, "Mcp-Session-Id", session); !strings.Contains(r.body, `"id":`+id+`,`) || !strings.Contains(r.body, `"result"`) {
			t.Errorf("id %s: %s", id, r.body)
		}
		wrong := `{"jsonrpc":"2.0","id":` + id + `,"method":"no/such"}`
		if r := s.send("POST", "/mcp", wrong, "Mcp-Session-Id", session); !strings.Contains(r.body, `"id":`+id+`,`) || !strings.Contains(r.body, `-32601`) {
			t.Errorf("id %s: %s", id, r.body)
		}
	}
}

func TestWhatIsNotThereIsNamedWithTheCodeOfTheEra(t *testing.T) {
	s := (&desk{}).site(t, nil)
	session := s.hello()
	for _, uri := range []string{"hermes://gone", "hermes://never/was:1"} {
		read := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + uri + `"}}`
		if r := s.send("POST", "/mcp", read, "Mcp-Session-Id", session); r.status != 200 || !strings.Contains(r.body, `"code":-32002`) || !strings.Contains(r.body, `"data":{"uri":"`+uri+`"}`) {
			t.Errorf("with a session: %+v", r)
		}
		newest := strings.Replace(read, `"}}`, `",`+modern+`}}`, 1)
		if r := s.send("POST", "/mcp", newest, modernHead, "2026-07-28", "Mcp-Method", "resources/read", "Mcp-Name", uri); r.status != 400 || !strings.Contains(r.body, `"code":-32602`) || !strings.Contains(r.body, `"data":{"uri":"`+uri+`"}`) {
			t.Errorf("newest: %+v", r)
		}
	}
}

func TestAVersionFromTheFutureIsAnsweredWithThoseThatAreServed(t *testing.T) {
	s := (&desk{}).site(t, nil)
	for name, meta := range map[string]string{
		"with capabilities": strings.Replace(modern, "2026-07-28", "2099-01-01", 1),
		"without":           `"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}`,
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`
		r := s.send("POST", "/mcp", body, modernHead, "2099-01-01", "Mcp-Method", "server/discover")
		if r.status != 400 || !strings.Contains(r.body, `-32022`) || !strings.Contains(r.body, `"requested":"2099-01-01"`) || !strings.Contains(r.body, `"2026-07-28"`) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestWhatIsNoMessageIsAnsweredAsOverStdio(t *testing.T) {
	d := &desk{}
	s := d.site(t, nil)
	session := s.hello()
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"torn":                     {`{"jsonrpc":"2.0","id":1,`, 400, `"id":null,"error":{"code":-32700`},
		"nothing":                  {` `, 400, `"id":null,"error":{"code":-32700`},
		"not UTF-8":                {strings.Replace(callLine(5, "note", "café"), "é", "\xe9", 1), 400, `"id":5,"error":{"code":-32700,"message":"the message is not UTF-8: byte `},
		"a batch":                  {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 400, `"code":-32600,"message":"batches are not supported`},
		"a number":                 {`5`, 400, `"code":-32600`},
		"a method that is none":    {`{"jsonrpc":"2.0","id":5,"method":5}`, 400, `"id":5,"error":{"code":-32600`},
		"an id that is null":       {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, `"code":-32600`},
		"params of another form":   {`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}`, 200, `"code":-32602,"message":"the params of tools/call`},
		"an answer to no question": {`{"jsonrpc":"2.0","id":5,"result":{}}`, 202, ``},
	} {
		if r := s.send("POST", "/mcp", c.body, "Mcp-Session-Id", session); r.status != c.status || !strings.Contains(r.body, c.says) || strings.Contains(r.body, "Go struct") {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	if len(d.written) > 0 {
		t.Errorf("written %q", d.written)
	}
	wrongForm := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7,` + modern + `}}`
	if r := s.send("POST", "/mcp", wrongForm, modernHead, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "7"); r.status != 400 || strings.Contains(r.body, "Go struct") {
		t.Errorf("newest: %+v", r)
	}
	if r := s.send("DELETE", "/mcp", ""); r.status != 400 {
		t.Errorf("the end of no session: %+v", r)
	}
}
