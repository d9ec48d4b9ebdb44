package scanner

import (
	"strings"
	"unicode/utf8"
)

// Inspect judges text for scope. Invisible characters are judged from the text
// as given; everything else from readings of it (see [view]) that see through
// case, width, accents, lookalikes, spacing and one level of encoding.
func Inspect(text string, scope Scope) Report {
	kept, removed, hiding := clean(text)
	r := Report{Text: kept, Removed: removed, Findings: hiding}
	rs := rules()
	m := matcher{ruleset: rs, scope: scope, done: make([]bool, len(rs.rules))}
	for _, rd := range readings(text) {
		for _, found := range m.match(rd.view, rd.glued) {
			r.add(found, rd)
		}
	}
	return r
}

func (r *Report) add(m match, rd reading) {
	for _, f := range r.Findings {
		if f.Rule == m.rule.ID {
			return
		}
	}
	f := Finding{Rule: m.rule.ID, Match: excerpt(rd.view.text[m.start:m.end]), Offset: rd.at}
	if !rd.encoded {
		f.Offset = rd.view.raw(m.start)
	}
	r.Findings = append(r.Findings, f)
}

// excerpt shortens what matched. It comes from a view, so there is nothing
// invisible in it; line breaks become spaces.
func excerpt(s string) string {
	const limit = 80
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, string(rune(either)), "i")), " ")
	if len(s) <= limit {
		return s
	}
	cut := limit
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// A reading is a view to be matched.
type reading struct {
	view    view
	glued   [][2]int // where there are no word boundaries
	encoded bool     // the view is of something decoded, which stands at raw offset at
	at      int
}

// readings returns the readings of text that differ: as it stands and with
// disguises undone, the same of whatever is encoded in it, rotated, reversed.
func readings(text string) []reading {
	plain := canonical(text)
	out := []reading{{view: plain}}
	add := func(v view, raw string, encoded bool, at int) {
		if d, glued, ok := disguise(v, raw); ok {
			out = append(out, reading{d, glued, encoded, at})
		}
	}
	add(plain, text, false, 0)
	for _, d := range decode(text) {
		v := canonical(d.text)
		out = append(out, reading{view: v, encoded: true, at: d.at})
		add(v, d.text, true, d.at)
	}
	return append(out, reading{view: rotate(plain)}, reading{view: reverse(plain)})
}
