package analysis

// Misspellings returns the terms of all words that one slip turns into word: a
// letter too many or too few, a wrong one, or two exchanged. The terms are
// stems, as the index has them. Words that are not plain letters, or longer
// than 24, have none.
func Misspellings(word string) []string {
	w := foldWord(word)
	if !Plain(w) || len(w) > 24 {
		return nil
	}
	seen := map[string]bool{stemWord(w): true}
	var out []string
	add := func(s string) {
		if t := stemWord(s); len(t) >= 3 && !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	for i := 0; i <= len(w); i++ {
		for c := 'a'; c <= 'z'; c++ {
			add(w[:i] + string(c) + w[i:])
			if i < len(w) {
				add(w[:i] + string(c) + w[i+1:])
			}
		}
		if i < len(w) {
			add(w[:i] + w[i+1:])
		}
		if i+1 < len(w) {
			add(w[:i] + w[i+1:i+2] + w[i:i+1] + w[i+2:])
		}
	}
	return out
}
