// Package scanner decides what may cross into a prompt, and marks what did.
//
// Memory is replayed into every later prompt, so a text is looked at before it
// is stored ([Inspect]), and recalled text is fenced before a model reads it
// ([Fence]). Secrets are masked wherever text leaves the archive ([Redact]).
//
// # What is looked at
//
// Invisible characters are judged from the text as given, by property and by
// their neighbours: joiners inside emoji and words, marks in right-to-left
// text and selectors that have something to select stay; the rest is taken
// out, or refused when it hides text or changes the order of what is read.
// Everything else is judged from the readings of the text, which see through
// disguises and one level of encoding, by rules that ask for an intent (a verb
// and its object), never for a single word.
//
// # How it is parted
//
// property knows characters, unseen judges the invisible ones, reading reads a
// text in every way, rule looks for intents in the readings, secret finds keys.
//
// All functions are pure, linear in the length of the text, and safe for
// concurrent use. The package keeps no state; the rules are compiled when the
// first text is judged, in a few milliseconds.
package scanner

// A Scope says how lasting the place is that a text is about to enter. Scopes
// are cumulative: the rules of All are a subset of Context's, and Context's of
// Strict's.
type Scope int

const (
	All     Scope = iota // any text a model may meet
	Context              // read once by a model: recall, summaries, search results
	Strict               // becomes a lasting prompt: memory entries
)

// A Finding is one reason to be careful with a text.
type Finding struct {
	Rule   string // stable id, for example "prompt_injection" or "invisible_unicode"
	Match  string // what matched, shortened, safe to print
	Offset int    // byte offset in the text as given
}

// A Report is the verdict on one text. It is clean when Removed and Findings
// are both empty, cleaned when only Removed is not, refused when Findings is
// not empty.
type Report struct {
	Text     string    // the text without what was removed; equal to the input when Removed is empty
	Removed  []Finding // harmless but invisible characters that were taken out
	Findings []Finding // why the text must not enter the scope; empty when it may
}

// Refused tells whether the text must not enter the scope.
func (r Report) Refused() bool { return len(r.Findings) > 0 }

// Scan returns why text must not enter scope, or nil.
func Scan(text string, scope Scope) []Finding { return Inspect(text, scope).Findings }
