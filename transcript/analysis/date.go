package analysis

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A Date is a time that a query names: a month at least. Year and Day are 0
// when it does not say them.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// Dates returns the dates that a text names: 8 May 2023, May 8th, 2023-05-08,
// in May, 2023年5月8日. "may" and "march" count only with a capital.
func Dates(text string) []Date {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '/'
	})
	var out []Date
	for i, w := range words {
		if d, ok := numericDate(w); ok {
			out = append(out, d)
			continue
		}
		month := monthOf(w)
		if month == 0 {
			continue
		}
		d := Date{Month: month}
		if i > 0 {
			d.Day = dayOf(words[i-1])
			if d.Day == 0 && i > 1 && words[i-1] == "of" {
				d.Day = dayOf(words[i-2])
			}
		}
		for _, next := range words[i+1 : min(len(words), i+3)] {
			if day := dayOf(next); day != 0 && d.Day == 0 {
				d.Day = day
			} else if year := yearOf(next); year != 0 {
				d.Year = year
				break
			} else if next != "of" && next != "in" && day == 0 {
				break
			}
		}
		out = append(out, d)
	}
	return out
}

// numericDate reads 2023-05-08, 2023/5/8 and 2023年5月8日.
func numericDate(w string) (Date, bool) {
	w = strings.NewReplacer("年", "-", "月", "-", "日", "", "号", "", "/", "-").Replace(w)
	parts := strings.Split(strings.Trim(w, "-"), "-")
	var d Date
	if len(parts) > 0 && yearOf(parts[0]) != 0 {
		d.Year = yearOf(parts[0])
		parts = parts[1:]
	} else {
		return d, false
	}
	if len(parts) == 0 || len(parts) > 2 {
		return d, false
	}
	m, err := strconv.Atoi(parts[0])
	if err != nil || m < 1 || m > 12 {
		return d, false
	}
	d.Month = time.Month(m)
	if len(parts) == 2 {
		if d.Day = dayOf(parts[1]); d.Day == 0 {
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

// Nearness tells how well a session that began at t suits the date, from 0 to
// 1: people speak of a thing on its day and in the week after it.
func (d Date) Nearness(t time.Time) float64 {
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
