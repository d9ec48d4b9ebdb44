package scanner

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed rules.json
var rulesData []byte

// A rule is one line of rules.json. Either Seq or Re says what it looks for.
//
// Seq names concepts, the groups of words of the same file: "override prior
// instr" matches where a word of each stands within Window words of those
// before it, with no word of Not among them or just ahead of them in the clause,
// and with no more than Lead words of the clause ahead of the first. a|b takes either, a/2 has a window of its own, >a
// comes after the word before it, except where verbs come last. The words of
// one rule come from one sentence and one language.
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
	scope Scope
	slots []slot
	not   conceptSet
	re    func() *regexp.Regexp
}

// ruleset is rules.json, ready for use.
type ruleset struct {
	rules     []*rule
	sequences []*rule // those with Seq
	shapes    []*rule // those with Re
	lex       *lexicon
}

type rulesFile struct {
	Traditional string                       `json:"traditional"`
	Words       map[string]map[string]string `json:"words"`
	Rules       []*rule                      `json:"rules"`
}

var readRules = sync.OnceValues(func() (rulesFile, error) {
	var f rulesFile
	err := json.Unmarshal(rulesData, &f)
	return f, err
})

// simplified maps the traditional forms of the ideographs that the rules use.
var simplified = sync.OnceValue(func() map[rune]rune {
	f, _ := readRules()
	m := map[rune]rune{}
	pairs := []rune(f.Traditional)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
})

// loadRules compiles the rules on first use.
var loadRules = sync.OnceValues(compileRules)

// rules returns the compiled rules. They are part of the binary, so a fault in
// them is a bug that SelfTest, and with it the tests, would have told.
func rules() *ruleset {
	rs, err := loadRules()
	if err != nil {
		panic("scanner: rules.json: " + err.Error())
	}
	return rs
}

var scopes = map[string]Scope{"all": All, "context": Context, "strict": Strict}

func compileRules() (*ruleset, error) {
	f, err := readRules()
	if err != nil {
		return nil, err
	}
	rs := &ruleset{lex: newLexicon(), rules: f.Rules}
	concepts := map[string]concept{}
	for i, name := range slices.Sorted(maps.Keys(f.Words)) {
		concepts[name] = concept(i)
		for _, lang := range slices.Sorted(maps.Keys(f.Words[name])) {
			ls, ok := langBits[lang]
			if !ok {
				return nil, fmt.Errorf("no language %q", lang)
			}
			for phrase := range strings.SplitSeq(f.Words[name][lang], ",") {
				rs.lex.add(foldPhrase(phrase), concept(i), ls)
			}
		}
	}
	if len(concepts) > 256 {
		return nil, errors.New("more than 256 concepts")
	}
	for i, r := range f.Rules {
		r.n = i
		if err := r.compile(concepts); err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		if r.Re != "" {
			rs.shapes = append(rs.shapes, r)
		} else {
			rs.sequences = append(rs.sequences, r)
		}
	}
	return rs, nil
}

// foldPhrase writes a phrase the way a stream writes the same words.
func foldPhrase(phrase string) string {
	phrase, cancels := strings.CutPrefix(strings.TrimSpace(phrase), "!")
	parts := strings.Split(phrase, "*")
	for i, part := range parts {
		lead := i > 0 && strings.HasPrefix(part, " ")
		trail := i+1 < len(parts) && strings.HasSuffix(part, " ")
		if part = canonical(part).text; part != "@" {
			var s stream
			s.tokenize(view{text: part}, nil)
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

// SelfTest loads the rules and tries every rule on its own examples. It is for
// tests and for a doctor's visit; nothing else pays for it.
func SelfTest() error {
	rs, err := loadRules()
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range rs.rules {
		if r.Langs == "" || len(r.Yes) == 0 || len(r.No) == 0 {
			errs = append(errs, fmt.Errorf("rule %s: needs langs and an example for each side", r.ID))
		}
		for _, text := range r.Yes {
			if !slices.ContainsFunc(Scan(text, r.scope), func(f Finding) bool { return f.Rule == r.ID }) {
				errs = append(errs, fmt.Errorf("rule %s misses %q", r.ID, text))
			}
		}
		for _, text := range r.No {
			if found := Scan(text, Strict); found != nil {
				errs = append(errs, fmt.Errorf("rule %s: %q is refused by %s for %q", r.ID, text, found[0].Rule, found[0].Match))
			}
		}
	}
	return errors.Join(errs...)
}
