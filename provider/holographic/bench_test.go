package holographic

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider"
)

// BenchmarkRecall asks a store of 50,000 facts, a third of them Chinese, and
// reports the 95th percentile of each kind of question in milliseconds.
func BenchmarkRecall(b *testing.B) {
	const facts = 50_000
	rnd := rand.New(rand.NewPCG(1, 2))
	var vocabulary []string
	for i := range 6000 {
		vocabulary = append(vocabulary, fmt.Sprintf("%c%c%s%d", 'a'+rune(i%26), 'a'+rune(i/26%26), []string{"ron", "tel", "mar", "dis"}[i%4], i))
	}
	han := []rune("天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳云腾致雨露结为霜金生丽水玉出昆冈剑号巨阙珠称夜光果珍李柰菜重芥姜海咸河淡鳞潜羽翔")
	word := func() string { // a few are frequent, most are rare
		return vocabulary[int(float64(len(vocabulary))*rnd.Float64()*rnd.Float64()*rnd.Float64())]
	}
	sentence := func(i int) string {
		if i%3 == 0 {
			var run []rune
			for range 12 + rnd.IntN(8) {
				run = append(run, han[rnd.IntN(len(han))])
			}
			return fmt.Sprintf("用户%s第%d条", string(run), i)
		}
		said := []string{"The user", "says that"}
		for range 8 + rnd.IntN(6) {
			said = append(said, word())
		}
		return strings.Join(append(said, fmt.Sprintf("in \"case %d\"", i%900)), " ")
	}
	p := New(filepath.Join(b.TempDir(), "facts.db"))
	defer p.Close()
	var all []string
	if err := p.write(b.Context(), func(tx *writer) error {
		for i := range facts {
			s := sentence(i)
			all = append(all, s)
			if _, _, err := tx.add(b.Context(), s, "general", ""); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	some := func() string { return all[1+rnd.IntN(facts/3-1)*3] } // a spaced one
	kinds := map[string]func() string{
		"question": func() string {
			w := strings.Fields(some())
			return "what did the user say about " + w[5] + " and " + w[7] + "?"
		},
		"frequent": func() string { return "what does the user say in this case" },
		"chinese": func() string {
			r := []rune(all[rnd.IntN(facts/3)*3])
			return "用户说过" + string(r[4:9]) + "吗"
		},
		"entity": func() string { return fmt.Sprintf("what is known of case %d?", rnd.IntN(900)) },
	}
	for name, ask := range kinds {
		b.Run(name, func(b *testing.B) {
			var took []float64
			for b.Loop() {
				q := ask()
				begin := time.Now()
				if _, err := p.Recall(b.Context(), provider.Session{}, q); err != nil {
					b.Fatal(err)
				}
				took = append(took, float64(time.Since(begin).Microseconds())/1000)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2], "p50-ms")
			b.ReportMetric(took[min(len(took)-1, len(took)*95/100)], "p95-ms")
			b.ReportMetric(took[len(took)-1], "worst-ms")
		})
	}
	b.Run("chinese, first of a process", func(b *testing.B) {
		for b.Loop() {
			fresh := New(p.store.path)
			if _, err := fresh.Recall(b.Context(), provider.Session{}, kinds["chinese"]()); err != nil {
				b.Fatal(err)
			}
			if err := fresh.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("probe", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.probe(b.Context(), fmt.Sprintf("case %d", rnd.IntN(900)), filter{limit: 5}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
