package bridge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/hermes-mcp/hermes-mcp/memstore"
)

// A page is a Markdown file, and what is known of it.
type page struct {
	name    string
	target  memstore.Target
	first   int      // lines before the text that is read
	heading string   // what the facts are about, before any heading says so
	index   []string // files beside an index, whose links say nothing new
}

// A head is the YAML at the top of a note.
type head struct {
	Name     string `yaml:"name"`
	Kind     string `yaml:"type"`
	Metadata struct {
		Type string `yaml:"type"`
	} `yaml:"metadata"`
}

// Type is where either form says it.
func (h head) Type() string {
	if h.Metadata.Type != "" {
		return h.Metadata.Type
	}
	return h.Kind
}

// splitHead takes the YAML head off. One that is no YAML is text.
func splitHead(text string) (h head, body string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return h, text
	}
	raw, body, ok := strings.Cut(rest, "\n---")
	if !ok || yaml.Unmarshal([]byte(raw), &h) != nil {
		return head{}, text
	}
	return h, strings.TrimLeft(body, "-\n")
}

var (
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	heading = regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*$`)
	bullet  = regexp.MustCompile(`^(\s*)(?:[-*+]|\d{1,4}[.)])\s+(.*)$`)
	rule    = regexp.MustCompile(`^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|={3,})$`)
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	include = regexp.MustCompile(`^@[^\s@]+$`)
)

// A markdown is a page being read.
type markdown struct {
	*reader
	page
	lead  string   // a paragraph that announces the list after it
	block []string // lines of the fact that is being read
	line  int      // where it began
	depth int      // of its bullet; -1 when it is a paragraph
	gap   bool     // a blank line after its last one
}

// markdown reads every bullet and every paragraph as a fact, with what the
// heading above it says it is about.
func (r *reader) markdown(p page, text string) {
	m := &markdown{reader: r, page: p}
	text = comment.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	fence, from, code := "", 0, []string(nil)
	for i, line := range strings.Split(text, "\n") {
		n := i + 1
		switch start := strings.TrimSpace(line); {
		case fence != "" && strings.HasPrefix(start, fence):
			m.skip(m.at(from), strings.Join(code, "\n"), "a block of code is no fact of its own")
			fence, code = "", nil
		case fence != "":
			code = append(code, line)
		case strings.HasPrefix(start, "```") || strings.HasPrefix(start, "~~~"):
			fence, from = start[:3], n
		default:
			m.read(line, n)
		}
	}
	if fence != "" {
		m.skip(m.at(from), strings.Join(code, "\n"), "a block of code that does not end")
	}
	m.flush()
}

func (m *markdown) at(line int) string { return fmt.Sprintf("%s:%d", m.name, m.first+line) }

// read takes in one line that is no code.
func (m *markdown) read(line string, n int) {
	start := strings.TrimSpace(line)
	if start == "" {
		m.gap = true
		return
	}
	if h := heading.FindStringSubmatch(start); h != nil {
		m.flush()
		m.lead, m.heading = "", ""
		if t, ours := titles[strings.ToLower(h[2])]; ours {
			m.target = t
		} else if len(h[1]) > 1 { // the title of a file says only what the file is
			m.heading = strings.TrimSuffix(h[2], ":")
		}
		return
	}
	if rule.MatchString(line) {
		m.flush()
		return
	}
	if include.MatchString(start) {
		m.flush()
		m.skip(m.at(n), start, "leads to another file: import that one itself")
		return
	}
	if b := bullet.FindStringSubmatch(line); b != nil {
		m.bullet(len(strings.ReplaceAll(b[1], "\t", "    ")), b[2], n)
		return
	}
	indented := line[0] == ' ' || line[0] == '\t'
	switch {
	case len(m.block) > 0 && !m.gap, len(m.block) > 0 && m.depth >= 0 && indented:
		m.block[len(m.block)-1] += " " + start
	default:
		m.flush()
		m.lead = ""
		m.begin(start, n, -1)
	}
	m.gap = false
}

// bullet begins a fact, or goes on with one that it stands below.
func (m *markdown) bullet(depth int, text string, n int) {
	if len(m.block) > 0 && m.depth >= 0 && depth > m.depth+1 {
		m.block = append(m.block, "- "+text)
		m.gap = false
		return
	}
	if len(m.block) > 0 && m.depth < 0 && strings.HasSuffix(m.block[len(m.block)-1], ":") {
		m.lead = strings.TrimSuffix(strings.Join(m.block, " "), ":")
		m.block = nil
	}
	m.flush()
	m.begin(text, n, depth)
}

func (m *markdown) begin(text string, n, depth int) {
	m.block, m.line, m.depth, m.gap = []string{text}, n, depth, false
}

// flush ends the fact that is being read.
func (m *markdown) flush() {
	text := strings.Join(m.block, "\n")
	m.block, m.gap = nil, false
	if text == "" {
		return
	}
	if to := link.FindStringSubmatch(text); to != nil && m.index != nil && slices.ContainsFunc(to[1:], func(l string) bool { return exists(l, m.index) }) {
		return // its file is read
	}
	for _, about := range []string{m.lead, m.heading} {
		if about != "" {
			text = about + ": " + text
			break
		}
	}
	m.add(m.target, text, m.at(m.line))
}
