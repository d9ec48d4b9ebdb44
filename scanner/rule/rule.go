// Package rule looks for intents in the readings of a text.
//
// words.txt groups words of many languages by what they mean; rules.json says
// which meanings, near each other in one sentence, make an intent that a text
// must not have: to override instructions, to send secrets away, to act behind
// the user's back. A word alone is never one. Both are compiled on first use.
package rule

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/hermes-mcp/hermes-mcp/scanner/reading"
)

//go:embed rules.json
var rulesFile []byte

//go:embed words.txt
var wordsFile string

// A rule is one line of rules.json. Either Seq or Re says what it looks for.
//
// Seq names concepts, the groups of words of the same file: "override prior
// instr" matches where a word of each stands within Window words of those
// before it, with no word of Not among them or just ahead of them in the clause,
// and with no more than Lead words of the clause ahead of the first. a|b takes either, a/2 has a window of its own, >a
// comes after the word before it, except where verbs come last. The words of
// one rule come from one sentence and one language.
//
// Langs tells a reader for which languages the rule was written; which it finds
// is up to the words.
//
// Re is an RE2 expression over the canonical view. It is tried where one of
// Lit, the beginnings of all its matches, stands in the text.
type rule struct {
	ID     string   `json:"id"`
	Scope  string   `json:"scope"`
	Langs  string   `json:"langs"`
	Seq    string   `json:"seq"`
	Window int      `json:"window"`
	Lead   int      `json:"lead"`
	Not    string   `json:"not"`
	Re     string   `json:"re"`
	Lit    []string `json:"lit"`
	Yes    []string `json:"yes"` // each must be found by this rule alone
	No     []string `json:"no"`  // none may be found by any rule

	n     int // place in the file
	scope int
	slots []slot
	not   conceptSet
	re    func() *regexp.Regexp
}

// A set is the rules, ready for use.
type set struct {
	rules     []*rule
	sequences []*rule // those with Seq
	shapes    []*rule // those with Re
	lex       *lexicon
}

var load = sync.OnceValues(compile)

// rules returns the compiled rules. They are part of the binary, so a fault in
// them is a bug that Examples, and with it the tests, would have told.
func rules() *set {
	s, err := load()
	if err != nil {
		panic("scanner: " + err.Error())
	}
	return s
}

var scopes = map[string]int{"all": 0, "context": 1, "strict": 2}

func compile() (*set, error) {
	lex, concepts, err := readWords(wordsFile)
	if err != nil {
		return nil, err
	}
	s := &set{lex: lex}
	if err := json.Unmarshal(rulesFile, &s.rules); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	for i, r := range s.rules {
		r.n = i
		if err := r.compile(concepts); err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		if r.Re != "" {
			s.shapes = append(s.shapes, r)
		} else {
			s.sequences = append(s.sequences, r)
		}
	}
	return s, nil
}

// readWords reads words.txt: the name of a concept on a line, then a line of
// phrases for each language.
func readWords(text string) (*lexicon, map[string]concept, error) {
	lex, concepts := newLexicon(), map[string]concept{}
	var now concept
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		lang, phrases, ok := strings.Cut(line, ": ")
		if !ok {
			if _, twice := concepts[line]; twice || len(concepts) == 256 {
				return nil, nil, fmt.Errorf("words: %q comes twice or is one too many", line)
			}
			now = concept(len(concepts))
			concepts[line] = now
			continue
		}
		ls, ok := langBits[lang]
		if !ok || len(concepts) == 0 {
			return nil, nil, fmt.Errorf("words: %q is no language, or belongs to no concept", lang)
		}
		for phrase := range strings.SplitSeq(reading.Canonical(phrases).Text, ", ") {
			lex.add(foldPhrase(phrase), now, ls)
		}
		if lex.full() {
			return nil, nil, errors.New("words: more than the table of the lexicon holds")
		}
	}
	return lex, concepts, nil
}

// foldPhrase writes a canonical phrase the way a stream writes the same words.
func foldPhrase(phrase string) string {
	if isFolded(phrase) {
		return phrase
	}
	phrase, cancels := strings.CutPrefix(phrase, "!")
	parts := strings.Split(phrase, "*")
	for i, part := range parts {
		lead := i > 0 && strings.HasPrefix(part, " ")
		trail := i+1 < len(parts) && strings.HasSuffix(part, " ")
		if part != "" && sign("a"+part+"a", 1) != len(part) {
			var s stream
			s.tokenize(reading.View{Text: part}, nil)
			part = string(s.text)
		}
		if lead {
			part = " " + part
		}
		if trail {
			part += " "
		}
		parts[i] = part
	}
	phrase = strings.Join(parts, "*")
	if cancels {
		phrase = "!" + phrase
	}
	return phrase
}

// isFolded tells whether phrase needs no folding, as most do not.
func isFolded(phrase string) bool {
	for i := range len(phrase) {
		if c := phrase[i]; (c < 'a' || c > 'z') && c != ' ' && c != '*' {
			return false
		}
	}
	return true
}

func (r *rule) compile(concepts map[string]concept) error {
	scope, ok := scopes[r.Scope]
	if !ok {
		return fmt.Errorf("no scope %q", r.Scope)
	}
	r.scope = scope
	if r.Window == 0 {
		r.Window = 8
	}
	if (r.Seq == "") == (r.Re == "") {
		return errors.New("needs one of seq and re")
	}
	if r.Re != "" {
		r.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^(?:" + r.Re + ")") })
		return nil
	}
	for field := range strings.FieldsSeq(r.Seq) {
		field, after := strings.CutPrefix(field, ">")
		names, window, own := strings.Cut(field, "/")
		cs, err := conceptsOf(names, concepts)
		if err != nil {
			return err
		}
		s := slot{conceptSet: cs, window: int32(2 * r.Window), after: after}
		if own {
			n, err := strconv.Atoi(window)
			if err != nil {
				return err
			}
			s.window = int32(2 * n)
		}
		r.slots = append(r.slots, s)
	}
	var err error
	if r.Not != "" {
		r.not, err = conceptsOf(r.Not, concepts)
	}
	return err
}

// A slot takes a word of any of its concepts, within window half words of the
// words of the slots before it.
type slot struct {
	conceptSet
	window int32
	after  bool
}

func conceptsOf(slot string, concepts map[string]concept) (cs conceptSet, err error) {
	for name := range strings.SplitSeq(slot, "|") {
		c, ok := concepts[name]
		if !ok {
			return cs, fmt.Errorf("no words for %q", name)
		}
		cs.add(c)
	}
	return cs, nil
}

// An Example is a text that a rule must find, or that no rule may.
type Example struct {
	Rule  string
	Scope int // of the rule
	Text  string
	Found bool
}

// Examples returns the examples of all rules, of which each has one for either
// side. It fails when the rules do not load. It is for tests.
func Examples() ([]Example, error) {
	s, err := load()
	if err != nil {
		return nil, err
	}
	var out []Example
	for _, r := range s.rules {
		if r.Langs == "" || len(r.Yes) == 0 || len(r.No) == 0 {
			return nil, fmt.Errorf("rule %s: needs langs and an example for each side", r.ID)
		}
		for _, text := range r.Yes {
			out = append(out, Example{r.ID, r.scope, text, true})
		}
		for _, text := range r.No {
			out = append(out, Example{r.ID, r.scope, text, false})
		}
	}
	return out, nil
}
