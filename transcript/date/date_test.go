package date

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A Thursday.
var now = time.Date(2026, 11, 26, 15, 30, 0, 0, time.FixedZone("here", 3600))

func TestTimesOfAQuestionAreUnderstood(t *testing.T) {
	for text, want := range map[string]string{
		"what broke yesterday":                    "yesterday = 2026-11-25",
		"Yesterday's deploy":                      "Yesterday = 2026-11-25",
		"what did we decide last week?":           "last week = 2026-11-16 to 2026-11-22",
		"redis this week":                         "this week = 2026-11-23 to 2026-11-29",
		"the release last month":                  "last month = 2026-10-01 to 2026-10-31",
		"the migration last year":                 "last year = 2025-01-01 to 2025-12-31",
		"what did we fix 3 days ago":              "3 days ago = 2026-11-23",
		"a couple of weeks ago":                   "a couple of weeks ago = 2026-11-09 to 2026-11-15",
		"the last 3 days":                         "last 3 days = 2026-11-24 to 2026-11-26",
		"last Monday's standup":                   "last Monday = 2026-11-23",
		"on thursday we said":                     "on thursday = 2026-11-19",
		"since tuesday":                           "since tuesday = 2026-11-24 to 2026-11-26",
		"what happened on 2026-03-02":             "2026-03-02 = 2026-03-02",
		"in May":                                  "May = May of any year",
		"the talk of 8 May 2023":                  "8 May 2023 = 2023-05-08",
		"May 8th, 2023":                           "May 8th 2023 = 2023-05-08",
		"the 8th of May":                          "8th of May = 8 May of any year",
		"in march, no: in March 2025":             "March 2025 = March 2025",
		"上周我们决定了什么":                               "上周 = 2026-11-16 to 2026-11-22",
		"上个星期的部署":                                 "上个星期 = 2026-11-16 to 2026-11-22",
		"昨天的错误":                                   "昨天 = 2026-11-25",
		"三天前的命令":                                  "三天前 = 2026-11-23",
		"两个月前":                                    "两个月前 = 2026-09-01 to 2026-09-30",
		"三月的迁移":                                   "三月 = March of any year",
		"去年三月的迁移":                                 "去年三月 = March 2025",
		"我们在2023年5月8日做了什么":                        "2023年5月8日 = 2023-05-08",
		"12月25号":                                  "12月25号 = 25 December of any year",
		"先週のバグ":                                   "先週 = 2026-11-16 to 2026-11-22",
		"지난주 배포":                                  "지난주 = 2026-11-16 to 2026-11-22",
		"le mois dernier":                         "le mois dernier = 2026-10-01 to 2026-10-31",
		"was haben wir gestern gebaut":            "gestern = 2026-11-25",
		"vor zwei Wochen":                         "vor zwei Wochen = 2026-11-09 to 2026-11-15",
		"il y a 3 jours":                          "il y a 3 jours = 2026-11-23",
		"la semana pasada":                        "la semana pasada = 2026-11-16 to 2026-11-22",
		"between 2026-01-05 and yesterday":        "2026-01-05 = 2026-01-05; yesterday = 2026-11-25",
		"the branch of last week, not yesterday.": "last week = 2026-11-16 to 2026-11-22; yesterday = 2026-11-25",
	} {
		var got []string
		for _, s := range Find(text, now) {
			got = append(got, s.Words+" = "+s.String())
		}
		if g := strings.Join(got, "; "); g != want {
			t.Errorf("%s: %s, want %s", text, g, want)
		}
	}
}

func TestWordsThatAreAboutSomethingElseAreNoTimes(t *testing.T) {
	for _, text := range []string{
		"", "you may march on", "May we use tabs", "hex to dec", "version 2.5", "2023", "12/5", "redis in 2024 words",
		`the song "last week" again`, "the article “yesterday” by her", "`yesterday` is a variable", "《昨天》这首歌",
		"yesterday.txt", "last_week", "reports/yesterday", "--since=yesterday", "monday.com integration", "the monday board",
		"2026-03-02.log", "logs/2026-03-02.log", "feature-2026-03", "#today", "$yesterday", "@today", "todays", "三个月亮",
		"february 30 2026", "30 February", "2026-02-29", "2026/04/31", "June 31st", "2026年2月30日", "二月三十日", "on February 29 2025",
	} {
		if got := Find(text, now); len(got) != 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestANearTimeCountsMoreThanAFarOne(t *testing.T) {
	d := Find("8 May 2023", now)[0]
	at := func(day string) time.Time {
		parsed, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	last := 2.0
	for _, day := range []string{"2023-05-08", "2023-05-12", "2023-05-07", "2023-05-28", "2023-08-01"} {
		n := d.Nearness(at(day), at(day))
		if n >= last {
			t.Errorf("%s: %v is not less than %v", day, n, last)
		}
		last = n
	}
	if d.Nearness(time.Time{}, time.Time{}) != 0 || d.Nearness(at("2022-05-08"), at("2022-05-08")) != 0 {
		t.Error("an unknown or other year counts")
	}
	week := Find("last week", now)[0]
	for _, c := range []struct {
		started, active string
		want            float64
	}{
		{"2026-11-18", "2026-11-18", 1}, {"2026-11-02", "2026-11-18", 1}, {"2026-11-22", "2026-12-03", 1},
		{"2026-11-23", "2026-11-23", 0.3}, {"2026-11-10", "2026-11-12", 0}, {"2025-11-18", "2025-11-18", 0},
	} {
		if got := week.Nearness(at(c.started), at(c.active)); got != c.want {
			t.Errorf("%s to %s: %v, want %v", c.started, c.active, got, c.want)
		}
	}
	if year := Find("last year", now)[0]; year.Nearness(at("2025-06-01"), time.Time{}) >= 1 || year.Nearness(time.Time{}, time.Time{}) != 0 {
		t.Error("a whole year counts like a day")
	}
}

func TestWhatIsLeftWithoutTheTimes(t *testing.T) {
	for text, want := range map[string]string{
		"what did we do last week": "what did we do", "昨天做了什么": "做了什么", "redis": "redis",
	} {
		if got := strings.TrimSpace(Without(text, Find(text, now))); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestTimesAreReadAsPeopleGiveThem(t *testing.T) {
	for in, want := range map[string]string{
		"2026-03-01": "2026-03-01T00:00:00+01:00", "2026/3/1": "2026-03-01T00:00:00+01:00", "2026-03": "2026-03-01T00:00:00+01:00",
		"2026": "2026-01-01T00:00:00+01:00", "2026-03-01T08:00:00Z": "2026-03-01T08:00:00Z", "2026-03-01 08:00": "2026-03-01T08:00:00+01:00",
		"7d": "2026-11-19T15:30:00+01:00", "7D": "2026-11-19T15:30:00+01:00", "12h": "2026-11-26T03:30:00+01:00", "2w": "2026-11-12T15:30:00+01:00",
		"3 days": "2026-11-23T15:30:00+01:00", "3 days ago": "2026-11-23T15:30:00+01:00", "90m": "2026-11-26T14:00:00+01:00",
		"yesterday": "2026-11-25T00:00:00+01:00", " Today ": "2026-11-26T00:00:00+01:00", "now": "2026-11-26T15:30:00+01:00", "1y": "2025-11-26T15:30:00+01:00",
	} {
		if got, ok := Parse(in, now, false); !ok || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %v %v, want %s", in, got, ok, want)
		}
	}
	for in, want := range map[string]string{"2026-03-01": "2026-03-01", "2026-02": "2026-02-28", "2026": "2026-12-31", "9999-12-31": "9999-12-31", "yesterday": "2026-11-25"} {
		if got, ok := Parse(in, now, true); !ok || got.Format(time.DateOnly) != want || got.Hour() != 23 {
			t.Errorf("the end of %q: %v %v", in, got, ok)
		}
	}
	for _, bad := range []string{"", "soon", "7", "d", "-3d", "+3d", "99999999999d", "7 lightyears", "2026-13-01", "2026-02-30", "0001-01-01"} {
		if got, ok := Parse(bad, now, false); ok {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"on 8 May 2023", "上周 2023年5月8日", "last week \"yesterday\"", "“", "三十一月", "ago 3 days ago", "\xff年五月", "\xda3 days ago", "İ 3 days ago"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, s := range Find(text, now) {
			if s.at[0] < end || s.at[1] <= s.at[0] || s.at[1] > len(text) {
				t.Fatalf("%q: span %v after %d", text, s.at, end)
			}
			end = s.at[1]
			if n := s.Nearness(now, now); n < 0 || n > 1 {
				t.Errorf("%q: nearness %v", text, n)
			}
			if utf8.ValidString(text) && !utf8.ValidString(s.Words) {
				t.Errorf("%q: words %q", text, s.Words)
			}
			if from, to := s.Bounds(now); !from.Before(to) {
				t.Errorf("%q: %v to %v", text, from, to)
			}
			_ = fmt.Sprint(s)
		}
		Without(text, Find(text, now))
		Parse(text, now, true)
	})
}
