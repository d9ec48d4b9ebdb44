// Package date finds the times that a text names, and reads those that a
// person gives.
//
// [Find] is for questions: "last week", "in May", "on 2026-03-02", 上周, le mois
// dernier. What it finds bends a ranking and filters nothing, since such words
// may be about anything. It leaves alone what is in quotes, and what is part of
// a name: yesterday.txt, last_week. [Parse] is for arguments: a date, a time, or
// an age such as 7d.
//
// Days begin at midnight where now is. All functions are pure and safe for
// concurrent use.
package date

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Span is a time that a text names: from From until To, which is no longer
// part of it; or, when they are zero, a day or month of any year.
type Span struct {
	Words    string // that name it
	From, To time.Time
	day      calendar
	at       [2]int // bytes of the text
}

// A word of a text: a run of letters, digits and what dates are written with.
type word struct {
	text     string
	from, to int
}

// Find returns the times that text names, seen from now.
func Find(text string, now time.Time) []Span {
	masked := unquoted(text)
	var out []Span
	for _, s := range slices.Concat(named(split(masked)), easternDates(masked, now), relative(masked, now)) {
		over := func(o Span) bool { return s.at[0] < o.at[1] && o.at[0] < s.at[1] }
		if !partOfName(masked, s.at[0], s.at[1]) && !slices.ContainsFunc(out, over) {
			out = append(out, s)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].at[0] < out[j].at[0] })
	return out
}

// Without is text without what names the spans, which were found in it.
func Without(text string, spans []Span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.at[0] >= at && s.at[1] <= len(text) {
			b.WriteString(text[at:s.at[0]])
			b.WriteByte(' ')
			at = s.at[1]
		}
	}
	b.WriteString(text[at:])
	return b.String()
}

// unquoted is text with spaces where something is quoted, of the same length.
func unquoted(text string) string {
	out := []byte(text)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end := -1
		if c := closing(r); c != 0 {
			end = strings.IndexRune(text[i+size:], c)
		}
		if end < 0 {
			i += size
			continue
		}
		stop := i + size + end
		for ; i < stop; i++ {
			out[i] = ' '
		}
		for n := utf8.RuneLen(closing(r)); n > 0; n-- {
			out[i] = ' '
			i++
		}
	}
	return string(out)
}

// closing returns the mark that ends a quotation begun by r, or 0.
func closing(r rune) rune {
	switch r {
	case '"', '`':
		return r
	case '“':
		return '”'
	case '„':
		return '“'
	case '«':
		return '»'
	case '「':
		return '」'
	case '《':
		return '》'
	}
	return 0
}

func split(text string) []word {
	in := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '/' }
	var out []word
	from := -1
	for i, r := range text {
		if in(r) {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 {
			out = append(out, word{text[from:i], from, i})
			from = -1
		}
	}
	if from >= 0 {
		out = append(out, word{text[from:], from, len(text)})
	}
	return out
}

func joined(words []word) string {
	var list []string
	for _, w := range words {
		list = append(list, w.text)
	}
	return strings.Join(list, " ")
}

func wordSet(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// long is beyond what a session falls into by chance.
const long = 45 * 24 * time.Hour

// Nearness tells how well a session suits the span, from 0 to 1. Times that are
// not known are zero.
func (s Span) Nearness(started, active time.Time) float64 {
	if s.To.IsZero() {
		return s.day.nearness(started)
	}
	if started.IsZero() && active.IsZero() {
		return 0
	}
	if started.IsZero() {
		started = active
	}
	if active.Before(started) {
		active = started
	}
	within := func(margin time.Duration) bool {
		return started.Before(s.To.Add(margin)) && !active.Before(s.From.Add(-margin))
	}
	switch {
	case within(0) && s.To.Sub(s.From) > long:
		return 0.5
	case within(0):
		return 1
	case s.To.Sub(s.From) <= long && within(24*time.Hour):
		return 0.3
	}
	return 0
}

// Bounds returns the time that a span covers, until to, which is no longer part
// of it; of a day or month of any year, the newest that has begun. Days begin
// where now is.
func (s Span) Bounds(now time.Time) (from, to time.Time) {
	if !s.To.IsZero() {
		return s.From, s.To
	}
	d := s.day
	begin := func(year int) time.Time {
		return time.Date(year, d.Month, max(1, d.Day), 0, 0, 0, 0, now.Location())
	}
	from = begin(d.Year)
	if d.Year == 0 {
		if from = begin(now.Year()); from.After(now) {
			from = begin(now.Year() - 1)
		}
	}
	if d.Day == 0 {
		return from, from.AddDate(0, 1, 0)
	}
	return from, from.AddDate(0, 0, 1)
}

// String says what was understood.
func (s Span) String() string {
	switch d := s.day; {
	case s.To.IsZero() && d.Year == 0 && d.Day == 0:
		return d.Month.String() + " of any year"
	case s.To.IsZero() && d.Year == 0:
		return fmt.Sprintf("%d %s of any year", d.Day, d.Month)
	case s.To.IsZero() && d.Day == 0:
		return fmt.Sprintf("%s %d", d.Month, d.Year)
	case s.To.IsZero():
		return fmt.Sprintf("%d-%02d-%02d", d.Year, d.Month, d.Day)
	}
	from, to := s.From.Format(time.DateOnly), s.To.Add(-time.Nanosecond).Format(time.DateOnly)
	if from == to {
		return from
	}
	return from + " to " + to
}
