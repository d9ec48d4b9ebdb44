package holographic

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) provider.Provider { return New(filepath.Join(t.TempDir(), "facts.db")) })
}

// town is 200 facts about people, services and places: what is said of each,
// and pairs that cannot both be true.
type town struct {
	facts []string
	pairs [][2]string
}

func newTown() (w town) {
	people := []string{"Mara Keller", "Tom Okafor", "Ines Duarte", "Piotr Nowak", "Aiko Tanaka", "林晓雨", "王建国", "陈思远"}
	services := []string{"billing", "search-api", "mail-gate", "ledger", "photo-store", "night-batch"}
	teas := []string{"green tea", "espresso", "oat milk", "mint tea", "black coffee"}
	editors := []string{"Vim", "Emacs", "Helix", "Zed", "Nano"}
	cities := []string{"Lisbon", "Graz", "Osaka", "Lagos", "Gdansk"}
	add := func(format string, args ...any) string {
		f := fmt.Sprintf(format, args...)
		w.facts = append(w.facts, f)
		return f
	}
	for i, who := range people[:5] {
		add("%s drinks %s in the morning", who, teas[i])
		add("%s lives in %s with two cats", who, cities[i])
		add("%s was hired in %d", who, 2011+i)
		add("The desk of %s is on floor %d", who, i+1)
		add("%s speaks Portuguese and a little Danish", who)
		add("Reviews by %s take %d hours", who, 2*i+1)
		add("On Fridays %s works from home", who)
		add("%s plays the cello in an orchestra", who)
		add("Ask %s before touching the firewall", who)
	}
	for i, who := range people[5:] {
		add("%s喜欢喝%s茶", who, []string{"龙井", "普洱", "铁观音"}[i])
		add("%s负责%s的设计", who, []string{"前端界面", "数据管道", "移动应用"}[i])
		add("%s的工位在%d楼", who, i+3)
		add("周五%s在家办公", who)
		add("%s会说葡萄牙语", who)
		add("请先问%s再改防火墙", who)
	}
	for i, s := range services {
		add("\"%s\" is written in Go and has %d tables", s, 10+i)
		add("Logs of \"%s\" go to the cold archive after %d days", s, 7*(i+1))
		add("\"%s\" restarts in %d seconds", s, 3+i)
		add("The dashboard of \"%s\" is yellow", s)
		add("Backups of \"%s\" run at %02d:30", s, i+1)
		for j, who := range people[:5] {
			if (i+j)%2 == 0 {
				add("%s is on call for \"%s\" in week %d", who, s, 10+i+j)
			}
		}
	}
	for i := range 9 {
		add("The %s lamp hangs in room %d", []string{"red", "blue", "tall", "old", "brass", "paper", "glass", "round", "small"}[i], 100+i)
	}
	clash := func(a, b string) { w.pairs = append(w.pairs, [2]string{add("%s", a), add("%s", b)}) }
	for i, who := range people[:5] {
		clash(fmt.Sprintf("%s prefers the editor %s", who, editors[i]), fmt.Sprintf("%s prefers the editor %s", who, editors[(i+1)%5]))
		clash(fmt.Sprintf("%s likes meetings before noon", who), fmt.Sprintf("%s dislikes meetings before noon", who))
	}
	for i, s := range services {
		clash(fmt.Sprintf("\"%s\" listens on port %d", s, 8000+i), fmt.Sprintf("\"%s\" listens on port %d", s, 9000+i))
		clash(fmt.Sprintf("\"%s\" may be deployed on Fridays", s), fmt.Sprintf("\"%s\" may not be deployed on Fridays", s))
	}
	for i, who := range people[5:] {
		clash(who+"偏好深色主题", who+"偏好浅色主题")
		clash(who+[]string{"支持远程会议", "吃辣椒", "使用苹果电脑"}[i], who+[]string{"不支持远程会议", "不吃辣椒", "不使用苹果电脑"}[i])
	}
	for i := 0; len(w.facts) < 200; i++ {
		add("Shelf %d holds the manuals of the year %d", i, 1970+i)
	}
	return w
}

func (w town) fill(t *testing.T, p *Provider) {
	t.Helper()
	if err := p.write(t.Context(), func(tx *writer) error {
		for _, f := range w.facts {
			if _, _, err := tx.add(t.Context(), f, "general", ""); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestPrecisionOn200Facts(t *testing.T) {
	w := newTown()
	if len(w.facts) != 200 {
		t.Fatalf("%d facts", len(w.facts))
	}
	p := New(filepath.Join(t.TempDir(), "facts.db"))
	defer p.Close()
	w.fill(t, p)
	five := filter{minTrust: 0.3, limit: 5}
	// precision is the share of the first five that say all the names, where
	// that many do.
	precision := func(names []string, got []fact) float64 {
		right, there := 0, 0
		about := func(content string) bool {
			for _, n := range names {
				if !strings.Contains(content, n) {
					return false
				}
			}
			return true
		}
		for _, f := range w.facts {
			if about(f) {
				there++
			}
		}
		for _, f := range got {
			if about(f.Content) {
				right++
			}
		}
		return float64(right) / float64(max(len(got), min(5, there)))
	}
	sum, n := 0.0, 0
	for _, name := range []string{"Mara Keller", "tom okafor", "Ines Duarte", "Piotr Nowak", "Aiko Tanaka", "林晓雨", "王建国", "陈思远",
		"billing", "search-api", "search_api", "mail gate", "ledger", "photo-store", "night-batch", "firewall", "Lisbon", "防火墙", "葡萄牙语"} {
		got, err := p.probe(t.Context(), name, five)
		if err != nil {
			t.Fatal(err)
		}
		spelled := map[string]string{"tom okafor": "Tom Okafor", "search_api": "search-api", "mail gate": "mail-gate"}[name]
		if spelled == "" {
			spelled = name
		}
		score := precision([]string{spelled}, got)
		if score < 0.9 {
			t.Logf("probe %s: %.2f", name, score)
		}
		sum, n = sum+score, n+1
	}
	t.Logf("probe: precision@5 %.3f of %d", sum/float64(n), n)
	if sum/float64(n) < 0.9 {
		t.Error("probe is below 0.9")
	}
	sum, n = 0, 0
	for _, names := range [][]string{{"Mara Keller", "billing"}, {"Mara Keller", "mail-gate"}, {"Tom Okafor", "ledger"}, {"Ines Duarte", "billing"},
		{"Piotr Nowak", "search-api"}, {"Aiko Tanaka", "photo-store"}, {"firewall", "Ines Duarte"}, {"林晓雨", "防火墙"}, {"王建国", "普洱"}, {"billing", "Fridays"}} {
		got, err := p.reason(t.Context(), names, five)
		if err != nil {
			t.Fatal(err)
		}
		score := precision(names, got)
		if score < 0.9 {
			t.Logf("reason %s: %.2f", names, score)
		}
		sum, n = sum+score, n+1
	}
	t.Logf("reason: precision@5 %.3f of %d", sum/float64(n), n)
	if sum/float64(n) < 0.9 {
		t.Error("reason is below 0.9")
	}
	found, compared, err := p.contradict(t.Context(), filter{limit: 100}, 0.3)
	if err != nil || compared != 200 {
		t.Fatalf("%d compared, %v", compared, err)
	}
	planted := 0
	for _, pair := range w.pairs {
		if slices.ContainsFunc(found, func(c contradiction) bool { return c.A.Content == pair[0] && c.B.Content == pair[1] }) {
			planted++
		} else {
			t.Logf("not found: %s / %s", pair[0], pair[1])
		}
	}
	t.Logf("contradict: %d of %d planted pairs among %d", planted, len(w.pairs), len(found))
	if float64(planted) < 0.8*float64(len(w.pairs)) || planted*5 < len(found)*4 {
		t.Error("contradict finds fewer than 0.8 of the planted pairs, or mostly others")
	}
}

func TestPartsOfAChineseRunAreFound(t *testing.T) {
	w := newTown()
	p := New(filepath.Join(t.TempDir(), "facts.db"))
	defer p.Close()
	w.fill(t, p)
	for query, want := range map[string]string{
		"龙井": "林晓雨喜欢喝龙井茶", "谁负责数据管道？": "王建国负责数据管道的设计", "深色主题": "偏好深色主题", "普": "王建国喜欢喝普洱茶",
		"Mara 的 editor": "Mara Keller prefers the editor", "移动应用 design": "陈思远负责移动应用的设计",
	} {
		got, err := p.search(t.Context(), query, filter{minTrust: 0.3, limit: 5})
		if err != nil || len(got) == 0 || !strings.Contains(got[0].Content, want) {
			t.Errorf("%s: %v, %v", query, got, err)
		}
	}
}

func TestTheFirstQuestionMakesNoIndexAndAnswersAsTheNext(t *testing.T) {
	w := newTown()
	p := New(filepath.Join(t.TempDir(), "facts.db"))
	defer p.Close()
	w.fill(t, p)
	ask := func(query string) (out []int64) {
		t.Helper()
		got, err := p.search(t.Context(), query, filter{minTrust: 0.3, limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range got {
			out = append(out, f.ID)
		}
		return out
	}
	first := ask("谁负责数据管道？")
	if p.grams.Grams != nil {
		t.Error("one question made the pairs of all facts")
	}
	second := ask("谁负责数据管道？")
	if p.grams.Grams == nil {
		t.Error("the second question did not keep the pairs")
	}
	if len(first) == 0 || !slices.Equal(first, second) {
		t.Errorf("first %v, then %v", first, second)
	}
	if err := p.write(t.Context(), func(tx *writer) error {
		_, _, err := tx.add(t.Context(), "赵六负责数据管道的备份", "general", "")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if third := ask("数据管道的备份"); len(third) == 0 || slices.Equal(third, second) {
		t.Errorf("what was added in between is not found: %v", third)
	}
	if p.grams.Grams != nil {
		t.Error("the pairs from before the change are kept")
	}
}
