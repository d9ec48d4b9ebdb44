package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTerms bounds a query; what a person pastes beyond it says little more.
const maxTerms = 48

// A Term is one thing to look for.
type Term struct {
	Tokens []string // one, or several that must follow each other
	Prefix bool     // the last token may go on
	Kind   Kind     // of its token; Word for sequences
	Text   string   // as typed
	// Capital says that a word inside the query was written with a capital.
	Capital bool
	// At is the position among the words of the query that count, for
	// proximity; -1 for a term that stands beside another: a sequence beside
	// its words, a character beside its pair.
	At   int
	Part int // number of the sentence it stands in, from 0
}

// A Filter is a field:value of the query.
type Filter struct{ Field, Value string }

// A Query is a text understood. Every text has one.
type Query struct {
	Terms   []Term // any may match, the more the better
	Must    []Term // quoted phrases and operands of AND: each has to match
	Not     []Term // none may match
	Filters []Filter
	Parts   int    // sentences that hold terms
	Idle    bool   // it holds only stop words, which are looked for after all
	Raw     string // the text without its filters
}

// fields are the names that a filter may have.
var fields = map[string]bool{
	"tool": true, "file": true, "role": true, "project": true,
	"source": true, "since": true, "until": true,
}

// Parse understands text as a query: words, "phrases", OR, AND, NOT or -word,
// prefix*, and field:value for the fields tool, file, role, project, source,
// since, until. Whatever does not fit is words. A query of nothing but stop
// words, or of nothing but exclusions, looks for these.
func Parse(text string) Query {
	p := parser{}
	p.items(text)
	if len(p.list) == 0 { // nothing but operators
		p = parser{literal: true}
		p.items(text)
	}
	q := p.query()
	if len(q.Terms)+len(q.Must) == 0 {
		p.keepStops = true
		q = p.query()
		q.Idle = len(q.Terms) > 0
	}
	if len(q.Terms)+len(q.Must) == 0 && len(q.Not) > 0 {
		q.Terms, q.Not = q.Not, nil
	}
	return q
}

// Require adds what value says to what has to match.
func (q *Query) Require(value string) {
	it := item{text: value, must: true, phrase: true}
	if tokens := Tokens(value); len(tokens) > 0 {
		q.Must = append(q.Must, sequence(it, tokens))
	}
}

type item struct {
	text   string
	phrase bool // was quoted
	not    bool
	must   bool
	prefix bool
	first  bool // of its sentence
	part   int
}

type parser struct {
	list      []item
	filters   []Filter
	raw       []string
	keepStops bool
	literal   bool // operators are words
}

// items cuts the text at spaces and balanced quotes, and reads the operators.
func (p *parser) items(text string) {
	not, and, first, part := false, false, true, 0
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		if unicode.IsSpace(r) {
			text = text[size:]
			continue
		}
		minus := false
		if r == '-' && len(text) > 1 && text[1] == '"' {
			minus, text = true, text[1:]
			r = '"'
		}
		if quote := closing(r); quote != 0 {
			size = utf8.RuneLen(r)
			if end := strings.IndexRune(text[size:], quote); end >= 0 {
				p.add(item{text: text[size : size+end], phrase: true, not: not || minus, must: true, first: first, part: part})
				p.raw = append(p.raw, text[:size+end+utf8.RuneLen(quote)])
				not, and, first = false, false, false
				text = text[size+end+utf8.RuneLen(quote):]
				continue
			}
			text = text[size:] // a lone quote is a space
			continue
		}
		end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
		if end < 0 {
			end = len(text)
		}
		word := text[:end]
		text = text[end:]
		if p.filter(word) {
			continue
		}
		p.raw = append(p.raw, word)
		switch {
		case p.literal:
		case word == "OR" || word == "||" || word == "|":
			continue
		case word == "AND" || word == "&&":
			if n := len(p.list); n > 0 && strings.TrimSpace(text) != "" {
				p.list[n-1].must = true
				and = true
			}
			continue
		case word == "NOT":
			not = true
			continue
		}
		it := item{text: word, not: not, must: and, first: first, part: part}
		if excluded(word) {
			it.text, it.not = word[1:], true
		}
		if n := len(it.text); n > 1 && it.text[n-1] == '*' {
			it.text, it.prefix = strings.TrimRight(it.text, "*"), true
		}
		p.add(it)
		not, and, first = false, false, false
		if strings.ContainsAny(word[len(word)-1:], "?!;") || strings.HasSuffix(word, "。") ||
			strings.HasSuffix(word, "?") || strings.HasSuffix(word, "!") || strings.HasSuffix(word, ";") {
			part, first = part+1, true
		}
	}
}

func (p *parser) add(it item) {
	if it.text != "" {
		p.list = append(p.list, it)
	}
}

// closing returns the mark that ends a quotation begun by r, or 0.
func closing(r rune) rune {
	switch r {
	case '"':
		return '"'
	case '“':
		return '”'
	case '„':
		return '“'
	case '«':
		return '»'
	case '「':
		return '」'
	}
	return 0
}

// excluded tells whether word is -word. Short ones are options of commands.
func excluded(word string) bool {
	if len(word) < 4 || word[0] != '-' {
		return false
	}
	return strings.IndexFunc(word[1:], func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

func (p *parser) filter(word string) bool {
	field, value, ok := strings.Cut(word, ":")
	if !ok || value == "" || !fields[field] {
		return false
	}
	p.filters = append(p.filters, Filter{field, strings.Trim(value, `"'`)})
	return true
}

// query turns the items into terms.
func (p *parser) query() Query {
	q := Query{Filters: p.filters, Raw: strings.Join(p.raw, " ")}
	at, lastPart := 0, -1
	for _, it := range p.list {
		tokens := Tokens(it.text)
		if len(tokens) == 0 || len(q.Terms) >= maxTerms {
			continue
		}
		if it.not || it.phrase || it.must {
			if !it.phrase && !p.keepStops && len(tokens) == 1 && stopToken(it.text, tokens[0]) {
				continue
			}
			if whole := sequence(it, tokens); it.not {
				q.Not = append(q.Not, whole)
				continue
			} else {
				q.Must = append(q.Must, whole)
			}
		}
		n := len(q.Terms)
		q.Terms, at = p.terms(q.Terms, it, tokens, at)
		if len(q.Terms) > n && it.part != lastPart {
			q.Parts++
			lastPart = it.part
		}
	}
	return q
}

// terms appends what one item asks for: its tokens, and where they are several,
// their sequence.
func (p *parser) terms(dst []Term, it item, tokens []Token, at int) ([]Term, int) {
	for i, t := range tokens {
		if !p.keepStops && !option(it.text) && stopToken(it.text, t) {
			continue
		}
		term := Term{Tokens: []string{t.Text}, Kind: t.Kind, Text: it.text[t.Start:t.End], At: at, Part: it.part}
		switch t.Kind {
		case Single:
			if i > 0 && tokens[i-1].Kind == Pair && tokens[i-1].End == t.End {
				continue // its pair asks for it
			}
			term.Prefix = true // a pair begins with it, or it ends a run
		case Whole:
			term.At = -1
		case Word:
			r, _ := utf8.DecodeRuneInString(term.Text)
			term.Capital = unicode.IsUpper(r) && !(it.first && i == 0)
		}
		if it.prefix && i == len(tokens)-1 {
			term = prefixTerm(term)
		}
		dst = append(dst, term)
		if term.At >= 0 {
			at++
		}
		if t.Kind == Pair {
			dst = append(dst, characters(term)...)
		}
	}
	if len(tokens) > 1 && !it.phrase && !it.prefix {
		if s := sequence(it, tokens); len(s.Tokens) > 1 {
			dst = append(dst, s)
		}
	}
	return dst, at
}

// characters returns the terms of a pair's characters alone, beside it.
func characters(pair Term) []Term {
	var out []Term
	for _, r := range pair.Text {
		if c := string(r); classify(r) == pairRune {
			out = append(out, Term{Tokens: []string{foldWord(c)}, Prefix: true, Kind: Single, Text: c, At: -1, Part: pair.Part})
		}
	}
	return out
}

// prefixTerm makes a term of a word cut short: unstemmed, since the stem of a
// piece is no piece of the stem.
func prefixTerm(t Term) Term {
	folded := foldWord(t.Text)
	if folded != "" {
		t.Tokens = []string{folded}
	}
	t.Prefix = true
	return t
}

// sequence is the term that asks for all tokens in a row. Whole identifiers
// stay: the text has them in the same places.
func sequence(it item, tokens []Token) Term {
	t := Term{Text: it.text, At: -1, Part: it.part}
	for i, tok := range tokens {
		if tok.Kind == Single && i > 0 && tokens[i-1].Kind == Pair && tokens[i-1].End == tok.End {
			// In the text the run may go on, so a last single character would
			// not be there.
			if i == len(tokens)-1 {
				break
			}
		}
		if tok.Kind == Whole && i == len(tokens)-1 {
			break // the text may have more parts
		}
		t.Tokens = append(t.Tokens, tok.Text)
	}
	if last := tokens[len(tokens)-1]; last.Kind == Single && len(tokens) == 1 {
		t.Kind, t.Prefix = Single, true
	}
	if it.prefix {
		t = prefixLast(t, it.text, tokens)
	}
	return t
}

func prefixLast(t Term, text string, tokens []Token) Term {
	last := tokens[len(tokens)-1]
	if last.Kind == Whole {
		last = tokens[len(tokens)-2]
	}
	if last.Kind == Word {
		if folded := foldWord(text[last.Start:last.End]); folded != "" {
			t.Tokens[len(t.Tokens)-1] = folded
		}
	}
	t.Prefix = true
	return t
}

// option tells whether a word of the query is an option of a command, in which
// every part counts: --theirs, --no-verify.
func option(word string) bool { return len(word) > 2 && strings.HasPrefix(word, "--") }

func stopToken(text string, t Token) bool {
	return t.Kind == Word && Stop(strings.ToLower(text[t.Start:t.End]))
}

// foldWord folds one word without stemming it.
func foldWord(word string) string {
	a := analyzers.Get().(*analyzer)
	defer analyzers.Put(a)
	var out []byte
	for _, r := range word {
		out = a.fold(out, r)
	}
	return string(out)
}
