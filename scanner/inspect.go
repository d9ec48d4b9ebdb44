package scanner

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner/reading"
	"github.com/hermes-mcp/hermes-mcp/scanner/rule"
	"github.com/hermes-mcp/hermes-mcp/scanner/secret"
	"github.com/hermes-mcp/hermes-mcp/scanner/unseen"
)

// Inspect judges text for scope. Invisible characters are judged from the text
// as given; everything else from its readings, which see through case, width,
// accents, lookalikes, spacing and one level of encoding. A secret has no place
// in Strict, and neither has markup that a prompt gives a meaning of its own: the
// tags of our fence, which would close it, and an agent's system reminders.
func Inspect(text string, scope Scope) Report {
	kept, removed, hiding := unseen.Clean(text)
	r := Report{Text: kept, Removed: findings(removed), Findings: findings(hiding)}
	m := rule.NewMatcher(int(scope))
	for _, rd := range reading.Of(text) {
		for _, found := range m.Match(rd) {
			r.add(Finding{found.Rule, excerpt(rd.Text[found.Start:found.End]), rd.Offset(found.Start)})
		}
	}
	if scope >= Strict {
		for _, t := range markup(text) {
			r.add(Finding{"prompt_markup", excerpt(text[t.start:t.end]), t.start})
		}
		for _, s := range secret.Find(text) {
			r.add(Finding{"hardcoded_secret", "[REDACTED:" + s.Rule + "]", s.Start})
		}
	}
	return r
}

// reminderTag is the markup by which agents speak to their models.
var reminderTag = regexp.MustCompile(`(?i)</?system[-_]reminder\b[^>]*>`)

// markup are the tags in text that a prompt would take for its own.
func markup(text string) []span {
	if !strings.ContainsAny(text, "<＜‹⟨〈﹤") {
		return nil
	}
	var all []span
	for _, t := range fenceTags(text) {
		all = append(all, span{start: t.start, end: t.end})
	}
	for _, at := range reminderTag.FindAllStringIndex(text, -1) {
		all = append(all, span{start: at[0], end: at[1]})
	}
	return all
}

func findings(marks []unseen.Mark) (out []Finding) {
	for _, m := range marks {
		out = append(out, Finding{m.Name, fmt.Sprintf("U+%04X ×%d", m.Rune, m.Count), m.Offset})
	}
	return out
}

// add notes f unless its rule has been noted before; one reason is enough.
func (r *Report) add(f Finding) {
	if !slices.ContainsFunc(r.Findings, func(g Finding) bool { return g.Rule == f.Rule }) {
		r.Findings = append(r.Findings, f)
	}
}

// excerpt shortens what matched. It comes from a view, so there is nothing
// invisible in it; line breaks become spaces.
func excerpt(s string) string {
	const limit = 80
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, string(rune(reading.Either)), "i")), " ")
	if len(s) <= limit {
		return s
	}
	cut := limit
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// Redact masks secrets (provider keys, PEM blocks, tokens, connection strings,
// values beside secret-like names) as [REDACTED:rule] and leaves the rest of
// the text byte for byte. The name beside a secret stays, so that a reader
// still sees which key was meant. Masked text comes back as it is.
func Redact(text string) string {
	found := secret.Find(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	end := 0
	for _, s := range found {
		b.WriteString(text[end:s.Start])
		b.WriteString("[REDACTED:" + s.Rule + "]")
		end = s.End
	}
	b.WriteString(text[end:])
	return b.String()
}
