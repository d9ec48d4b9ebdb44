package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

func said(id int64, role record.Role, text string) record.Message {
	return record.Message{ID: id, Role: role, Content: text}
}

func TestChunksHoldWhatPeopleAndAgentsSaid(t *testing.T) {
	secret := "sk-ant-api03-" + strings.Repeat("Ab1", 30)
	got := chunks([]record.Message{
		said(1, record.UserRole, "why is the sky blue, my key is "+secret),
		{ID: 2, Role: record.Tool, Content: "output of a tool"},
		said(3, record.Assistant, "because of scattering"),
		{ID: 4, Role: record.Assistant, Content: "on an abandoned branch", OffPath: true},
		{ID: 5, Role: record.UserRole, Content: "from a memory", OwnTrace: true},
		said(6, record.UserRole, strings.Repeat("a long word ", 200)),
		said(7, record.Assistant, "short"),
	})
	if len(got) < 3 || got[0].message != 1 || !strings.Contains(got[0].text, "scattering") {
		t.Fatalf("%+v", got)
	}
	for i, c := range got {
		if n := utf8.RuneCountInString(c.text); n > ChunkRunes+ChunkRunes/4 || n == 0 {
			t.Errorf("%d characters", n)
		}
		for _, not := range []string{"output", "abandoned", "from a memory", secret} {
			if strings.Contains(c.text, not) {
				t.Errorf("chunk %d holds %q", i, not)
			}
		}
	}
	if last := got[len(got)-1]; !strings.Contains(last.text, "short") || last.message != 6 {
		t.Errorf("%+v", last)
	}
}

func TestASessionThatGrowsKeepsItsChunks(t *testing.T) {
	var msgs []record.Message
	for i := range int64(3000) {
		msgs = append(msgs, said(i+1, []record.Role{record.UserRole, record.Assistant}[i%2], fmt.Sprintf("message %d %s", i, strings.Repeat("and so on ", 20))))
	}
	before, after := chunks(msgs[:2800]), chunks(msgs)
	if len(before) != MaxChunks || len(after) != MaxChunks {
		t.Fatalf("%d, %d", len(before), len(after))
	}
	kept := 0
	for _, c := range before {
		if slices.ContainsFunc(after, func(a chunk) bool { return a.hash == c.hash }) {
			kept++
		}
	}
	if kept < MaxChunks*8/10 {
		t.Errorf("%d of %d are kept", kept, MaxChunks)
	}
	if !slices.ContainsFunc(after, func(c chunk) bool { return c.message == 1 }) {
		t.Error("the first prompt is left out")
	}
}

func unit(r *rand.Rand, n int) []float32 {
	v, sum := make([]float32, n), 0.0
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i] * v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func TestAPackedVectorPointsTheSameWay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 3, 64, 65, 256, 1536} {
		a, b := unit(r, n), unit(r, n)
		exact := 0.0
		for i := range a {
			exact += float64(a[i]) * float64(b[i])
		}
		if got := cosine(a, pack(b)); math.Abs(got-exact) > 0.02 {
			t.Errorf("%d dimensions: %f, not %f", n, got, exact)
		}
		if got := cosine(a, pack(a)); got < 0.999 {
			t.Errorf("%d dimensions: to itself %f", n, got)
		}
	}
	if cosine([]float32{1}, []byte{1, 2}) != 0 || cosine([]float32{1}, []byte{0}) != 0 {
		t.Error("what cannot be compared is near")
	}
}

func TestMeaningCountsWhereItStandsOut(t *testing.T) {
	words := []Ranked{{1, 10}, {2, 9}, {3, 8}, {4, 7}, {5, 6}}
	flat := make([]Ranked, 20) // nothing stands out
	for i := range flat {
		flat[i] = Ranked{int64(100 + i), 0.5 - float64(i)/1000}
	}
	alone := slices.Concat([]Ranked{{9, 0.9}}, flat)
	known := slices.Concat([]Ranked{{5, 0.9}}, flat)
	keys := func(all []Ranked) (out []int64) {
		for _, r := range all {
			out = append(out, r.Key)
		}
		return out
	}
	for _, c := range []struct {
		name           string
		words, meaning []Ranked
		want           []int64
	}{
		{"nothing by meaning", words, nil, []int64{1, 2, 3, 4, 5}},
		{"nothing stands out", words, flat, []int64{1, 2, 3, 4, 5}},
		{"what stands out has the third place", words, alone, []int64{1, 2, 9, 3, 4, 5}},
		{"also when words had it last", words, known, []int64{1, 2, 5, 3, 4}},
		{"the nearest few when words find nothing", nil, flat, []int64{100, 101, 102}},
		{"one word hit and two near", words[:1], []Ranked{{7, 0.8}, {8, 0.1}}, []int64{1, 7}},
	} {
		got := Fuse(c.words, c.meaning, 0.05)
		if !slices.Equal(keys(got), c.want) {
			t.Errorf("%s: %v, not %v", c.name, keys(got), c.want)
		}
		for i := 1; i < len(got); i++ {
			if got[i].Score > got[i-1].Score {
				t.Errorf("%s: scores do not fall: %v", c.name, got)
			}
		}
	}
	if strong := Fuse(words, known, 0.5); strong[0].Key != 5 {
		t.Errorf("with more weight: %v", keys(strong))
	}
}
