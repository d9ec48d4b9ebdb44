package analysis

import "strings"

// porter returns the stem of an English word by Porter's algorithm of 1980. The
// word is lower case, ASCII, and at least three letters long.
func porter(word string) string {
	w := step1(word)
	w = replace(w, step2, 0)
	w = replace(w, step3, 0)
	w = step4(w)
	return step5(w)
}

// vowel tells whether letter i of w is one: a, e, i, o, u, or y after a
// consonant.
func vowel(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return i > 0 && !vowel(w, i-1)
	}
	return false
}

// measure counts how often a consonant follows a vowel.
func measure(w string) (m int) {
	before := false
	for i := range len(w) {
		v := vowel(w, i)
		if before && !v {
			m++
		}
		before = v
	}
	return m
}

func hasVowel(w string) bool {
	for i := range len(w) {
		if vowel(w, i) {
			return true
		}
	}
	return false
}

// double tells whether w ends in two equal consonants.
func double(w string) bool {
	n := len(w)
	return n > 1 && w[n-1] == w[n-2] && !vowel(w, n-1)
}

// short tells whether w ends in consonant, vowel, consonant, where the last is
// none of w, x and y.
func short(w string) bool {
	n := len(w)
	return n > 2 && !vowel(w, n-1) && vowel(w, n-2) && !vowel(w, n-3) && !strings.ContainsRune("wxy", rune(w[n-1]))
}

// step1 takes off plurals, -ed and -ing.
func step1(w string) string {
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "ss"):
	case strings.HasSuffix(w, "s"):
		w = w[:len(w)-1]
	}
	if stem, ok := strings.CutSuffix(w, "eed"); ok {
		if measure(stem) > 0 {
			w = w[:len(w)-1]
		}
	} else if stem, ok := cutAny(w, "ed", "ing"); ok && hasVowel(stem) {
		switch w = stem; {
		case strings.HasSuffix(w, "at"), strings.HasSuffix(w, "bl"), strings.HasSuffix(w, "iz"):
			w += "e"
		case double(w) && !strings.ContainsRune("lsz", rune(w[len(w)-1])):
			w = w[:len(w)-1]
		case measure(w) == 1 && short(w):
			w += "e"
		}
	}
	if stem, ok := strings.CutSuffix(w, "y"); ok && hasVowel(stem) {
		w = stem + "i"
	}
	return w
}

func cutAny(w string, suffixes ...string) (string, bool) {
	for _, s := range suffixes {
		if stem, ok := strings.CutSuffix(w, s); ok {
			return stem, true
		}
	}
	return w, false
}

// A rule replaces a suffix; of those that fit, the first in the list is taken.
type rule struct{ suffix, by string }

var step2 = []rule{
	{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"abli", "able"}, {"alli", "al"},
	{"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"},
	{"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"},
}

var step3 = []rule{
	{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
}

func replace(w string, rules []rule, min int) string {
	for _, r := range rules {
		if stem, ok := strings.CutSuffix(w, r.suffix); ok {
			if measure(stem) > min {
				return stem + r.by
			}
			return w
		}
	}
	return w
}

// step4 takes off what is left of suffixes where the stem is long enough.
func step4(w string) string {
	for _, s := range []string{"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
		"ism", "ate", "iti", "ous", "ive", "ize"} {
		stem, ok := strings.CutSuffix(w, s)
		if !ok {
			continue
		}
		if s == "ion" && !strings.HasSuffix(stem, "s") && !strings.HasSuffix(stem, "t") {
			return w
		}
		if measure(stem) > 1 {
			return stem
		}
		return w
	}
	return w
}

// step5 takes off a last e, and one of two last l.
func step5(w string) string {
	if stem, ok := strings.CutSuffix(w, "e"); ok {
		if m := measure(stem); m > 1 || m == 1 && !short(stem) {
			w = stem
		}
	}
	if strings.HasSuffix(w, "ll") && measure(w) > 1 {
		w = w[:len(w)-1]
	}
	return w
}
