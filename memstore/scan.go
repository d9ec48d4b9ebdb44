package memstore

import (
	"fmt"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// A Scanning says how strictly the contents that enter a target are scanned.
// It is about writes only: whatever is let in, an entry that breaks a rule of
// the strict scope stays masked in prompts, unless a person wrote it with
// Op.Unscanned. So a changed setting opens the file, and not the prompt.
type Scanning string

const (
	ScanStrict  Scanning = "strict"  // what must not become a lasting prompt is refused; so is ""
	ScanContext Scanning = "context" // only what a model must not even read once; secrets pass
	ScanOff     Scanning = "off"     // nothing is refused, and nothing taken out
)

// scanning is how strictly a call's contents are scanned. What comes out of
// other programs' memories is nobody's considered word, so no setting opens the
// door for it.
func (s *Store) scanning(t Target, by Caller, ops []Op) Scanning {
	p, err := s.placeFor(t, by, ops)
	if err != nil || by.Origin == "import" {
		return ScanStrict
	}
	return p.scan
}

// screen returns op's content as it will be stored and what was taken out of
// it, or why it is refused.
func (scan Scanning) screen(op Op) (content string, removed []scanner.Finding, err *OpError) {
	content = document.Clean(op.Content)
	if scan == ScanOff || op.Unscanned {
		return content, nil, nil
	}
	scope := scanner.Strict
	if scan == ScanContext {
		scope = scanner.Context
	}
	r := scanner.Inspect(content, scope)
	if r.Refused() {
		return "", nil, &OpError{Err: ErrBlocked, Action: op.Action, Findings: r.Findings,
			Reason: fmt.Sprintf("content breaks the rule %s (%q) for what may enter a prompt", r.Findings[0].Rule, r.Findings[0].Match)}
	}
	return document.Clean(r.Text), r.Removed, nil
}

// verdict is what the scanner says of a text that is about to enter a prompt:
// the rule it broke, and the text that may be shown.
func (s *Store) verdict(name, text string) (rule, shown string) {
	rule = s.rules.about(text, func(text string) string {
		if found := scanner.Scan(text, scanner.Strict); len(found) > 0 {
			return found[0].Rule
		}
		return ""
	})
	if rule == "" {
		return "", text
	}
	return rule, fmt.Sprintf("[BLOCKED: %s entry %s contained threat pattern(s): %s. It is kept from prompts; this line as old_text removes it.]", name, hash(text)[:8], rule)
}

// passed remembers that contents which were checked as they stand broke no rule,
// or the answer to their edit would have them judged again.
func (s *Store) passed(scan Scanning, ops []Op) {
	if scan != ScanStrict && scan != "" {
		return
	}
	for _, op := range ops {
		if op.Action != Remove && !op.Unscanned {
			s.rules.keep(op.Content, "")
		}
	}
}

// judge sets what of e a prompt may hold.
func (s *Store) judge(name string, e *Entry) {
	if e.Blocked, e.Shown = "", e.Text; !e.Unscanned {
		e.Blocked, e.Shown = s.verdict(name, e.Text)
	}
}
