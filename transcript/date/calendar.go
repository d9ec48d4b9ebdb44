package date

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A day of the calendar that a text names: a month at least. Year and Day are 0
// when it does not say them.
type calendar struct {
	Year  int
	Month time.Month
	Day   int
}

// named finds the dates that words name: 8 May 2023, May 8th, 2023-05-08, in
// May. "may" and "march" count only with a capital.
func named(words []word) []Span {
	var out []Span
	for i, w := range words {
		if d, ok := numeric(w.text); ok {
			if d.exists() {
				out = append(out, d.span(words[i:i+1]))
			}
			continue
		}
		month := monthOf(w.text)
		if month == 0 {
			continue
		}
		d := calendar{Month: month}
		from, to := i, i+1
		if i > 0 {
			if d.Day = dayOf(words[i-1].text); d.Day != 0 {
				from = i - 1
			} else if i > 1 && words[i-1].text == "of" {
				if d.Day = dayOf(words[i-2].text); d.Day != 0 {
					from = i - 2
				}
			}
		}
		for j, next := range words[i+1 : min(len(words), i+3)] {
			if day := dayOf(next.text); day != 0 && d.Day == 0 {
				d.Day, to = day, i+2+j
			} else if year := yearOf(next.text); year != 0 {
				d.Year, to = year, i+2+j
				break
			} else if next.text != "of" && next.text != "in" && day == 0 {
				break
			}
		}
		if ambiguous(w.text) && d.Day == 0 && d.Year == 0 && (i == 0 || !leads[strings.ToLower(words[i-1].text)]) {
			continue // May we …, dec to hex
		}
		if !d.exists() {
			continue
		}
		out = append(out, d.span(words[from:to]))
	}
	return out
}

// exists tells whether the calendar has such a day: no 30 February, and no 29th
// but in a leap year. Of no year in particular, a day that some year has does.
func (d calendar) exists() bool {
	year := d.Year
	if year == 0 {
		year = 2024 // a leap year
	}
	return time.Date(year, d.Month, max(1, d.Day), 0, 0, 0, 0, time.UTC).Month() == d.Month
}

// ambiguous tells whether the name of a month is also another word, so that it
// is taken for one only beside a day, a year, or a word that leads to a time.
func ambiguous(w string) bool {
	switch strings.ToLower(w) {
	case "may", "march", "jan", "dec", "oct", "sep":
		return true
	}
	return false
}

// leads are the words that a time follows.
var leads = wordSet("in of since until till before after during by from last this early late mid through end around and")

// span makes what is found out of what words say it.
func (d calendar) span(words []word) Span {
	return Span{Words: joined(words), at: [2]int{words[0].from, words[len(words)-1].to}, day: d}
}

// numeric reads 2023-05-08, 2023/5/8 and 2023-05.
func numeric(w string) (calendar, bool) {
	parts := strings.Split(strings.ReplaceAll(w, "/", "-"), "-")
	var d calendar
	if len(parts) < 2 || len(parts) > 3 {
		return d, false
	}
	if d.Year = yearOf(parts[0]); d.Year == 0 {
		return d, false
	}
	m, err := strconv.Atoi(parts[1])
	if err != nil || m < 1 || m > 12 {
		return d, false
	}
	d.Month = time.Month(m)
	if len(parts) == 3 {
		if d.Day = dayOf(parts[2]); d.Day == 0 {
			return d, false
		}
	}
	return d, true
}

func monthOf(w string) time.Month {
	if !unicode.IsUpper(rune(w[0])) && (w == "may" || w == "march") {
		return 0
	}
	w = strings.ToLower(w)
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if w == name || len(w) >= 3 && w == name[:3] && m != time.March && m != time.May || w == "sept" && m == time.September {
			return m
		}
	}
	return 0
}

func dayOf(w string) int {
	digits := strings.TrimRight(w, "stndrh")
	if suffix := w[len(digits):]; suffix != "" && suffix != "st" && suffix != "nd" && suffix != "rd" && suffix != "th" {
		return 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > 31 || len(digits) > 2 {
		return 0
	}
	return n
}

func yearOf(w string) int {
	n, err := strconv.Atoi(w)
	if err != nil || len(w) != 4 || n < 1990 || n > 2100 {
		return 0
	}
	return n
}

// eastern finds 2023年5月8日, 三月, 3月2号 and 去年三月.
var eastern = regexp.MustCompile(`(?:(\d{4})年|(前年|去年|昨年|今年)的?)?([0-9]{1,2}|十[一二]?|[一二三四五六七八九])月(?:([0-9]{1,2}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号號])?`)

func easternDates(text string, now time.Time) []Span {
	var out []Span
	for _, m := range eastern.FindAllStringSubmatchIndex(text, -1) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		d := calendar{Year: yearOf(part(1)), Month: time.Month(numeral(part(3))), Day: numeral(part(4))}
		switch part(2) {
		case "今年":
			d.Year = now.Year()
		case "去年", "昨年":
			d.Year = now.Year() - 1
		case "前年":
			d.Year = now.Year() - 2
		}
		if d.Month < 1 || d.Month > 12 || !d.exists() || part(1) != "" && d.Year == 0 {
			continue
		}
		out = append(out, Span{Words: part(0), at: [2]int{m[0], m[1]}, day: d})
	}
	return out
}

// numeral reads a number below 100, in digits or Chinese; 0 when it is none.
func numeral(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	digit := func(s string) int {
		for i, d := range []string{"一", "二", "三", "四", "五", "六", "七", "八", "九"} {
			if s == d {
				return i + 1
			}
		}
		if s == "两" || s == "兩" {
			return 2
		}
		return 0
	}
	tens, ones, ok := strings.Cut(s, "十")
	if !ok {
		return digit(s)
	}
	return 10*max(1, digit(tens)) + digit(ones)
}

// nearness tells how well a session that began at t suits the day, from 0 to 1:
// people speak of a thing on its day and in the week after it.
func (d calendar) nearness(t time.Time) float64 {
	if t.IsZero() || d.Year != 0 && t.Year() != d.Year {
		return 0
	}
	month, next := t.Month() == d.Month, t.Month() == d.Month%12+1
	if d.Day == 0 {
		switch {
		case month:
			return 0.5
		case next:
			return 0.3
		}
		return 0
	}
	day := time.Date(t.Year(), d.Month, d.Day, 0, 0, 0, 0, time.UTC)
	days := int(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Sub(day).Hours() / 24)
	switch {
	case days == 0:
		return 1
	case 1 <= days && days <= 7:
		return 0.75
	case -2 <= days && days < 0:
		return 0.5
	case month:
		return 0.1
	case next && d.Day > 20:
		return 0.3
	}
	return 0
}
