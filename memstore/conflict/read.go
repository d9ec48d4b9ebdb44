package conflict

import (
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A statement is one clause of an entry.
type statement struct {
	about  set            // what it is about: its words, without values and filling
	names  set            // those of about that are written like names
	values map[string]set // what it says, by kind of value
	denied bool
	many   bool   // of the kind that can be said of many things: knows, likes
	more   bool   // says that it comes on top of what is known
	head   string // the first of about, where the language puts what is meant first
}

// read takes an entry apart.
func read(entry string) []statement {
	var all []statement
	for _, clause := range clauses(entry) {
		words := tokens(clause)
		if len(words) == 0 {
			continue
		}
		more := statements(words, all)
		if first := &more[0]; len(all) > 0 && len(first.about) == 0 {
			// "The API runs in docker, on port 80": the port is the API's.
			before := all[len(all)-1]
			first.about, first.names, first.head = maps.Clone(before.about), maps.Clone(before.names), before.head
		}
		all = append(all, more...)
	}
	return all
}

// A token is a word in its plain form, and as it was written.
type token struct{ word, raw string }

func tokens(clause string) []token {
	var list []token
	for _, raw := range rawTokens(clause) {
		if r, _ := utf8.DecodeRuneInString(raw); unicode.Is(unicode.Han, r) {
			list = append(list, segment(raw)...)
			continue
		}
		raw = strings.TrimRight(raw, ".'’-")
		if n := strings.TrimLeft(raw, "0123456789"); n != raw && units[strings.ToLower(n)] {
			list = append(list, token{raw[:len(raw)-len(n)], ""}, token{strings.ToLower(n), ""})
			continue
		}
		w := strings.ToLower(strings.ReplaceAll(raw, "’", "'"))
		if strings.HasSuffix(w, "n't") || w == "cannot" || w == "without" {
			list = append(list, token{"not", raw})
			continue
		}
		w = strings.TrimSuffix(w, "'s")
		if n, ok := numerals[w]; ok {
			w = n
		}
		list = append(list, token{w, raw})
	}
	return join(list)
}

// segment splits a run of Han characters at the words we know; what is between
// them is kept as pairs of characters.
func segment(run string) []token {
	var list []token
	rest := []rune(run)
	var unknown []rune
	flush := func() {
		for i := 0; i+1 < len(unknown); i++ {
			list = append(list, token{string(unknown[i : i+2]), ""})
		}
		if len(unknown) == 1 {
			list = append(list, token{string(unknown), ""})
		}
		unknown = nil
	}
	for len(rest) > 0 {
		if n, ok := numerals[string(rest[:1])]; ok && len(rest) > 1 && units[string(rest[1:2])] {
			flush()
			list = append(list, token{n, ""}, token{string(rest[1:2]), ""})
			rest = rest[2:]
			continue
		}
		n := min(longestHan, len(rest))
		for ; n > 0; n-- {
			if w, ok := han[string(rest[:n])]; ok {
				flush()
				for part := range strings.FieldsSeq(w) {
					list = append(list, token{part, ""})
				}
				break
			}
		}
		if n == 0 {
			unknown = append(unknown, rest[0])
			n = 1
		}
		rest = rest[n:]
	}
	flush()
	return list
}

// join makes one token of phrases that mean one thing.
func join(list []token) []token {
	var all []token
	for i := 0; i < len(list); i++ {
		if i+1 < len(list) {
			if w, ok := phrases[list[i].word+" "+list[i+1].word]; ok {
				all = append(all, token{w, list[i].raw})
				i++
				continue
			}
		}
		all = append(all, list[i])
	}
	return all
}

// statements reads one clause: more than one where it sets a thing against
// another ("X instead of Y"). before is what the entry has said so far.
func statements(words []token, before []statement) []statement {
	for i, w := range words {
		switch {
		case w.word == "@instead" && i > 0:
			return against(state(words[:i]), state(words[i+1:]))
		case w.word == "@instead" && len(before) > 0:
			return against(before[len(before)-1], state(words[1:]))[1:]
		case w.word == "not" && i == 0 && len(before) > 0 && len(words) <= 3:
			return against(before[len(before)-1], state(words[1:]))[1:]
		case w.word == "over" && i > 0 && prefers(words[:i]):
			return against(state(words[:i]), state(words[i+1:]))
		case w.word == "from" && i > 0 && has(words[:i], moves):
			for j := i + 1; j < len(words); j++ {
				if words[j].word == "to" {
					was := state(words[i+1 : j])
					now := state(append(append([]token{}, words[:i]...), words[j+1:]...))
					return against(now, was)
				}
			}
		}
	}
	return []statement{state(words)}
}

// against makes two statements of "this, not that".
func against(this, that statement) []statement {
	that.denied = !that.denied
	for w := range this.about {
		that.about[w] = true
	}
	return []statement{this, that}
}

func prefers(words []token) bool { return has(words, set{"prefer": true}) }

func has(words []token, group set) bool {
	for _, w := range words {
		if group[stem(w.word)] {
			return true
		}
	}
	return false
}

// state reads words as one statement.
func state(words []token) statement {
	s := statement{about: set{}, names: set{}, values: map[string]set{}}
	words = s.frame(words)
	last := "" // the word that a number would belong to
	for i, w := range words {
		st := stem(w.word)
		next := ""
		if i+1 < len(words) {
			next = words[i+1].word
		}
		switch {
		case w.word == "go" && (w.raw != "Go" || next == "to"):
		case isNumber(w.word):
			prev := ""
			if i > 0 {
				prev = stem(words[i-1].word)
			}
			s.number(w.word, prev, last, next)
			continue
		case denials[w.word]:
			s.denied = !s.denied
		case opposites[st]:
			s.denied = !s.denied
			s.many = true
		case additions[w.word]:
			s.more = true
		case manyVerbs[st]:
			s.many = true
			if actions[st] {
				s.about[st] = true
			}
		case slots[w.word] != "":
			s.value(w.word)
			last = st
		case slots[st] != "":
			s.value(st)
			last = st
		case filling[st] || filling[w.word]:
		case units[st] && i > 0 && isNumber(words[i-1].word):
		default:
			s.about[st] = true
			if w.raw == "" && s.head == "" {
				s.head = st
			}
			if i > 0 && isName(w.raw) {
				s.names[st] = true
			} else if i == 0 && firstNames(w.raw, next) {
				s.names[st] = true
			}
			last = st
		}
	}
	return s
}

func (s *statement) value(word string) {
	slot, v, _ := strings.Cut(slots[word], " ")
	s.put(slot, v)
}

func (s *statement) put(slot, v string) {
	if s.values[slot] == nil {
		s.values[slot] = set{}
	}
	s.values[slot][v] = true
}

// frame reads "the NAME of it is VALUE" and "it lives in VALUE", and returns
// the words that are left.
func (s *statement) frame(words []token) []token {
	for i, w := range words {
		st := stem(w.word)
		switch {
		case i > 0 && i+1 < len(words) && copulas[w.word] && nouns[stem(words[i-1].word)]:
			rest := words[i+1:]
			if simple(rest) {
				s.put("="+stem(words[i-1].word), phrase(rest))
				return words[:i-1]
			}
		case w.word == "called" && i > 0 && i+1 < len(words) && simple(words[i+1:]):
			s.put("=nam", phrase(words[i+1:]))
			return words[:i]
		case places[st] && i+2 <= len(words)-1 && prepositions[words[i+1].word]:
			rest := words[i+2:]
			if simple(rest) {
				s.put("at", phrase(rest))
				return words[:i]
			}
		case w.word == "@livesin" && i+1 < len(words):
			s.put("at", phrase(words[i+1:]))
			return words[:i]
		}
	}
	return words
}

// simple tells whether words are one value: no number or value that is read on
// its own, and not a whole sentence.
func simple(words []token) bool {
	if len(words) > 5 {
		return false
	}
	for _, w := range words {
		if isNumber(w.word) || slots[w.word] != "" || denials[w.word] {
			return false
		}
	}
	return true
}

func phrase(words []token) string {
	var all []string
	for _, w := range words {
		if !filling[stem(w.word)] {
			all = append(all, w.word)
		}
	}
	return strings.Join(all, " ")
}

// number files a number under what it measures: the unit behind it, the kind
// that it shows, or the last word before it that says something.
func (s *statement) number(n, prev, before, after string) {
	unit := stem(after)
	switch {
	case strings.HasPrefix(n, "#") || numbered[prev]:
		delete(s.about, prev)
		s.about[prev+n] = true // part of a thing's name
	case strings.Contains(n, "://"):
		s.put("url", n)
	case strings.Contains(n, "@"):
		s.put("email", n)
	case strings.Contains(n, "/"):
		s.put("path", n)
	case strings.Contains(n, ":"):
		s.put("time", n)
	case strings.HasSuffix(n, "%"):
		s.put("#%", n)
	case units[unit]:
		s.put("#"+unit, n)
	case strings.Count(n, ".") == 3:
		s.put("ip", n)
	default:
		if before != "" {
			delete(s.about, before)
		}
		s.put("#"+before, n)
	}
}

func isNumber(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return unicode.IsDigit(r) && !strings.ContainsFunc(w, unicode.IsLetter) || r == '#' && len(w) > 1 || strings.Contains(w, "://") || strings.Contains(w, "@") && !strings.HasPrefix(w, "@") || strings.HasPrefix(w, "/") || strings.HasPrefix(w, "~/") || strings.HasPrefix(w, "./")
}

// isName tells whether a word in a sentence is written like a name.
func isName(raw string) bool {
	r, n := utf8.DecodeRuneInString(raw)
	return unicode.IsUpper(r) && len(raw) > n && strings.ToUpper(raw) != raw
}

// firstNames tells whether the first word of a clause is a name: a capital
// proves nothing there, a verb behind it does.
func firstNames(raw, next string) bool {
	return isName(raw) && (places[stem(next)] || manyVerbs[stem(next)]) && !strings.HasSuffix(raw, "s")
}

// stem takes endings off English words, the same way everywhere.
func stem(w string) string {
	if len(w) > 0 && w[0] >= utf8.RuneSelf || strings.HasPrefix(w, "@") {
		return w
	}
	for _, end := range []string{"ing", "ies", "ed", "es", "s", "e", "y"} {
		if root, ok := strings.CutSuffix(w, end); ok && len(root) >= 3 && !(end == "s" && strings.HasSuffix(root, "s")) {
			return root
		}
	}
	return w
}
