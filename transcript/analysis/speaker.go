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
			for _, next := range words[i+1 : min(len(words), i+4)] {
				if saying[strings.Trim(next, `.,?!;:"'`)] {
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

var saying = func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(`say said tell told suggest suggested recommend recommended mention mentioned
		give gave given provide provided list listed explain explained describe described write wrote advise advised
		propose proposed show showed name named`) {
		m[w] = true
	}
	return m
}()
