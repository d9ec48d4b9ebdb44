//go:build unix

package transcript

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// made is a source of made messages: words by Zipf's law, identifiers, paths,
// some Chinese, in the proportions of agents' sessions.
type made struct {
	messages int
	words    []string
	idents   []string
	han      []rune
	rng      *rand.Rand
	zipf     *rand.Zipf
	hanZipf  *rand.Zipf
}

func newMade(messages int, seed uint64) *made {
	m := &made{messages: messages, rng: rand.New(rand.NewPCG(seed, 7))}
	vocabulary := rand.New(rand.NewPCG(1, 7))
	syllables := strings.Fields("ba re mi ton ka lu sen dor vi pa the ing ra ne so ler ti mu gan pe con ver sta li mor")
	seen := make(map[string]bool)
	for len(m.words) < 50000 {
		var b strings.Builder
		for range 2 + vocabulary.IntN(3) {
			b.WriteString(syllables[vocabulary.IntN(len(syllables))])
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			m.words = append(m.words, w)
		}
	}
	for i := range 30000 {
		a, b := m.words[vocabulary.IntN(5000)], m.words[vocabulary.IntN(20000)]
		switch i % 3 {
		case 0:
			m.idents = append(m.idents, a+strings.ToUpper(b[:1])+b[1:])
		case 1:
			m.idents = append(m.idents, a+"_"+b)
		default:
			m.idents = append(m.idents, "src/"+a+"/"+b+".go")
		}
	}
	for r := rune(0x4E00); len(m.han) < 3000; r += 5 {
		m.han = append(m.han, r)
	}
	m.zipf = rand.NewZipf(m.rng, 1.1, 8, uint64(len(m.words)-1))
	m.hanZipf = rand.NewZipf(m.rng, 1.1, 20, uint64(len(m.han)-1))
	return m
}

func (m *made) word() string { return m.words[m.zipf.Uint64()] }

func (m *made) text(n int) string {
	var b strings.Builder
	if m.rng.IntN(100) < 8 {
		for b.Len() < n {
			for range 4 + m.rng.IntN(12) {
				b.WriteRune(m.han[m.hanZipf.Uint64()])
			}
			b.WriteString("，")
			if m.rng.IntN(4) == 0 {
				b.WriteString(m.word())
			}
		}
		return b.String()
	}
	for b.Len() < n {
		switch k := m.rng.IntN(100); {
		case k < 6:
			b.WriteString(m.idents[m.rng.IntN(len(m.idents))])
		case k < 8:
			fmt.Fprintf(&b, "%x", m.rng.Uint32())
		case k < 10:
			b.WriteString(strconv.Itoa(m.rng.IntN(100000)))
		default:
			b.WriteString(m.word())
		}
		if m.rng.IntN(12) == 0 {
			b.WriteString(".\n")
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func (m *made) Name() string { return "made" }

func (m *made) Find(context.Context, Places) ([]File, error) { return nil, nil }

func (m *made) FindIn(context.Context, string) ([]File, error) { return nil, nil }

func (m *made) Read(_ context.Context, _ File, _ Cursor, _ bool, sink Sink) error {
	t0 := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range m.messages {
		id := fmt.Sprintf("made:s%06d", i/40)
		at := t0.Add(time.Duration(i) * time.Minute)
		if i%40 == 0 {
			if err := sink.Session(Session{ID: id, StartedAt: at, Title: m.text(30), Dir: "/home/x/" + m.words[i%700]}); err != nil {
				return err
			}
		}
		msg := Message{SessionID: id, UID: fmt.Sprintf("%016x%016x", m.rng.Uint64(), i), Global: true, At: at}
		switch k := m.rng.IntN(100); {
		case k < 20:
			msg.Role, msg.Content = UserRole, m.text(100+m.rng.IntN(500))
		case k < 68:
			msg.Role, msg.Content = Assistant, m.text(200+m.rng.IntN(1000))
		default:
			msg.Role, msg.Content = Tool, m.text(100+m.rng.IntN(1400))
		}
		if err := sink.Message(msg); err != nil {
			return err
		}
		if i%20 == 19 {
			if err := sink.Mark(Cursor{Offset: int64(i)}, Tally{}); err != nil {
				return err
			}
		}
	}
	return sink.Mark(Cursor{Offset: int64(m.messages)}, Tally{})
}

// madeArchive returns an archive of n made messages, kept in HERMES_BENCH_HOME
// between runs when that is set.
func madeArchive(b testing.TB, n int) *DB {
	dir := os.Getenv("HERMES_BENCH_HOME")
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("made-%d.db", n))
	db, err := Open(context.Background(), path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	var have int
	if err := db.read.QueryRow("SELECT count(*) FROM session").Scan(&have); err != nil {
		b.Fatal(err)
	}
	if have > 0 {
		return db
	}
	start := time.Now()
	rep, err := db.Ingest(context.Background(), newMade(n, 3), []File{{Source: "made", Path: path, Size: 1}}, true, nil)
	if err != nil || rep.Messages != n {
		b.Fatal(rep, err)
	}
	took := time.Since(start)
	sizes, err := db.Sizes(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	b.Logf("ingest: %v, %.0f messages/s, %.1f MB/s of text; text %d MB, db %.2f, index %.2f; heap %d MB sys", took.Round(time.Millisecond),
		float64(n)/took.Seconds(), float64(sizes.Text)/1e6/took.Seconds(), sizes.Text/1e6,
		float64(sizes.DB)/float64(sizes.Text), float64(sizes.Index)/float64(sizes.Text), mem.Sys>>20)
	return db
}

// queries draws n queries of each class.
func (m *made) queries(n int) (names []string, of map[string][]string) {
	of = make(map[string][]string)
	common := func() string { return m.words[m.rng.IntN(30)] }
	mid := func() string { return m.words[200+m.rng.IntN(3000)] }
	rare := func() string { return m.words[20000+m.rng.IntN(30000)] }
	han := func(k int) string {
		var b strings.Builder
		for range k {
			b.WriteRune(m.han[m.hanZipf.Uint64()])
		}
		return b.String()
	}
	typo := func() string {
		w := mid()
		for len(w) < 6 {
			w = mid()
		}
		return w[:2] + w[3:]
	}
	classes := []struct {
		name string
		make func() string
	}{
		{"rare", rare}, {"common", common},
		{"two words", func() string { return mid() + " " + mid() }},
		{"or3 common", func() string { return common() + " OR " + common() + " OR " + common() }},
		{"prefix", func() string { w := mid(); return w[:3+m.rng.IntN(2)] + "*" }},
		{"phrase", func() string { return `"` + m.word() + " " + m.word() + `"` }},
		{"question", func() string {
			return "why did " + common() + " " + mid() + " the " + common() + " " + mid() + " with " + rare() + " " + m.word() + " and " + mid() + " " + m.word() + "?"
		}},
		{"identifier", func() string { return m.idents[m.rng.IntN(len(m.idents))] }},
		{"han1", func() string { return han(1) }}, {"han2", func() string { return han(2) }}, {"han4", func() string { return han(4) }},
		{"typo", typo},
	}
	for _, c := range classes {
		names = append(names, c.name)
		for range n {
			of[c.name] = append(of[c.name], c.make())
		}
	}
	return names, of
}

// cpuTime is what this process has used; on a busy machine it says more than
// the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSearch times every class of queries on an archive of made messages;
// HERMES_BENCH_MESSAGES says how many.
func BenchmarkSearch(b *testing.B) {
	n := 20000
	if s := os.Getenv("HERMES_BENCH_MESSAGES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	db := madeArchive(b, n)
	start := time.Now()
	search(b, db, "warm")
	b.Logf("first search %v", time.Since(start))
	names, of := newMade(n, 99).queries(40)
	for _, name := range names {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			var times []time.Duration
			hits := 0
			cpu := cpuTime()
			for b.Loop() {
				for _, q := range of[name] {
					start := time.Now()
					a := search(b, db, q)
					times = append(times, time.Since(start))
					hits += len(a.Hits)
				}
			}
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/1000/float64(len(times)), "cpu-ms")
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(hits)/float64(len(times)), "hits")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkIngest stores made messages in an empty archive, until all is
// searchable.
func BenchmarkIngest(b *testing.B) {
	const n = 20000
	for b.Loop() {
		db := openTest(b)
		cpu := cpuTime()
		start := time.Now()
		rep, err := db.Ingest(context.Background(), newMade(n, 3), []File{{Source: "made", Path: db.sqlite.Path, Size: 1}}, true, nil)
		if err != nil || rep.Messages != n {
			b.Fatal(rep, err)
		}
		b.ReportMetric(n/time.Since(start).Seconds(), "messages/s")
		b.ReportMetric(n/(cpuTime()-cpu).Seconds(), "messages/cpu-s")
	}
}
