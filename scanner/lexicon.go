package scanner

// either stands in a view for a character that may be an i or an l.
const either = 1

// A lexicon finds the words of all concepts in one walk: a trie of phrases,
// kept as first child and next sibling so that building it costs little.
type lexicon struct {
	nodes []node
	root  [256]int32 // children of the root by first byte
}

type node struct {
	b           byte
	child, next int32
	concepts    []concept
}

// A concept is the number of a group of words that mean one thing.
type concept uint8

func newLexicon() *lexicon { return &lexicon{nodes: make([]node, 1, 16384)} }

// add files a phrase: words parted by spaces, * for the rest of a word.
func (l *lexicon) add(phrase string, c concept) {
	var at int32
	for i := range len(phrase) {
		at = l.grow(at, phrase[i])
	}
	l.nodes[at].concepts = append(l.nodes[at].concepts, c)
}

func (l *lexicon) grow(at int32, b byte) int32 {
	if n := l.step(at, b); n != 0 {
		return n
	}
	n := int32(len(l.nodes))
	if at == 0 {
		l.nodes = append(l.nodes, node{b: b})
		l.root[b] = n
		return n
	}
	l.nodes = append(l.nodes, node{b: b, next: l.nodes[at].child})
	l.nodes[at].child = n
	return n
}

// step returns the child of at by b, or 0.
func (l *lexicon) step(at int32, b byte) int32 {
	if at == 0 {
		return l.root[b]
	}
	for n := l.nodes[at].child; n != 0; n = l.nodes[n].next {
		if l.nodes[n].b == b {
			return n
		}
	}
	return 0
}

// A hit is a concept found in a stream.
type hit struct {
	concept     concept
	first, last int32 // tokens
}

// find returns the hits of s in the order of their first tokens.
func (l *lexicon) find(s stream) []hit {
	w := walker{lex: l, s: s}
	for i := range s.toks {
		w.first = int32(i)
		w.walk(0, s.toks[i].start, int32(i))
	}
	return w.hits
}

type walker struct {
	lex   *lexicon
	s     stream
	first int32
	hits  []hit
}

// walk continues from node at with byte i of the stream, in token tok.
func (w *walker) walk(at, i, tok int32) {
	for {
		t := w.s.toks[tok]
		if at != 0 && i > t.start {
			if star := w.lex.step(at, '*'); star != 0 {
				w.rest(star, tok)
			}
			if i == t.end {
				w.emit(at, tok)
				if tok+1 == int32(len(w.s.toks)) {
					return
				}
				next := w.s.toks[tok+1]
				if w.s.text[i] == '\n' {
					return
				}
				if t.single {
					// Between single characters a space is not needed.
					if sp := w.lex.step(at, ' '); sp != 0 {
						w.walk(sp, next.start, tok+1)
					}
				} else if at = w.lex.step(at, ' '); at == 0 {
					return
				}
				tok, i = tok+1, next.start
				continue
			}
		}
		b := w.s.text[i]
		if b == either {
			if n := w.lex.step(at, 'l'); n != 0 {
				w.walk(n, i+1, tok)
			}
			b = 'i'
		}
		if at = w.lex.step(at, b); at == 0 {
			return
		}
		i++
	}
}

// rest goes on after a * that took what was left of token tok.
func (w *walker) rest(star, tok int32) {
	w.emit(star, tok)
	sp := w.lex.step(star, ' ')
	if sp == 0 || tok+1 == int32(len(w.s.toks)) || w.s.text[w.s.toks[tok].end] == '\n' {
		return
	}
	w.walk(sp, w.s.toks[tok+1].start, tok+1)
}

func (w *walker) emit(at, tok int32) {
	for _, c := range w.lex.nodes[at].concepts {
		w.hits = append(w.hits, hit{c, w.first, tok})
	}
}
