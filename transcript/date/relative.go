package date

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A phrase names a time that depends on now. Its groups are given to span.
type phrase struct {
	is   *regexp.Regexp
	span func(day time.Time, groups []string) (from, to time.Time)
}

// dayStart is where the day of now begins.
func dayStart(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
}

// Weeks begin on Monday.
func weekStart(day time.Time) time.Time {
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

// unit returns the n-th stretch of its kind before the one that holds day.
func unit(day time.Time, kind rune, n int) (from, to time.Time) {
	switch kind {
	case 'd':
		from = day.AddDate(0, 0, -n)
		return from, from.AddDate(0, 0, 1)
	case 'w':
		from = weekStart(day).AddDate(0, 0, -7*n)
		return from, from.AddDate(0, 0, 7)
	case 'm':
		from = time.Date(day.Year(), day.Month()-time.Month(n), 1, 0, 0, 0, 0, day.Location())
		return from, from.AddDate(0, 1, 0)
	default:
		from = time.Date(day.Year()-n, 1, 1, 0, 0, 0, 0, day.Location())
		return from, from.AddDate(1, 0, 0)
	}
}

// ago is about so long before day.
func ago(day time.Time, kind rune, n int) (from, to time.Time) {
	switch kind {
	case 'd':
		return unit(day, 'd', n)
	case 'w':
		from = day.AddDate(0, 0, -7*n-3)
		return from, from.AddDate(0, 0, 7)
	}
	return unit(day, kind, n)
}

// fixed is a phrase that always means the n-th stretch before this one.
func fixed(kind rune, n int, expr string) phrase {
	return phrase{regexp.MustCompile(expr), func(day time.Time, _ []string) (time.Time, time.Time) { return unit(day, kind, n) }}
}

var units = map[string]rune{
	"day": 'd', "week": 'w', "month": 'm', "year": 'y',
	"tag": 'd', "woche": 'w', "monat": 'm', "jahr": 'y',
	"jour": 'd', "semaine": 'w', "mois": 'm', "an": 'y',
	"día": 'd', "dia": 'd', "semana": 'w', "mes": 'm', "año": 'y',
	"天": 'd', "日": 'd', "周": 'w', "週": 'w', "星期": 'w', "礼拜": 'w', "週間": 'w', "月": 'm', "年": 'y',
}

func unitOf(s string) rune {
	for _, cut := range []string{"", "s", "en", "n", "e", "es"} {
		if u, ok := units[strings.TrimSuffix(s, cut)]; ok {
			return u
		}
	}
	return 0
}

// count reads how many: digits, a word, or a Chinese numeral.
func count(s string) int {
	switch s {
	case "a", "an", "one", "einer", "einem", "une", "un", "una":
		return 1
	case "a couple of", "couple of", "two", "zwei", "deux", "dos", "几", "幾":
		return 2
	case "a few", "few", "three", "drei", "trois", "tres":
		return 3
	}
	n := numeral(s)
	if m, err := strconv.Atoi(s); err == nil {
		n = m
	}
	return min(n, 1000)
}

var weekdays = map[string]time.Weekday{
	"monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 0,
}

const counts = `(\d{1,3}|an?|one|two|three|(?:a )?couple of|(?:a )?few)`

// phrases are tried in order; the text is in lower case.
var phrases = []phrase{
	fixed('d', 2, `\bday before yesterday\b|\bvorgestern\b|\bavant-hier\b|\banteayer\b|前天|おととい|一昨日`),
	fixed('d', 1, `\byesterday\b|\blast night\b|\bgestern\b|\bayer\b|昨天|昨日|昨晚|어제`),
	fixed('d', 0, `\btoday\b|\bthis (?:morning|afternoon|evening)\b|\btonight\b|\bheute\b|\baujourd'hui\b|今天|今日|오늘`),
	fixed('w', 1, `\b(?:last|previous) week\b|\bletzten?r? woche\b|\bla semaine dernière\b|\bla semana pasada\b|上个?(?:周|星期|礼拜)|上個?(?:週|星期|禮拜)|先週|지난주`),
	fixed('w', 0, `\bthis week\b|\bdieser? woche\b|\bcette semaine\b|\besta semana\b|[这本](?:个)?(?:周|星期)|[這本](?:個)?(?:週|星期)|今週|이번 주`),
	fixed('m', 1, `\b(?:last|previous) month\b|\bletzten monat\b|\ble mois dernier\b|\bel mes pasado\b|上个?月|上個月|先月|지난달`),
	fixed('m', 0, `\bthis month\b|\bdiesen monat\b|\bce mois-ci\b|\beste mes\b|[这本]个?月|[這本]個?月|今月|이번 달`),
	fixed('y', 1, `\b(?:last|previous) year\b|\bletztes jahr\b|\bl'année dernière\b|\bel año pasado\b|去年|昨年|작년`),
	fixed('y', 0, `\bthis year\b|\bdieses jahr\b|\bcette année\b|\beste año\b|今年|올해`),
	{regexp.MustCompile(`\b(?:last|past) (\d{1,3}) (days?|weeks?|months?|years?)\b|最近(\d{1,3}|[一二两三四五六七八九十]+)个?(天|周|星期|月|年)|\bpast (week|month|year)\b`), recently},
	{regexp.MustCompile(`\b` + counts + ` (days?|weeks?|months?|years?) ago\b`), before},
	{regexp.MustCompile(`\bvor (\d{1,3}|einem|einer|zwei|drei) (tag(?:en)?|wochen?|monat(?:en)?|jahr(?:en)?)\b|\bil y a (\d{1,3}|une?|deux|trois) (jours?|semaines?|mois|ans?)\b|\bhace (\d{1,3}|una?|dos|tres) (d[ií]as?|semanas?|mes(?:es)?|años?)\b`), before},
	{regexp.MustCompile(`(\d{1,3}|[一二两兩三四五六七八九十几幾]+)[个個か]?(天|日|周|週間|週|星期|礼拜|月|年)(?:以?前|之前)`), before},
	{regexp.MustCompile(`\b(last|on|this past|since|from) (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b`), weekday},
}

// before is so many units before today.
func before(day time.Time, groups []string) (from, to time.Time) {
	n, kind := pair(groups)
	if n <= 0 || kind == 0 {
		return from, to
	}
	return ago(day, kind, n)
}

// recently is the stretch of so many units that ends today.
func recently(day time.Time, groups []string) (from, to time.Time) {
	n, kind := pair(groups)
	if kind == 0 { // past week
		n, kind = 1, unitOf(groups[len(groups)-1])
	}
	if n <= 0 || kind == 0 {
		return from, to
	}
	to = day.AddDate(0, 0, 1)
	switch kind {
	case 'd':
		return to.AddDate(0, 0, -n), to
	case 'w':
		return to.AddDate(0, 0, -7*n), to
	case 'm':
		return to.AddDate(0, -n, 0), to
	}
	return to.AddDate(-n, 0, 0), to
}

// pair reads the first two groups that matched as a number and a unit.
func pair(groups []string) (n int, kind rune) {
	for i := 0; i+1 < len(groups); i += 2 {
		if groups[i] != "" && groups[i+1] != "" {
			return count(groups[i]), unitOf(groups[i+1])
		}
	}
	return 0, 0
}

// weekday is the newest such day before today.
func weekday(day time.Time, groups []string) (from, to time.Time) {
	back := (int(day.Weekday()) - int(weekdays[groups[1]]) + 7) % 7
	if back == 0 {
		back = 7
	}
	from = day.AddDate(0, 0, -back)
	if groups[0] == "since" || groups[0] == "from" {
		return from, day.AddDate(0, 0, 1)
	}
	return from, from.AddDate(0, 0, 1)
}

// relative finds the phrases in text.
func relative(text string, now time.Time) []Span {
	lower := lowerInPlace(text)
	day := dayStart(now)
	var out []Span
	taken := func(from, to int) bool {
		for _, o := range out {
			if from < o.at[1] && o.at[0] < to {
				return true
			}
		}
		return false
	}
	for _, p := range phrases {
		for _, m := range p.is.FindAllStringSubmatchIndex(lower, -1) {
			if taken(m[0], m[1]) {
				continue
			}
			var groups []string
			for i := 2; i+1 < len(m); i += 2 {
				if m[i] < 0 {
					groups = append(groups, "")
				} else {
					groups = append(groups, lower[m[i]:m[i+1]])
				}
			}
			from, to := p.span(day, groups)
			if !to.IsZero() {
				out = append(out, Span{Words: text[m[0]:m[1]], From: from, To: to, at: [2]int{m[0], m[1]}})
			}
		}
	}
	return out
}

// lowerInPlace is text in lower case, each character at the byte where it was: one
// that would take another number of bytes stays, and so does what is not UTF-8.
func lowerInPlace(text string) string {
	out := []byte(text)
	for i, r := range text {
		if l := unicode.ToLower(r); r != utf8.RuneError && utf8.RuneLen(l) == utf8.RuneLen(r) {
			utf8.EncodeRune(out[i:], l)
		}
	}
	return string(out)
}

// partOfName tells whether text[from:to] is part of a name: joined to what stands
// beside it, as in last_week.csv or /yesterday.
func partOfName(text string, from, to int) bool {
	joint := func(r rune) bool { return strings.ContainsRune(`_./\-:=@#$`, r) }
	solid := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '/' }
	if r, size := utf8.DecodeLastRuneInString(text[:from]); joint(r) {
		if r == '_' || r == '/' || r == '@' || r == '#' || r == '$' {
			return true
		}
		if q, _ := utf8.DecodeLastRuneInString(text[:from-size]); solid(q) {
			return true
		}
	}
	if r, size := utf8.DecodeRuneInString(text[to:]); joint(r) {
		if q, _ := utf8.DecodeRuneInString(text[to+size:]); r == '_' || solid(q) {
			return true
		}
	}
	return false
}
