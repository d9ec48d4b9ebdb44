package bridge

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
)

// titles are the headings that Markdown writes, as they are read again.
var titles = map[string]memstore.Target{"memory": memstore.Memory, "user": memstore.User, "project memory": memstore.Project}

// formMark is how what Markdown writes begins: what follows is read back entry by
// entry, line by line.
const formMark = "<!-- " + form + " -->"

// Markdown writes the entries of all states as lists, and what is known of each
// in a comment behind it. Read gives the same entries, targets, sources and
// confidences back, also when a person has edited it.
func Markdown(all []memstore.State) []byte {
	var b strings.Builder
	b.WriteString(formMark + "\n\n")
	for _, st := range all {
		title := "Memory"
		switch st.Target {
		case memstore.User:
			title = "User"
		case memstore.Project:
			title = "Project memory"
		}
		fmt.Fprintf(&b, "# %s\n\n", title)
		for _, e := range st.Entries {
			source := string(e.Source)
			if source == "" {
				source = unknownSource
			}
			said := []string{source}
			if e.Confidence != "" {
				said = append(said, string(e.Confidence))
			}
			if !e.UpdatedAt.IsZero() {
				said = append(said, e.UpdatedAt.UTC().Format(time.DateOnly))
			}
			if e.Session != "" {
				said = append(said, e.Session)
			}
			fmt.Fprintf(&b, "- %s <!-- %s -->\n", strings.ReplaceAll(e.Text, "\n", "\n"+below), inComment.Replace(strings.Join(said, ", ")))
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

// inComment takes out what would end a comment.
var inComment = strings.NewReplacer("--", "- -", "<", "(", ">", ")")

const (
	unknownSource = "unknown"
	below         = "  " // before each further line of an entry
)

// said is the comment at an entry's end.
var said = regexp.MustCompile(`(?s)^(.*?)[ \t]*<!-- ([^<>]*) -->[ \t]*$`)

// own reads what Markdown wrote: an entry begins with a bullet at the line's
// beginning, and goes on in indented lines. What a person wrote between is read
// as an entry a paragraph.
func (r *reader) own(name, text string) {
	target := memstore.Memory
	var entry []string
	began, listed := 0, false
	flush := func() {
		whole := strings.TrimRight(strings.Join(entry, "\n"), " \t\n")
		entry = nil
		it := Item{Target: target, Text: whole, From: fmt.Sprintf("%s:%d", name, began)}
		if m := said.FindStringSubmatch(whole); m != nil && listed {
			it.Text = m[1]
			it.Source, it.Confidence = known(m[2])
		}
		r.addItem(it)
	}
	for i, line := range strings.Split(strings.TrimPrefix(text, formMark), "\n") {
		bullet, isBullet := strings.CutPrefix(line, "- ")
		title, isTitle := strings.CutPrefix(line, "# ")
		more, isMore := strings.CutPrefix(line, below)
		if !isMore {
			more = ""
		}
		to, ours := titles[strings.ToLower(strings.TrimSpace(title))]
		switch {
		case isBullet:
			flush()
			entry, began, listed = []string{bullet}, i+1, true
		case isTitle && ours:
			flush()
			target = to
		case strings.TrimSpace(line) == "" && (!listed || len(entry) == 0):
			flush()
		case strings.TrimSpace(line) == "": // an editor has taken its blanks off, or the list ends
			entry = append(entry, more)
		case isMore && listed && len(entry) > 0:
			entry = append(entry, more)
		case listed || len(entry) == 0:
			flush()
			entry, began, listed = []string{line}, i+1, false
		default:
			entry = append(entry, line)
		}
	}
	flush()
}

// known reads what Markdown says of an entry.
func known(note string) (source memstore.Source, confidence memstore.Confidence) {
	for _, word := range strings.Split(note, ", ") {
		switch memstore.Source(word) {
		case memstore.UserExplicit, memstore.AgentObserved, memstore.Review:
			source = memstore.Source(word)
		}
		switch memstore.Confidence(word) {
		case memstore.Confirmed, memstore.Probable, memstore.Uncertain:
			confidence = memstore.Confidence(word)
		}
	}
	return source, confidence
}
