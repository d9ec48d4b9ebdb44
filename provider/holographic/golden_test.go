package holographic

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/provider/holographic/hrr"
	"github.com/hermes-mcp/hermes-mcp/testbed"
)

// golden is what unmodified upstream code gave on eight facts.
type golden struct {
	Facts []struct {
		ID       int64    `json:"id"`
		Content  string   `json:"content"`
		Category string   `json:"category"`
		Tags     string   `json:"tags"`
		Entities []string `json:"entities"`
	} `json:"facts"`
	Feedback []verdict              `json:"feedback"`
	Search   map[string][][]float64 `json:"search"`
	Related  map[string][][]float64 `json:"related"`
	List     [][]float64            `json:"list"`
}

func loadGolden(t testing.TB) (g golden) {
	t.Helper()
	raw, err := os.ReadFile(testbed.Path(t, "holographic", "upstream-golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// upstreamStore makes a store as one of upstream's two versions writes it.
func upstreamStore(t testing.TB, g golden, encode func(hrr.Vector) []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory_store.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(schema)
	for _, index := range []string{"idx_fact_entities_entity", "idx_entities_any_case", "idx_entities_aliased"} {
		exec("DROP INDEX " + index)
	}
	space := hrr.NewSpace(1024)
	numbers := map[string]int{}
	for _, f := range g.Facts {
		exec("INSERT INTO facts (fact_id, content, category, tags, hrr_vector) VALUES (?, ?, ?, ?, ?)", f.ID, f.Content, f.Category, f.Tags, encode(space.Fact(f.Content, f.Entities)))
		for _, name := range f.Entities {
			if numbers[name] == 0 {
				numbers[name] = len(numbers) + 1
				exec("INSERT INTO entities (entity_id, name) VALUES (?, ?)", numbers[name], name)
			}
			exec("INSERT INTO fact_entities VALUES (?, ?)", f.ID, numbers[name])
		}
	}
	exec("UPDATE facts SET trust_score = 0.55, helpful_count = 1 WHERE fact_id = 3")
	exec("UPDATE facts SET trust_score = 0.4 WHERE fact_id = 4")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func ids(facts []fact) (out []int64) {
	for _, f := range facts {
		out = append(out, f.ID)
	}
	return out
}

var formats = map[string]func(hrr.Vector) []byte{"raw float64": hrr.EncodeRaw, "HRR1 float32": hrr.Encode}

func TestUpstreamsStoresAreReadAndNotChanged(t *testing.T) {
	g := loadGolden(t)
	for name, encode := range formats {
		t.Run(name, func(t *testing.T) {
			path := upstreamStore(t, g, encode)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p := New(path)
			all := filter{minTrust: 0.3, limit: 10}
			for query, want := range g.Search {
				got, err := p.search(t.Context(), query, all)
				if err != nil {
					t.Fatal(err)
				}
				if query == "中文回复" { // upstream finds no part of a run
					if !slices.Equal(ids(got), []int64{8}) {
						t.Errorf("%s: %v", query, ids(got))
					}
					continue
				}
				if len(got) != len(want) {
					t.Errorf("%s: %v, want %v", query, ids(got), want)
					continue
				}
				space := hrr.NewSpace(1024)
				for i, f := range got {
					// Upstream compares with the unbound question; all else is the same.
					raw, bound := hrr.Similarity(space.Text(query), f.vector), hrr.Similarity(space.Content(query), f.vector)
					theirs := f.Score + byVector*(raw-bound)/2*f.Trust
					if f.ID != int64(want[i][0]) || math.Abs(theirs-want[i][1]) > 1e-6 {
						t.Errorf("%s: place %d is %d with %.9f, want %v", query, i+1, f.ID, theirs, want[i])
					}
				}
			}
			for name, want := range g.Related {
				got, err := p.related(t.Context(), name, all)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) == 0 {
					t.Errorf("related %s: nothing", name)
				}
				for i, f := range got {
					at := slices.IndexFunc(want, func(w []float64) bool { return int64(w[0]) == f.ID })
					if math.Abs(f.Score-want[at][1]) > 1e-6 || (i == 0) != (at == 0) {
						t.Errorf("related %s: place %d is %d with %.9f, want %v", name, i+1, f.ID, f.Score, want[at])
					}
				}
			}
			for name, want := range map[string][]int64{"Peppi Smith": {3, 1}, "backend": {2, 1}, "nobody": nil, "green tea": {3}, "中文": {8}, "peppi smith": {3, 1}} {
				if got, err := p.probe(t.Context(), name, all); err != nil || !slices.Equal(ids(got), want) {
					t.Errorf("probe %s: %v, want %v, %v", name, ids(got), want, err)
				}
			}
			if got, err := p.reason(t.Context(), []string{"Peppi Smith", "backend"}, all); err != nil || !slices.Equal(ids(got), []int64{1}) {
				t.Errorf("reason: %v, %v", ids(got), err)
			}
			listed, err := p.list(t.Context(), filter{limit: 10})
			if err != nil || len(listed) != len(g.List) {
				t.Fatalf("list: %v, %v", ids(listed), err)
			}
			for i, f := range listed {
				if f.ID != int64(g.List[i][0]) || f.Trust != g.List[i][1] {
					t.Errorf("list: place %d is %d with trust %v, want %v", i+1, f.ID, f.Trust, g.List[i])
				}
			}
			if _, _, err := p.contradict(t.Context(), all, 0.3); err != nil {
				t.Error(err)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if sha256.Sum256(before) != sha256.Sum256(after) {
				t.Error("reading changed the store")
			}
		})
	}
}

func TestANewFactHasTheVectorOfItsStore(t *testing.T) {
	g := loadGolden(t)
	for name, encode := range formats {
		path := upstreamStore(t, g, encode)
		p := New(path)
		call(t, p.factStore, `{"action":"add","content":"Mara Keller owns \"billing\""}`)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		var blob []byte
		if err := db.QueryRow("SELECT hrr_vector FROM facts ORDER BY fact_id DESC LIMIT 1").Scan(&blob); err != nil {
			t.Fatal(err)
		}
		want := encode(hrr.NewSpace(1024).Fact(`Mara Keller owns "billing"`, []string{"Mara Keller", "billing"}))
		if !slices.Equal(blob, want) {
			t.Errorf("%s: written in another form, %d bytes", name, len(blob))
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFeedbackIsUpstreams(t *testing.T) {
	g := loadGolden(t)
	p := New(filepath.Join(t.TempDir(), "facts.db"))
	defer p.Close()
	for _, f := range g.Facts {
		raw, err := json.Marshal(map[string]string{"action": "add", "content": f.Content, "category": f.Category, "tags": f.Tags})
		if err != nil {
			t.Fatal(err)
		}
		if out := call(t, p.factStore, string(raw)); out["fact_id"] != float64(f.ID) {
			t.Fatalf("%v", out)
		}
	}
	for i, action := range []string{"helpful", "unhelpful"} {
		want := g.Feedback[i]
		out := call(t, p.factFeedback, `{"action":"`+action+`","fact_id":"`+string(rune('0'+want.ID))+`"}`)
		if out["old_trust"] != want.Old || math.Abs(out["new_trust"].(float64)-want.New) > 1e-9 || out["helpful_count"] != float64(want.Helpful) {
			t.Errorf("%v, want %+v", out, want)
		}
	}
}
