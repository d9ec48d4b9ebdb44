package rule

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner/reading"
)

// A lexicon finds the words of all concepts in one walk. It is a trie of
// phrases whose edges lie in one hash table: a node is a number, an edge is the
// number of its node and a byte.
type lexicon struct {
	edges  []uint64 // open addressing: the edge, then the node it leads to; 0 is free
	nodes  []node   // from root
	senses []sense  // from 1
}

// A node holds what a walk asks at every byte: what the phrase up to here means
// and where its edges by * and space lead, or 0.
type node struct {
	means       int32
	star, space uint32
}

// A concept is the number of a group of words that mean one thing.
type concept uint8

// A sense is what a phrase means, and in which languages. A phrase that cancels
// unsays a shorter one: "never forget" is no "never".
type sense struct {
	concept concept
	langs   langs
	cancels bool
	next    int32 // another sense of the same phrase, or 0
}

// langs is a set of languages. Those that share the Latin alphabet share many
// spellings, so a rule takes its words from one of them; the words of other
// scripts, which mix freely with English, go with any.
type langs uint16

const (
	anyLang   langs = 0x7fff
	verbFinal langs = 0x8000 // the verb may come last
)

var langBits = map[string]langs{
	"en": 1, "es": 2, "de": 4 | verbFinal, "fr": 8, "pt": 16, "it": 32,
	"nl": 64 | verbFinal, "pl": 128, "tr": 256 | verbFinal, "id": 512, "vi": 1024,
	"any": anyLang | verbFinal, "ru": anyLang, "uk": anyLang, "ar": anyLang, "zh": anyLang,
	"ja": anyLang | verbFinal, "ko": anyLang | verbFinal, "hi": anyLang | verbFinal, "fa": anyLang | verbFinal,
}

const root = 1

func newLexicon() *lexicon {
	const edges = 1 << 17
	return &lexicon{
		edges:  make([]uint64, edges),
		nodes:  make([]node, root+1, edges/2),
		senses: make([]sense, 1, edges/8),
	}
}

// add files a phrase: words parted by spaces, * for the rest of a word, ! in
// front of one that cancels.
func (l *lexicon) add(phrase string, c concept, ls langs) {
	phrase, cancels := strings.CutPrefix(phrase, "!")
	at := uint32(root)
	for i := range len(phrase) {
		slot := l.slot(at, phrase[i])
		if l.edges[slot] == 0 {
			next := uint32(len(l.nodes))
			l.edges[slot] = uint64(at<<8|uint32(phrase[i]))<<32 | uint64(next)
			l.nodes = append(l.nodes, node{})
			switch phrase[i] {
			case '*':
				l.nodes[at].star = next
			case ' ':
				l.nodes[at].space = next
			}
		}
		at = uint32(l.edges[slot])
	}
	for i := l.nodes[at].means; i != 0; i = l.senses[i].next {
		if l.senses[i].concept == c {
			l.senses[i].langs |= ls
			return
		}
	}
	l.senses = append(l.senses, sense{c, ls, cancels, l.nodes[at].means})
	l.nodes[at].means = int32(len(l.senses) - 1)
}

// full tells whether the table should be made larger: a fuller one is slow, and
// a full one would never end a search.
func (l *lexicon) full() bool { return len(l.nodes) > len(l.edges)*3/4 }

// slot returns where the edge of node at by b is, or would be.
func (l *lexicon) slot(at uint32, b byte) uint32 {
	key := at<<8 | uint32(b)
	mask := uint32(len(l.edges) - 1)
	i := (key * 0x9e3779b1) >> 8 & mask
	for e := l.edges[i]; e != 0 && uint32(e>>32) != key; e = l.edges[i] {
		i = (i + 1) & mask
	}
	return i
}

// step returns the child of at by b, or 0.
func (l *lexicon) step(at uint32, b byte) uint32 {
	return uint32(l.edges[l.slot(at, b)])
}

// A hit is a concept found in a stream.
type hit struct {
	sense
	first, last int32 // tokens
}

// find appends the hits of s to hits, in the order of their first tokens.
func (l *lexicon) find(s *stream, hits []hit) []hit {
	w := walker{lex: l, s: s, hits: hits}
	for i := range s.toks {
		w.first = int32(i)
		w.glued = s.toks[i].single && s.text[s.toks[i].start] < utf8.RuneSelf
		start := len(w.hits)
		w.walk(root, s.toks[i].start, int32(i))
		w.cancel(start)
	}
	return w.hits
}

// cancel removes what the hits from start on, which begin with one token,
// unsay of each other.
func (w *walker) cancel(start int) {
	for _, c := range w.hits[start:] {
		if c.cancels {
			kept := slices.DeleteFunc(w.hits[start:], func(h hit) bool { return h.concept == c.concept })
			w.hits = w.hits[:start+len(kept)]
			return
		}
	}
}

type walker struct {
	lex   *lexicon
	s     *stream
	first int32
	glued bool // there are no boundaries to tell a word from part of one
	hits  []hit
}

// walk continues from node at with byte i of the stream, in token tok.
func (w *walker) walk(at uint32, i, tok int32) {
	t := &w.s.toks[tok]
	for {
		if i > t.start {
			if star := w.lex.nodes[at].star; star != 0 {
				w.rest(star, tok)
			}
		}
		if i == t.end {
			w.emit(at, tok)
			tok++
			if int(tok) == len(w.s.toks) || w.s.text[i] == '\n' {
				return
			}
			next := &w.s.toks[tok]
			if t.single {
				// Between single characters a space is not needed.
				if sp := w.lex.nodes[at].space; sp != 0 {
					w.walk(sp, next.start, tok)
				}
			} else if at = w.lex.nodes[at].space; at == 0 {
				return
			}
			t, i = next, next.start
		}
		b := w.s.text[i]
		if b == reading.Either {
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
func (w *walker) rest(star uint32, tok int32) {
	w.emit(star, tok)
	sp := w.lex.nodes[star].space
	if sp == 0 || int(tok)+1 == len(w.s.toks) || w.s.text[w.s.toks[tok].end] == '\n' {
		return
	}
	w.walk(sp, w.s.toks[tok+1].start, tok+1)
}

func (w *walker) emit(at uint32, tok int32) {
	const short = 5
	if w.glued && tok-w.first+1 < short {
		return
	}
next:
	for n := w.lex.nodes[at].means; n != 0; n = w.lex.senses[n].next {
		s := w.lex.senses[n]
		// Two stems of one word, from two languages, are one hit.
		for i := len(w.hits) - 1; i >= 0 && w.hits[i].first == w.first; i-- {
			if w.hits[i].concept == s.concept && w.hits[i].last == tok {
				w.hits[i].langs |= s.langs
				continue next
			}
		}
		w.hits = append(w.hits, hit{s, w.first, tok})
	}
}
