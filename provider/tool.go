package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// reserved are the names of tools that a provider's own never take: this
// program's and those of the agents that it serves.
var reserved = map[string]bool{
	"memory": true, "memory_recall": true, "session_search": true, "session_record": true,
	"clarify": true, "delegate_task": true, "todo": true, "send_message": true, "execute_code": true,
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Tools are the provider's own tools, each guarded like a recall: secrets do
// not leave, and a result that the scanner refuses does not come in. dropped
// says which were left out and why. session is whose call it is.
func (g *Guard) Tools(ctx context.Context, session func(context.Context) Session) (tools []Tool, dropped []string, err error) {
	if g == nil {
		return nil, nil, nil
	}
	t, ok := g.p.(Tooler)
	if !ok {
		return nil, nil, nil
	}
	var offered []Tool
	err = g.ask(ctx, session(ctx), g.recallTime(), func(ctx context.Context) (err error) {
		offered, err = t.Tools(ctx)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for _, own := range offered {
		switch {
		case !toolName.MatchString(own.Name):
			dropped = append(dropped, fmt.Sprintf("%q: not a name of a tool", head(own.Name, 80)))
		case reserved[own.Name] || seen[own.Name]:
			dropped = append(dropped, own.Name+": the name is taken")
		case !object(own.Schema):
			dropped = append(dropped, own.Name+": its schema is not that of an object")
		case lasting(own.Description) == "":
			dropped = append(dropped, own.Name+": no description, or one that the scanner refuses")
		default:
			seen[own.Name] = true
			handle := own.Handle
			own.Description = lasting(own.Description)
			own.Handle = func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
				return g.tool(ctx, session(ctx), own, handle, arguments)
			}
			tools = append(tools, own)
		}
	}
	return tools, dropped, nil
}

func object(schema json.RawMessage) bool {
	var s struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object" && len(scanner.Scan(string(schema), scanner.Strict)) == 0
}

// tool makes one call of a provider's own tool.
func (g *Guard) tool(ctx context.Context, s Session, own Tool, handle func(context.Context, json.RawMessage) (json.RawMessage, error), arguments json.RawMessage) (out json.RawMessage, err error) {
	if !own.ReadOnly && !s.Writes() {
		return complaint("a %s session may read but not write: %s was not called", s.Context, own.Name), nil
	}
	arguments, err = rewrite(arguments, func(text string) string {
		return scanner.Redact(scanner.StripFences(text))
	})
	if err != nil {
		return complaint("the arguments must be a JSON object"), nil
	}
	err = g.ask(ctx, s, g.recallTime(), func(ctx context.Context) (err error) {
		out, err = handle(ctx, arguments)
		return err
	})
	if err != nil {
		return nil, err
	}
	if r := scanner.Inspect(string(out), scanner.Context); r.Refused() {
		return complaint("the answer was withheld: it holds what looks like an attack on its reader (%s)", r.Findings[0].Rule), nil
	}
	out, err = rewrite(out, func(text string) string {
		return scanner.Redact(scanner.Inspect(scanner.StripFences(text), scanner.Context).Text)
	})
	if err != nil {
		return nil, g.failed(fmt.Errorf("%s: the answer of %s is not JSON", g.p.Name(), own.Name))
	}
	return out, nil
}

func complaint(format string, args ...any) json.RawMessage {
	raw, err := json.Marshal(map[string]string{"error": fmt.Sprintf(format, args...)})
	if err != nil {
		return json.RawMessage(`{"error":"not told"}`) // a map of strings always encodes
	}
	return raw
}

// rewrite passes every string in a JSON value through fn. Nothing is an empty
// object.
func rewrite(raw json.RawMessage, fn func(string) string) (json.RawMessage, error) {
	if strings.TrimSpace(string(raw)) == "" {
		return json.RawMessage("{}"), nil
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(each(v, fn))
}

func each(v any, fn func(string) string) any {
	switch v := v.(type) {
	case string:
		return fn(v)
	case []any:
		for i := range v {
			v[i] = each(v[i], fn)
		}
	case map[string]any:
		for k := range v {
			v[k] = each(v[k], fn)
		}
	}
	return v
}
