package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A history is one conversation partner's sessions with questions about them.
type history struct {
	ID       string           `json:"id"`
	Sessions []historySession `json:"sessions"`
	QA       []question       `json:"qa"`
}

type historySession struct {
	ID    string `json:"id"`
	Date  string `json:"date"`
	Turns []struct {
		Role string `json:"role"`
		Text string `json:"text"`
		ID   string `json:"id"`
	} `json:"turns"`
}

type question struct {
	Question string   `json:"question"`
	Category string   `json:"category"`
	Gold     []string `json:"gold"`
}

// sessionID is how the archive names the session g of h.
func (h history) sessionID(g string) string { return "bench:" + h.ID + "/" + g }

// session turns s into what a source would deliver. A turn of somebody who is
// not "user" or "assistant" is a person's, said with the name in front.
func (h history) session(s historySession) (transcript.Session, []transcript.Message) {
	at := parseDate(s.Date)
	session := transcript.Session{ID: h.sessionID(s.ID), StartedAt: at, LastActive: at}
	msgs := make([]transcript.Message, 0, len(s.Turns))
	for i, t := range s.Turns {
		m := transcript.Message{SessionID: session.ID, UID: fmt.Sprintf("%d", i), Role: transcript.UserRole, Content: t.Text}
		switch t.Role {
		case "user":
		case "assistant":
			m.Role = transcript.Assistant
		default:
			m.Content = t.Role + ": " + t.Text
		}
		if !at.IsZero() {
			m.At = at.Add(time.Duration(i) * time.Second)
		}
		msgs = append(msgs, m)
	}
	return session, msgs
}

// parseDate reads the dates of the sets we know; the zero time otherwise.
func parseDate(s string) time.Time {
	for _, layout := range []string{
		"3:04 pm on 2 January, 2006", "2006/01/02 (Mon) 15:04", time.RFC3339,
		"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// words are the runs of letters, digits and apostrophes of s, lower case.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
}

// frequencies counts in how many turns of h each word stands.
func (h history) frequencies() map[string]int {
	df := map[string]int{}
	for _, s := range h.Sessions {
		for _, t := range s.Turns {
			ws := words(t.Text)
			slices.Sort(ws)
			for _, w := range slices.Compact(ws) {
				df[w]++
			}
		}
	}
	return df
}

// stopWords are the words that the content and rare2 forms leave out.
var stopWords = strings.Fields(`a about after all also am an and any are as at be because been before being
between both but by can could did do does doing during each few for from had has have having he her here hers
him his how i if in into is it its just me more most my no nor not of on once only or other our out over own
same she should so some such than that the their them then there these they this those through to too under
until up very was we were what when where which while who whom whose why will with would you your yours
i'm i've i'd i'll it's that's what's don't didn't doesn't`)

// reform turns a question into the asked form.
func reform(q, form string, df map[string]int) string {
	if form == "question" {
		return q
	}
	var content []string
	for _, w := range words(q) {
		if !slices.Contains(stopWords, w) && !slices.Contains(content, w) {
			content = append(content, w)
		}
	}
	if len(content) == 0 {
		return q
	}
	if form == "content" {
		return strings.Join(content, " ")
	}
	// The two rarest that occur at all; a word nobody said finds nothing.
	slices.SortStableFunc(content, func(a, b string) int { return rank(df[a]) - rank(df[b]) })
	return strings.Join(content[:min(2, len(content))], " ")
}

// rank orders words by rarity, unknown ones last.
func rank(df int) int {
	if df == 0 {
		return 1 << 30
	}
	return df
}
