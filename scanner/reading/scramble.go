package reading

import (
	"slices"
	"strings"
	"sync"
)

// People and models read a word whose inner letters are in disorder. These are
// the words that carry the intents of the rules, and long enough to be known by
// their letters.
const scrambledWords = "ignore ignoring disregard forget previous prior instructions instruction system prompt " +
	"override bypass reveal repeat rules guidelines restrictions safety security filters disable delete " +
	"password passwords credentials secret secrets upload forward execute always whenever without asking " +
	"confirmation unrestricted jailbreak developer commands everything message remember approve approved " +
	"conversation messages transfer quietly silently secretly"

// A scramble is the letters of a word: the first, the inner ones sorted, the
// last. Two words of one scramble look alike at a glance.
type scramble [14]byte

var scrambles = sync.OnceValue(func() map[scramble]string {
	m := map[scramble]string{}
	for word := range strings.FieldsSeq(scrambledWords) {
		if key, ok := scrambleOf(word); ok {
			m[key] = word
		}
	}
	return m
})

// scrambleOf returns the scramble of an ASCII word, if it is neither too short
// nor too long for one.
func scrambleOf(word string) (key scramble, ok bool) {
	const short = 5
	if len(word) < short || len(word) > len(key) {
		return key, false
	}
	n := copy(key[:], word)
	slices.Sort(key[1 : n-1])
	return key, true
}

// unscramble returns the word that the letters of word make, or word.
func unscramble(word string) string {
	if key, ok := scrambleOf(word); ok {
		if w, ok := scrambles()[key]; ok {
			return w
		}
	}
	return word
}
