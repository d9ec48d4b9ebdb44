package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A language is the made vocabulary that generated text is drawn from: words
// by Zipf's law, identifiers, and runs of Chinese, Japanese and Korean.
type language struct {
	rnd         *rand.Rand
	pcg         *rand.PCG // of rnd
	zipf        *rand.Zipf
	words       []string // most frequent first
	identifiers []string
	cjk         []string
}

// Sizes of the vocabulary: those of a few years of one developer's work.
const (
	vocabulary  = 50_000
	identifiers = 30_000
	cjkWords    = 4_000
)

func newLanguage(seed uint64) *language {
	pcg := rand.NewPCG(seed, seed^0x9e3779b97f4a7c15)
	rnd := rand.New(pcg)
	l := &language{rnd: rnd, pcg: pcg, zipf: rand.NewZipf(rnd, 1.07, 4, vocabulary-1)}
	onsets := strings.Fields("b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sh sl st t th tr v w")
	vowels := strings.Fields("a e i o u ai ea ee io ou")
	codas := strings.Fields("n r s t l m ck nd rt st x ng")
	syllable := func() string {
		s := onsets[rnd.IntN(len(onsets))] + vowels[rnd.IntN(len(vowels))]
		if rnd.IntN(2) == 0 {
			s += codas[rnd.IntN(len(codas))]
		}
		return s
	}
	seen := map[string]bool{}
	for len(l.words) < vocabulary {
		// Frequent words are short, as in a natural language.
		n := 1 + min(3, len(l.words)/2_000)
		w := ""
		for range n {
			w += syllable()
		}
		if rnd.IntN(4) == 0 {
			w += syllable()
		}
		if !seen[w] {
			seen[w] = true
			l.words = append(l.words, w)
		}
	}
	for range identifiers {
		l.identifiers = append(l.identifiers, l.identifier())
	}
	blocks := [][2]int{{0x4e00, 1200}, {0x4e00, 1200}, {0x4e00, 1200}, {0x3042, 80}, {0x30a2, 80}, {0xac00, 600}}
	for range cjkWords {
		b := blocks[rnd.IntN(len(blocks))]
		n := 2 + rnd.IntN(2)
		run := make([]rune, n)
		for i := range run {
			run[i] = rune(b[0] + int(float64(b[1])*rnd.Float64()*rnd.Float64()))
		}
		l.cjk = append(l.cjk, string(run))
	}
	return l
}

// seed makes what is drawn from here on depend on n alone.
func (l *language) seed(n uint64) { l.pcg.Seed(n, n^0x9e3779b97f4a7c15) }

// word draws a word by frequency.
func (l *language) word() string { return l.words[l.zipf.Uint64()] }

// between draws a word whose rank lies in [from, to).
func (l *language) between(from, to int) string { return l.words[from+l.rnd.IntN(to-from)] }

func (l *language) identifier() string {
	a, b, c := l.between(0, 3000), l.between(0, 3000), l.between(0, 3000)
	title := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	switch l.rnd.IntN(4) {
	case 0:
		return a + title(b) + title(c)
	case 1:
		return a + "_" + b
	case 2:
		return a + "/" + b + "/" + c + ".go"
	default:
		return title(a) + title(b)
	}
}

// sentences draws n words as prose, now and then an identifier among them.
func (l *language) sentences(n int) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i == 0:
		case l.rnd.IntN(12) == 0:
			b.WriteString(". ")
		default:
			b.WriteByte(' ')
		}
		if l.rnd.IntN(25) == 0 {
			b.WriteString(l.identifiers[l.rnd.IntN(len(l.identifiers))])
		} else {
			b.WriteString(l.word())
		}
	}
	return b.String() + "."
}

// chinese draws n words of Chinese, Japanese or Korean.
func (l *language) chinese(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(l.cjk[int(float64(len(l.cjk))*l.rnd.Float64()*l.rnd.Float64())])
		if i%9 == 8 {
			b.WriteString("，")
		}
	}
	return b.String() + "。"
}

// output draws n lines as a tool prints them.
func (l *language) output(n int) string {
	var b strings.Builder
	for i := range n {
		id := l.identifiers[l.rnd.IntN(len(l.identifiers))]
		switch l.rnd.IntN(3) {
		case 0:
			fmt.Fprintf(&b, "%s:%d: %s %s\n", id, l.rnd.IntN(900), l.word(), l.word())
		case 1:
			fmt.Fprintf(&b, "%d\t%s = %s(%d)\n", i, l.word(), id, l.rnd.IntN(1<<16))
		default:
			fmt.Fprintf(&b, "%08x %s %s %s\n", l.rnd.Uint32(), l.word(), id, l.word())
		}
	}
	return b.String()
}
