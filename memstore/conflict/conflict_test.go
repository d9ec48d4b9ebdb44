package conflict

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

type labelled struct {
	conflict bool
	old, new string
}

func pairs(t testing.TB, file string) []labelled {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []labelled
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if f := strings.Split(lines.Text(), "\t"); len(f) == 3 && (f[0] == "yes" || f[0] == "no") {
			all = append(all, labelled{f[0] == "yes", f[1], f[2]})
		}
	}
	return all
}

// At least 9 of 10 pairs that are named are contradictions, and at least 7 of 10
// contradictions are named: of the set that the rules were made on, and of the
// one that was written before anybody had seen what they make of it.
func TestPairs(t *testing.T) {
	for _, file := range []string{"pairs.tsv", "heldout.tsv"} {
		t.Run(file, func(t *testing.T) { checkPairs(t, pairs(t, file)) })
	}
}

func checkPairs(t *testing.T, set []labelled) {
	var hit, named, all int
	for _, p := range set {
		got := Read(p.old).Contradicts(Read(p.new)) != ""
		if p.conflict {
			all++
		}
		if got {
			named++
		}
		if got && p.conflict {
			hit++
		}
		if got != p.conflict {
			t.Logf("named %v: %q / %q", got, p.old, p.new)
		}
	}
	precision, recall := float64(hit)/float64(named), float64(hit)/float64(all)
	t.Logf("%d contradictions, precision %.2f, recall %.2f", all, precision, recall)
	if precision < 0.9 || recall < 0.7 {
		t.Errorf("precision %.2f, recall %.2f", precision, recall)
	}
}

func TestPairsAmongEntries(t *testing.T) {
	got := Pairs([]string{"The project uses MySQL", "Prefers short answers", "The project uses Postgres", "The user prefers short answers", "No sudo for docker", "Use sudo for docker"})
	want := []Pair{{0, 2, Changed}, {1, 3, Duplicate}, {4, 5, Negated}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// FuzzRead checks that nothing is too odd to be read and that what contradicts
// does so both ways.
func FuzzRead(f *testing.F) {
	for _, p := range pairs(f, "pairs.tsv") {
		f.Add(p.old, p.new)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := Read(a), Read(b)
		if x.Contradicts(y) != y.Contradicts(x) && (x.Contradicts(y) == "" || y.Contradicts(x) == "") {
			t.Errorf("%q and %q contradict one way only", a, b)
		}
	})
}

// BenchmarkPairs prints how good the verdicts on our set are.
func BenchmarkPairs(b *testing.B) {
	set := pairs(b, "pairs.tsv")
	var hit, named, all float64
	for b.Loop() {
		hit, named, all = 0, 0, 0
		for _, p := range set {
			got := Read(p.old).Contradicts(Read(p.new)) != ""
			if p.conflict {
				all++
			}
			if got {
				named++
			}
			if got && p.conflict {
				hit++
			}
		}
	}
	b.ReportMetric(hit/named, "precision")
	b.ReportMetric(hit/all, "recall")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(2*len(set)), "µs/entry")
}
