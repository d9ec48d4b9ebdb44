package wording

import (
	"slices"
	"strings"
)

// A Claim is a text taken apart.
type Claim struct {
	entities map[string]bool
	bag      map[string]bool // what it says, without negations and small words
	order    []string        // the same in order
	subject  string          // what it begins with
	denies   bool
}

// denials turn what is said into its opposite. A word with another one after
// the colon means that one, denied.
var denials = func() map[string]string {
	set := map[string]string{}
	for _, w := range strings.Fields(`not no never without cannot can't don't doesn't didn't isn't aren't wasn't won't
		shouldn't neither nor none dislikes:likes dislike:like hates:likes hate:like disabled:enabled disables:enables
		disable:enable off:on false:true forbidden:allowed forbids:allows avoids:uses avoid:use stopped:started
		rejects:accepts lacks:has unsupported:supported refuses:accepts`) {
		word, means, _ := strings.Cut(w, ":")
		set[word] = means
	}
	return set
}()

// denialsUnspaced do the same where words are not apart.
var denialsUnspaced = strings.NewReplacer("不", "", "没有", "有", "没", "", "讨厌", "喜欢", "禁用", "启用", "关闭", "开启", "ない", "")

// filler says nothing that another fact could contradict.
var filler = map[string]bool{"now": true, "currently": true, "always": true, "still": true, "usually": true, "today": true, "actually": true}

// NewClaim takes apart a text that is about these entities.
func NewClaim(text string, entities []string) Claim {
	c := Claim{entities: map[string]bool{}, bag: map[string]bool{}}
	for _, e := range entities {
		c.entities[strings.ToLower(e)] = true
	}
	if hasUnspaced(text) {
		plain := denialsUnspaced.Replace(text)
		c.denies, text = plain != text, plain
	}
	for _, w := range Words(strings.ReplaceAll(text, "’", "'")) {
		if means, denied := denials[w]; denied {
			c.denies = !c.denies
			w = means
		}
		w = strings.TrimSuffix(w, "'s")
		if w == "" || stopWords[w] || filler[w] {
			continue
		}
		if c.subject == "" {
			c.subject = stem(w)
		}
		if !hasUnspaced(w) {
			c.say(stem(w))
			continue
		}
		for _, part := range Pairs(w) {
			c.say(part)
		}
		if letters := []rune(c.subject); hasUnspaced(c.subject) && len(letters) > 2 {
			c.subject = string(letters[:2])
		}
	}
	return c
}

func (c *Claim) say(w string) {
	c.bag[w] = true
	c.order = append(c.order, w)
}

// stem takes a plural's or a verb's s off, so that like and likes are one.
func stem(w string) string {
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		return w[:len(w)-1]
	}
	return w
}

// A Clash is how two claims cannot both be true.
type Clash struct {
	Kind    string   // negation: one denies the other; value: the same is said to be different things
	Score   float64  // how sure, from 0 to 1
	Shared  []string // entities of both
	Overlap float64  // their share of all entities of the two
}

// Compare tells whether two claims are of one subject and cannot both be true,
// as far as words tell: one denies what the other says, or both say the same
// but for what is in one place.
func Compare(a, b Claim) (Clash, bool) {
	common := 0
	for w := range a.bag {
		if b.bag[w] {
			common++
		}
	}
	if common == 0 {
		return Clash{}, false
	}
	c := Clash{Shared: []string{}, Overlap: Jaccard(a.entities, b.entities)}
	for name := range a.entities {
		if b.entities[name] {
			c.Shared = append(c.Shared, name)
		}
	}
	slices.Sort(c.Shared)
	n := len(c.Shared)
	if n == 0 && a.subject != b.subject || n < len(a.entities) && n < len(b.entities) {
		return Clash{}, false // of different things, one of them at least
	}
	alike := float64(common) / float64(len(a.bag)+len(b.bag)-common)
	onlyA, onlyB := len(a.bag)-common, len(b.bag)-common
	few := n > 0 && onlyA <= 2 && onlyB <= 2 // of one entity: the order of words may differ
	switch {
	case a.denies != b.denies && alike >= 0.4:
		c.Kind, c.Score = "negation", 0.5+alike/2
	case a.denies == b.denies && onlyA > 0 && onlyB > 0 && alike >= 0.3 && (few || onePlace(a.order, b.order)):
		c.Kind, c.Score = "value", alike
	default:
		return Clash{}, false
	}
	if n > 0 {
		c.Score = min(1, c.Score+0.1)
	}
	return c, true
}

// onePlace tells whether two texts differ in one place, and begin alike.
func onePlace(a, b []string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == 0 {
		return false
	}
	a, b = a[n:], b[n:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return !slices.ContainsFunc(a, func(w string) bool { return slices.Contains(b, w) })
}
