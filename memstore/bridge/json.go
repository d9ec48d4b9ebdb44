package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
)

// form names what JSON writes.
const form = "hermes-mcp memory 1"

// An exported is a memory as JSON carries it.
type exported struct {
	Form    string          `json:"form"`
	At      time.Time       `json:"exported_at"`
	Entries []exportedEntry `json:"entries"`
}

type exportedEntry struct {
	Target     memstore.Target     `json:"target"`
	Text       string              `json:"text"`
	Source     memstore.Source     `json:"source,omitempty"` // absent when nobody knows
	Confidence memstore.Confidence `json:"confidence,omitempty"`
	Created    time.Time           `json:"created_at,omitzero"`
	Updated    time.Time           `json:"updated_at,omitzero"`
	Confirmed  time.Time           `json:"confirmed_at,omitzero"`
	Session    string              `json:"session_id,omitempty"`
	Evidence   []string            `json:"evidence,omitempty"`
}

// JSON writes the entries of all states with what is known of them.
func JSON(at time.Time, all []memstore.State) ([]byte, error) {
	out := exported{Form: form, At: at.UTC().Truncate(time.Second), Entries: []exportedEntry{}}
	for _, st := range all {
		for _, e := range st.Entries {
			out.Entries = append(out.Entries, exportedEntry{
				st.Target, e.Text, e.Source, e.Confidence, e.CreatedAt, e.UpdatedAt, e.ConfirmedAt, e.Session, e.Evidence,
			})
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return b.Bytes(), nil
}

// json reads what JSON wrote, or a graph of server-memory, a JSON object a
// line.
func (r *reader) json(name, text string) error {
	var own exported
	if json.Unmarshal([]byte(text), &own) == nil && own.Form == form {
		for i, e := range own.Entries {
			from := fmt.Sprintf("%s, entry %d", name, i+1)
			before := len(r.items)
			if e.Target != memstore.User && e.Target != memstore.Project {
				e.Target = memstore.Memory
			}
			if r.add(e.Target, e.Text, from); len(r.items) > before {
				r.items[before].Source, r.items[before].Confidence = e.Source, e.Confidence
			}
		}
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			r.node(fmt.Sprintf("%s:%d", name, i+1), line)
		}
	}
	if len(r.items) == 0 {
		return fmt.Errorf("%s: %w: its JSON is neither what memory export writes nor the entities and relations of server-memory, one a line", name, ErrForm)
	}
	return nil
}

// node reads one line of server-memory: a thing with what was observed of it,
// or what one thing has to do with another.
func (r *reader) node(from, line string) {
	var n struct {
		Type         string `json:"type"`
		Name         string `json:"name"`
		EntityType   string `json:"entityType"`
		Observations []any  `json:"observations"`
		From         string `json:"from"`
		To           string `json:"to"`
		RelationType string `json:"relationType"`
	}
	if err := json.Unmarshal([]byte(line), &n); err != nil {
		r.skip(from, line, "no JSON")
		return
	}
	switch {
	case n.Type == "entity" && n.Name != "":
		target := memstore.Memory
		if isUser(n.Name) {
			target = memstore.User
		}
		for _, o := range n.Observations {
			text, ok := o.(string)
			if !ok {
				r.skip(from, fmt.Sprint(o), "an observation that is no text")
				continue
			}
			if target == memstore.Memory && !strings.Contains(strings.ToLower(text), strings.ToLower(n.Name)) {
				text = words(n.Name) + ": " + text
			}
			r.add(target, text, from)
		}
		if len(n.Observations) == 0 {
			r.skip(from, n.Name, "nothing was observed of it")
		}
	case n.Type == "relation" && n.From != "" && n.To != "":
		target := memstore.Memory
		if isUser(n.From) {
			target = memstore.User
		}
		r.add(target, strings.Join([]string{words(n.From), words(n.RelationType), words(n.To)}, " "), from)
	default:
		r.skip(from, line, "neither an entity nor a relation")
	}
}

// isUser tells whether a thing is the one who speaks to the agent; default_user
// is the name that server-memory's own instructions give.
func isUser(name string) bool {
	n := strings.ToLower(words(name))
	return n == "user" || n == "default user" || n == "the user" || n == "me"
}

// words is a name as people write it.
func words(name string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(name, "_", " ")), " ")
}
