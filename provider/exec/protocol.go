package exec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/provider"
)

// A request is one line to the program.
type request struct {
	ID         int                   `json:"id"`
	Op         string                `json:"op"`
	Protocol   int                   `json:"protocol,omitempty"`
	Session    *provider.Session     `json:"session,omitempty"`
	Query      string                `json:"query,omitempty"`
	Turn       *provider.Turn        `json:"turn,omitempty"`
	Write      *provider.Write       `json:"write,omitempty"`
	Switch     *provider.Switch      `json:"switch,omitempty"`
	Compress   *provider.Compression `json:"compress,omitempty"`
	Delegation *provider.Delegation  `json:"delegation,omitempty"`
	Name       string                `json:"name,omitempty"`
	Arguments  json.RawMessage       `json:"arguments,omitempty"`
}

// A reply is one line from the program.
type reply struct {
	ID         text     `json:"id"`
	Error      string   `json:"error"`
	Retry      bool     `json:"retry"`
	Wants      []string `json:"wants"`
	Repeatable []string `json:"repeatable"`
	Text       string   `json:"text"`
	Memories   []struct {
		Text  string `json:"text"`
		At    string `json:"at"`
		Label string `json:"label"`
	} `json:"memories"`
	Facts []struct {
		ID     text            `json:"id"`
		Text   string          `json:"text"`
		Entry  string          `json:"entry"`
		Target memstore.Target `json:"target"`
		At     string          `json:"at"`
	} `json:"facts"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
		ReadOnly    bool            `json:"read_only"`
	} `json:"tools"`
	Result json.RawMessage `json:"result"`
}

// A text is a string, or a number taken as one.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err == nil {
		*t = text(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return fmt.Errorf("neither a string nor a number: %w", err)
	}
	*t = text(n)
	return nil
}

// parse reads the answer to request id. An error leaves open what the program
// did.
func parse(line []byte, id int) (reply, error) {
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		return reply{}, fmt.Errorf("the program answered with something that is no answer (%w): %s; what is for the log belongs on standard error", err, shorten(line))
	}
	if r.ID != "" && string(r.ID) != fmt.Sprint(id) {
		return reply{}, fmt.Errorf("the program answered request %s while %d was asked", shorten([]byte(r.ID)), id)
	}
	return r, nil
}

// shorten is the beginning of a line, to be shown.
func shorten(line []byte) string {
	const most = 80
	s := string(bytes.ToValidUTF8(line[:min(len(line), 4*most)], []byte("\uFFFD")))
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// refusal is the program's own error, nil when it gave none.
func (r reply) refusal() error {
	switch {
	case r.Error == "":
		return nil
	case r.Retry:
		return fmt.Errorf("%w: the program says: %s", provider.ErrNotTaken, r.Error)
	default:
		return fmt.Errorf("%w: the program says: %s", provider.ErrRejected, r.Error)
	}
}

// moment reads a time or a date; anything else is no time.
func moment(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t
		}
	}
	return time.Time{}
}
