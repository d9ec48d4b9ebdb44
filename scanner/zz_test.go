package scanner
import ("testing";"os";"fmt";"sort")
func TestZZCorpus(t *testing.T) {
	path := os.Getenv("CORPUS"); if path=="" {t.Skip()}
	set := readSamples(t, path)
	by := map[string]int{}; n:=0; tot:=map[string]int{}; ref:=map[string]int{}; cl:=0
	for _, s := range set {
		tot[s.Lang]++
		r := Inspect(s.Text, Strict)
		if len(r.Removed)>0 {cl++; if os.Getenv("CLEAN")!="" {fmt.Printf("CLEANED %v %.200q\n", r.Removed, s.Text)}}
		if r.Refused() { n++; ref[s.Lang]++
			for _, f := range r.Findings { by[f.Rule]++ 
			a:=max(0,f.Offset-40); b:=min(len(s.Text), f.Offset+160)
			fmt.Printf("%s | %s | %q | %q\n", f.Rule, s.Lang, f.Match, s.Text[a:b]) }
		}
	}
	var ks []string; for k := range by {ks=append(ks,k)}; sort.Strings(ks)
	for _, k := range ks { fmt.Println("COUNT",k, by[k]) }
	for k := range tot { fmt.Println("SRC",k, ref[k], tot[k]) }
	fmt.Println("COUNT refused", n, "of", len(set), "cleaned", cl)
}
