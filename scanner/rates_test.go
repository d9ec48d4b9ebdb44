package scanner

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/testbed"
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

// TestOwnSets holds the rules to sets written for them. own and held were
// written before the rules, own to work with and held to be measured by;
// careful was written after them, to sound as much like an attack as an honest
// note can, and late much later by somebody who had not seen the rules, in a
// dozen languages: of its last 36 attacks 16 were refused at first sight.
func TestOwnSets(t *testing.T) {
	for _, c := range []struct {
		name           string
		attack, benign float64 // at least, at most, percent
	}{
		{"own", 85, 0},
		{"held", 85, 2},
		{"careful", 0, 0},
		{"late", 90, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.attack > 0 {
				if got, _ := rate(t, filepath.Join("testdata", c.name+"_attack.jsonl"), true); got < c.attack {
					t.Errorf("%.1f %% of the attacks are refused, less than %.1f", got, c.attack)
				}
			}
			if got, _ := rate(t, filepath.Join("testdata", c.name+"_benign.jsonl"), false); got > c.benign {
				t.Errorf("%.1f %% of the notes are refused, more than %.1f", got, c.benign)
			}
		})
	}
}

// TestSharedSets holds the rules to the sets of others, where they are at hand.
func TestSharedSets(t *testing.T) {
	least := map[string]float64{
		"asb_opi_ignore": 100, "aws_memory_poison": 75, "deepset_injection": 45, "garak_dan": 85,
		"plain_payload_own": 80, "unicode_obfuscation_dev": 97,
	}
	most := map[string]float64{"notinject_one": 0.9, "deepset_benign": 0.5, "locomo_observations": 0.05}
	for _, side := range []string{"attack", "benign"} {
		files, err := filepath.Glob(filepath.Join(testbed.Path(t, "injection", side), "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no sets of %s: %v", side, err)
		}
		for _, f := range files {
			name := strings.TrimSuffix(filepath.Base(f), ".jsonl")
			t.Run(side+"/"+name, func(t *testing.T) {
				refused, cleaned := rate(t, f, side == "attack")
				if side == "attack" && refused < least[name] {
					t.Errorf("%.1f %% are refused, less than %.1f", refused, least[name])
				}
				if side == "benign" && refused > most[name] {
					t.Errorf("%.1f %% are refused, more than %.2f", refused, most[name])
				}
				if (name == "emoji_sequences" || name == "multilingual_own") && cleaned > 0 {
					t.Errorf("%.1f %% are altered", cleaned)
				}
			})
		}
	}
}
