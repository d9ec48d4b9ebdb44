package analysis

import "strings"

// A Speaker is whom a question points at.
type Speaker int

const (
	Anybody Speaker = iota
	TheUser
	TheAssistant
)

// Points tells whose words a question asks for: "what did you recommend" the
// assistant's, "where did I put" the user's.
func Points(question string) Speaker {
	words := strings.Fields(strings.ToLower(question))
	me := false
	for i, w := range words {
		w = strings.Trim(w, `.,?!;:"'`)
		switch w {
		case "i", "my", "me", "i'm", "i've", "i'd", "mine":
			me = true
		case "remind":
			return TheAssistant
		case "you":
			asked := i > 0 && words[i-1] == "did"
			for _, next := range words[i+1 : min(len(words), i+4)] {
				next = strings.Trim(next, `.,?!;:"'`)
				if said[next] || asked && saying[next] {
					return TheAssistant
				}
			}
		}
	}
	if strings.Contains(question, "你") && strings.ContainsAny(question, "说建推荐告") {
		return TheAssistant
	}
	if me || strings.Contains(question, "我") {
		return TheUser
	}
	return Anybody
}

// What the assistant may have done, and what it may be asked to have done.
// "Can you suggest" asks for something new.
var (
	said = wordSet(`said told suggested recommended mentioned gave provided listed explained described wrote advised
		proposed showed named`)
	saying = wordSet(`say tell suggest recommend mention give provide list explain describe write advise propose show name`)
)

func wordSet(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}
