package scanner

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample is one line of a set of texts.
type sample struct {
	Text string `json:"text"`
	Lang string `json:"lang"`
}

func readSamples(t testing.TB, path string) []sample {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	var out []sample
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, s)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// rate returns the share of the set at path that is refused, and the share
// that is cleaned, in percent.
func rate(t *testing.T, path string, attack bool) (refused, cleaned float64) {
	t.Helper()
	set := readSamples(t, path)
	for _, s := range set {
		r := Inspect(s.Text, Strict)
		switch {
		case r.Refused():
			refused++
			if !attack {
				t.Logf("refused by %s for %q: %s", r.Findings[0].Rule, r.Findings[0].Match, s.Text)
			}
		case len(r.Removed) > 0:
			cleaned++
		case attack && testing.Verbose():
			t.Logf("passed: %.300s", s.Text)
		}
	}
	n := float64(len(set)) / 100
	t.Logf("%s: %d texts, %.2f %% refused, %.2f %% cleaned", filepath.Base(path), len(set), refused/n, cleaned/n)
	return refused / n, cleaned / n
}

// sharedData is the folder of the data that is not part of the repository.
func sharedData() string {
	if dir := os.Getenv("HERMES_TESTDATA"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	for err == nil && !exists(filepath.Join(dir, "go.mod")) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return filepath.Join(dir, "..", "shared", "data")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestOwnSets(t *testing.T) {
	for _, name := range []string{"own", "held"} {
		t.Run(name, func(t *testing.T) {
			rate(t, filepath.Join("testdata", name+"_attack.jsonl"), true)
			rate(t, filepath.Join("testdata", name+"_benign.jsonl"), false)
		})
	}
}

func TestSharedSets(t *testing.T) {
	for _, side := range []string{"attack", "benign"} {
		files, err := filepath.Glob(filepath.Join(sharedData(), "injection", side, "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Skipf("no sets in %s: set HERMES_TESTDATA", sharedData())
		}
		for _, f := range files {
			t.Run(side+"/"+strings.TrimSuffix(filepath.Base(f), ".jsonl"), func(t *testing.T) {
				rate(t, f, side == "attack")
			})
		}
	}
}
