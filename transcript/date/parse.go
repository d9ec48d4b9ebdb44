package date

import (
	"strconv"
	"strings"
	"time"
)

// Forms says in words what Parse reads.
const Forms = "a date (2026-01-31), a month (2026-01), a time (2026-01-31 09:00), today, yesterday, or an age (30m, 12h, 7d, 2w, 3mo, 1y)"

// Parse reads a point in time as a person gives it, seen from now. end asks for
// where a date that covers a stretch ends: until 2026-01-31 has that day in it.
func Parse(text string, now time.Time, end bool) (t time.Time, ok bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	day := dayStart(now)
	switch text {
	case "now":
		return now, true
	case "today":
		text = day.Format(time.DateOnly)
	case "yesterday":
		text = day.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	for _, c := range []struct {
		layout       string
		months, days int // that it covers
	}{
		{time.DateOnly, 0, 1}, {"2006/01/02", 0, 1}, {"2006/1/2", 0, 1}, {"2006-1-2", 0, 1}, {"2006-01", 1, 0}, {"2006", 12, 0},
		{time.RFC3339, 0, 0}, {"2006-01-02T15:04:05", 0, 0}, {"2006-01-02T15:04", 0, 0},
		{"2006-01-02 15:04:05", 0, 0}, {"2006-01-02 15:04", 0, 0},
	} {
		if t, err := time.ParseInLocation(c.layout, strings.ToUpper(text), now.Location()); err == nil && t.Year() >= 1990 && (c.months < 12 || t.Year() <= 2100) {
			if end && c.months+c.days > 0 {
				t = t.AddDate(0, c.months, c.days).Add(-time.Nanosecond)
			}
			return t, true
		}
	}
	return age(strings.TrimSpace(strings.TrimSuffix(text, "ago")), now)
}

// age reads how long before now.
func age(text string, now time.Time) (time.Time, bool) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz ")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > 100_000 || strings.HasPrefix(digits, "+") {
		return time.Time{}, false
	}
	switch strings.TrimSpace(text[len(digits):]) {
	case "m", "min", "mins", "minute", "minutes":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "h", "hour", "hours":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "d", "day", "days":
		return now.AddDate(0, 0, -n), true
	case "w", "week", "weeks":
		return now.AddDate(0, 0, -7*n), true
	case "mo", "month", "months":
		return now.AddDate(0, -n, 0), true
	case "y", "year", "years":
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}
