package sessions

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/tools/wire"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/date"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// A mode is what a call of session_search asks for. It follows from the
// arguments.
type mode string

const (
	discover mode = "discover"
	scroll   mode = "scroll"
	read     mode = "read"
	browse   mode = "browse"
)

// A detail is how much of each thing is shown.
type detail string

const (
	index    detail = "index"
	adaptive detail = "adaptive"
	full     detail = "full"
)

// budget is the most characters that an answer may have, as JSON.
func (d detail) budget() int {
	switch d {
	case index:
		return 4000
	case full:
		return 20000
	}
	return 12000
}

const (
	maxLimit  = 10
	maxWindow = 20
	maxOffset = 1 << 30
	maxSkip   = 500 // results that a search can be paged past
	// What next repeats takes room in the answer, so these are bounded, in
	// characters as JSON.
	maxQuery  = 1000
	maxFilter = 400
)

// An ask is one call as meant.
type ask struct {
	mode      mode
	query     string
	limit     int
	session   string
	around    int64
	window    int
	offset    int
	onward    bool // offset was given with a message: from there onward, or up to it
	detail    detail
	find      transcript.Query // the filters
	roles     []transcript.Role
	summarize bool
	again     map[string]any // the arguments that a next call repeats
}

// parseAsk reads the arguments; what cannot be taken is told by a.Wrong.
func parseAsk(ctx context.Context, a *wire.Arguments, o Options, now time.Time) ask {
	k := ask{
		query:     shortQuery(a),
		session:   strings.TrimSpace(a.Text("session_id")),
		detail:    detail(a.Word("detail")),
		summarize: a.Flag("summarize"),
		again:     map[string]any{},
	}
	def := o.Limit
	if def == 0 {
		def = 5
	}
	k.limit = a.Number("limit", def, 1, maxLimit)
	k.window = a.Number("window", 5, 1, maxWindow)
	switch k.detail {
	case "":
		k.detail = adaptive
	case index, adaptive, full:
		k.again["detail"] = string(k.detail)
	default:
		a.Refuse("detail must be index, adaptive or full, not %q", plain.Clip(string(k.detail), 40))
	}
	k.session = strings.TrimSuffix(strings.TrimPrefix(k.session, "hermes://session/"), "/")
	if id := strings.TrimSpace(a.Text("around_message_id")); id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n <= 0 {
			a.Refuse("around_message_id must be an id from messages or match_message_id, not %q", plain.Clip(id, 40))
		}
		if k.session == "" {
			a.Refuse("around_message_id needs the session_id that it was shown with")
		}
		k.around = n
	}
	switch {
	case k.around > 0:
		k.mode = scroll
		_, raw := a.Get("offset")
		k.onward = raw != nil
	case k.session != "":
		k.mode = read
		if k.query != "" {
			a.Adjusted = append(a.Adjusted, "query: not used, since session_id reads that session; leave session_id out to search")
		}
	case k.query != "":
		k.mode = discover
	default:
		k.mode = browse
	}
	least, most := -maxOffset, maxOffset
	if k.mode == discover || k.mode == browse {
		least, most = 0, maxSkip
	}
	k.offset = a.Number("offset", 0, least, most)
	k.filters(ctx, a, o, now)
	return k
}

// back tells that what stands before a message is asked for.
func (k ask) back() bool { return k.onward && k.offset < 0 }

// shortQuery is the query as one line, cut where it is longer than a question
// can be.
func shortQuery(a *wire.Arguments) string {
	q := strings.Join(strings.Fields(plain.Filter{}.Text(a.Text("query"))), " ")
	short, rest := piece(q, 0, maxQuery)
	if rest > 0 {
		a.Adjusted = append(a.Adjusted, fmt.Sprintf("query: only its first %d characters were used", rest))
	}
	return short
}

// filters fills find, roles and again.
func (k *ask) filters(ctx context.Context, a *wire.Arguments, o Options, now time.Time) {
	keep := func(name, value string) {
		if cost(value) > maxFilter {
			a.Refuse("%s is too long", name)
		}
		if value != "" {
			k.again[name] = value
		}
	}
	k.find = transcript.Query{Text: k.query, Limit: k.limit + k.offset}
	switch s := a.Word("sort"); s {
	case "", "rank", "relevance", "best":
	case string(transcript.ByNewest), string(transcript.ByOldest):
		k.find.Sort = transcript.Sort(s)
		keep("sort", s)
	default:
		a.Refuse("sort must be newest or oldest, or left out for the best match first, not %q", plain.Clip(s, 40))
	}
	var names []string
	known := []transcript.Role{transcript.UserRole, transcript.Assistant, transcript.Tool, transcript.System, transcript.Summary}
	for _, r := range a.List("role_filter") {
		role := transcript.Role(strings.ToLower(r))
		if !slices.Contains(known, role) {
			a.Refuse("role_filter knows user, assistant, tool, system and summary, not %q", plain.Clip(r, 40))
		}
		if !slices.Contains(k.roles, role) {
			k.roles = append(k.roles, role)
			names = append(names, string(role))
		}
	}
	k.find.Roles, k.find.Sources = k.roles, a.List("source")
	keep("role_filter", strings.Join(names, ","))
	keep("source", strings.Join(k.find.Sources, ","))
	k.find.Project = k.project(ctx, a, o)
	keep("project", strings.TrimSpace(a.Text("project")))
	for name, at := range map[string]*time.Time{"since": &k.find.Since, "until": &k.find.Until} {
		s := strings.TrimSpace(a.Text(name))
		t, ok := date.Parse(s, now, name == "until")
		if !ok && s != "" {
			a.Refuse("%s must be %s, not %q", name, date.Forms, plain.Clip(s, 40))
		}
		*at = t
		keep(name, s)
	}
	if !k.find.Since.IsZero() && !k.find.Until.IsZero() && k.find.Until.Before(k.find.Since) {
		a.Refuse("until lies before since")
	}
}

// project resolves the project argument.
func (k *ask) project(ctx context.Context, a *wire.Arguments, o Options) string {
	current := func() string {
		if o.Project == nil {
			return ""
		}
		return o.Project(ctx)
	}
	switch p := strings.TrimSpace(a.Text("project")); strings.ToLower(p) {
	case "":
		if o.DefaultProject {
			return current()
		}
		return ""
	case "all", "any", "*":
		return ""
	case "current":
		c := current()
		if c == "" {
			a.Refuse("there is no current project: the server was not started in a project's folder. Name a path or a project, or leave project out")
		}
		return c
	default:
		return p
	}
}
