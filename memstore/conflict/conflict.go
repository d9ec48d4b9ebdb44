// Package conflict finds remembered facts that cannot both hold: the same thing
// said with and without a negation, or with another value.
//
// It reads English and Chinese with word lists and no model, so it is quick,
// repeatable, and right about what it says more often than it is complete:
// of two facts about different things (staging and production, Anna and Tom)
// it keeps silent. Nothing is decided here; a person or a model is shown both.
package conflict

import "slices"

// A Kind says why two entries do not go together.
type Kind string

const (
	Negated   Kind = "negated"   // one denies what the other says
	Changed   Kind = "changed"   // the same thing has another value
	Duplicate Kind = "duplicate" // nearly the same words
)

// A Reading is an entry as understood. Reading takes longer than comparing, so
// it is worth keeping.
type Reading struct{ statements []statement }

// Read takes an entry apart.
func Read(entry string) Reading { return Reading{read(entry)} }

// Contradicts returns why two entries cannot both hold, or "".
func (r Reading) Contradicts(other Reading) Kind {
	for _, x := range r.statements {
		for _, y := range other.statements {
			if kind := compare(x, y); kind != "" {
				return kind
			}
		}
	}
	return ""
}

// A Pair is two entries that should be looked at together.
type Pair struct {
	A, B int // indexes, A before B
	Kind Kind
}

// Pairs returns all contradictions and near duplicates among entries.
func Pairs(entries []string) []Pair {
	readings := make([]Reading, len(entries))
	for i, e := range entries {
		readings[i] = Read(e)
	}
	var pairs []Pair
	for b := range entries {
		for a := range b {
			kind := readings[a].Contradicts(readings[b])
			if kind == "" && alike(readings[a].statements, readings[b].statements) {
				kind = Duplicate
			}
			if kind != "" {
				pairs = append(pairs, Pair{a, b, kind})
			}
		}
	}
	return pairs
}

// alike tells whether two entries say nearly the same.
func alike(a, b []statement) bool {
	all := func(list []statement) set {
		words := set{}
		for _, s := range list {
			for w := range s.about {
				words[w] = true
			}
			for slot, values := range s.values {
				for v := range values {
					words[slot+"="+v] = true
				}
			}
		}
		return words
	}
	x, y := all(a), all(b)
	both := x.and(y)
	return both >= 2 && both*5 >= max(len(x), len(y))*4
}

// compare tells whether two statements cannot both hold.
func compare(a, b statement) Kind {
	if a.denied != b.denied {
		if denies(a, b) {
			return Negated
		}
		return ""
	}
	if a.denied || a.more || b.more {
		return "" // two denials, or one that says it comes on top
	}
	for slot, was := range a.values {
		now, ok := b.values[slot]
		if !ok || was.and(now) > 0 {
			continue
		}
		if a.many && b.many && !exclusive[slot] {
			continue
		}
		if same(a, b, strict(slot)) {
			return Changed
		}
	}
	return ""
}

// denies tells whether a and b, one of them a denial, are about the same.
func denies(a, b statement) bool {
	shared := 0
	for slot, x := range a.values {
		if y, ok := b.values[slot]; ok {
			if x.and(y) == 0 {
				return false // "no tabs" and "spaces" go well together
			}
			shared += x.and(y)
		}
	}
	both := a.about.and(b.about)
	small, large := min(len(a.about), len(b.about)), max(len(a.about), len(b.about))
	if both < small || contrasted(a, b) {
		return false
	}
	if shared > 0 {
		return both > 0 || small == 0
	}
	return both > 0 && both*2 >= large && len(a.values) == 0 == (len(b.values) == 0)
}

// same tells whether two statements are about the same thing. With exact set
// neither may say more of it than the other.
func same(a, b statement, exact bool) bool {
	both := a.about.and(b.about)
	if exact {
		return both == len(a.about) && both == len(b.about)
	}
	if contrasted(a, b) {
		return false
	}
	if a.head != "" && b.head != "" && !b.about[a.head] && !a.about[b.head] {
		return false
	}
	if both < len(a.about) && both < len(b.about) {
		// Each speaks of something that the other does not: half is not enough.
		return both*2 > min(len(a.about), len(b.about))
	}
	return both*2 >= min(len(a.about), len(b.about))
}

// contrasted tells whether each names something that the other does not, of a
// group whose members are different things: two environments, two names.
func contrasted(a, b statement) bool {
	for _, group := range contrasts {
		x, y := a.about.pick(group), b.about.pick(group)
		if len(x) > 0 && len(y) > 0 && x.and(y) == 0 {
			return true
		}
	}
	return len(a.names) > 0 && len(b.names) > 0 && a.names.and(b.names) == 0
}

// strict tells whether a slot's thing is named by the words around it alone:
// a name is somebody's, a path is something's.
func strict(slot string) bool { return slices.Contains(strictSlots, slot) || slot[0] == '=' }

// A set is a set of words.
type set map[string]bool

func (s set) and(other set) int {
	n := 0
	for w := range s {
		if other[w] {
			n++
		}
	}
	return n
}

func (s set) pick(group set) set {
	found := set{}
	for w := range s {
		if group[w] {
			found[w] = true
		}
	}
	return found
}
