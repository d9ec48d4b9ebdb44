package hrr

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/testbed"
)

// reference are the vectors that upstream's own code gave.
type reference struct {
	Dim   int `json:"dim"`
	Atoms map[string]struct {
		First []float64 `json:"first8"`
		Sum   float64   `json:"sum"`
	} `json:"atoms"`
	Text map[string]struct {
		Tokens []string  `json:"tokens"`
		First  []float64 `json:"first4"`
		Sum    float64   `json:"sum"`
	} `json:"text"`
	Facts []struct {
		Content  string    `json:"content"`
		Entities []string  `json:"entities"`
		First    []float64 `json:"first4"`
	} `json:"facts"`
	Related map[string][]float64 `json:"related"`
	Probe   map[string][]float64 `json:"presence_probe"`
	Reason  map[string][]float64 `json:"presence_reason"`
	Search  struct {
		Query string    `json:"query"`
		Raw   []float64 `json:"upstream_raw_query"`
		Bound []float64 `json:"query_bound_to_content_role"`
	} `json:"search_hrr_term"`
	Blob struct {
		Len    int    `json:"len"`
		SHA256 string `json:"sha256"`
	} `json:"blob_fact0"`
	Pairs map[string]float64 `json:"pair_similarity"`
	Trust float64            `json:"trust"`
}

func load(t *testing.T) (r reference) {
	t.Helper()
	raw, err := os.ReadFile(testbed.Path(t, "holographic", "hrr-vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s = %.9f, want %.9f", what, got, want)
	}
}

func sum(v Vector) (total float64) {
	for _, x := range v {
		total += x
	}
	return total
}

func TestVectorsAreUpstreams(t *testing.T) {
	r := load(t)
	s := NewSpace(r.Dim)
	for word, want := range r.Atoms {
		v := s.Atom(word)
		for i, x := range want.First {
			near(t, "atom "+word, v[i], x, 1e-9)
		}
		near(t, "sum of atom "+word, sum(v), want.Sum, 1e-6)
	}
	for text, want := range r.Text {
		if got := Words(text); !slices.Equal(got, want.Tokens) {
			t.Errorf("words of %q are %q, want %q", text, got, want.Tokens)
		}
		v := s.Text(text)
		for i, x := range want.First {
			near(t, "text "+text, v[i], x, 1e-6)
		}
		near(t, "sum of text "+text, sum(v), want.Sum, 1e-4)
	}
	var facts []Vector
	for _, f := range r.Facts {
		v := s.Fact(f.Content, f.Entities)
		for i, x := range f.First {
			near(t, "fact "+f.Content, v[i], x, 1e-6)
		}
		facts = append(facts, v)
	}
	for pair, want := range r.Pairs {
		a, b := facts[pair[0]-'0'], facts[pair[2]-'0']
		near(t, "similarity "+pair, Similarity(a, b), want, 1e-6)
	}
	blob := Encode(facts[0])
	if sum := sha256.Sum256(blob); len(blob) != r.Blob.Len || hex.EncodeToString(sum[:]) != r.Blob.SHA256 {
		t.Errorf("the first fact is written as %d bytes with hash %x, want %d and %s", len(blob), sum, r.Blob.Len, r.Blob.SHA256)
	}
}

func TestKeysFindWhatIsInAFact(t *testing.T) {
	r := load(t)
	s := NewSpace(r.Dim)
	for i, f := range r.Facts {
		v := s.Fact(f.Content, f.Entities)
		for name, want := range r.Probe {
			near(t, "presence of "+name, Similarity(v, s.Entity(name)), want[i], 1e-6)
		}
		for name, want := range r.Related {
			found := max(Similarity(v, s.Entity(name)), Similarity(v, s.Word(name)))
			near(t, "related "+name, (found+1)/2*r.Trust, want[i], 1e-6)
		}
		for names, want := range r.Reason {
			least := 1.0
			for name := range strings.SplitSeq(names, "+") {
				least = min(least, Similarity(v, s.Entity(name)))
			}
			near(t, "reason "+names, least, want[i], 1e-6)
		}
		near(t, "unbound query", (Similarity(v, s.Text(r.Search.Query))+1)/2, r.Search.Raw[i], 1e-6)
		near(t, "bound query", (Similarity(v, s.Content(r.Search.Query))+1)/2, r.Search.Bound[i], 1e-6)
	}
}

func TestVectorsOfTheWrongShapeAreNoVectors(t *testing.T) {
	s := NewSpace(16)
	good := s.Text("a fact")
	for name, blob := range map[string][]byte{
		"nothing":                   nil,
		"another dimension":         Encode(NewSpace(8).Text("a fact")),
		"a byte short":              Encode(good)[:len(Encode(good))-1],
		"an unknown mark":           append([]byte("HRR9"), Encode(good)[4:]...),
		"a phase that is no number": EncodeRaw(append(slices.Clone(good[1:]), math.NaN())),
	} {
		if _, ok := Decode(blob, 16); ok {
			t.Errorf("%s was read as a vector", name)
		}
	}
	if _, ok := Decode(nil, 0); ok {
		t.Error("a vector without phases was read")
	}
	if v, ok := Decode(EncodeRaw(good), 16); !ok || !slices.Equal(v, good) {
		t.Error("a raw vector does not come back as it was")
	}
}

func FuzzDecode(f *testing.F) {
	s := NewSpace(4)
	f.Add(Encode(s.Text("a b")), 4)
	f.Add(EncodeRaw(s.Text("a b")), 4)
	f.Add([]byte("HRR1"), 0)
	f.Add([]byte("HRR1\x00\x00\xc0\x7f"), 1)
	f.Fuzz(func(t *testing.T, blob []byte, dim int) {
		v, ok := Decode(blob, dim)
		if !ok {
			if v != nil {
				t.Fatal("a refused blob gave a vector")
			}
			return
		}
		if len(v) != dim {
			t.Fatalf("%d phases, want %d", len(v), dim)
		}
		again := EncodeRaw(v)
		if len(blob) != 8*dim {
			again = Encode(v)
		}
		if !bytes.Equal(again, blob) {
			t.Fatalf("%x was read and written as %x", blob, again)
		}
	})
}
