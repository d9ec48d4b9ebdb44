//go:build ignore

// Gen writes property.txt from the published data of the Unicode consortium:
//
//	go run gen.go DIR
//
// DIR holds UnicodeData.txt, Scripts.txt, ArabicShaping.txt, LineBreak.txt,
// StandardizedVariants.txt and emoji-data.txt of the Unicode Character
// Database and confusables.txt of UTS #39.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run gen.go DIR")
	}
	out, err := os.Create("property.txt")
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, "# Made by gen.go from data © Unicode, Inc. (Unicode License v3); do not edit.")
	fmt.Fprintln(w, "pict", ranges("emoji-data.txt", func(f []string) bool { return f[1] == "Extended_Pictographic" }))
	fmt.Fprintln(w, "vary", ranges("StandardizedVariants.txt", func([]string) bool { return true }))
	fmt.Fprintln(w, "join", scripts("ArabicShaping.txt", func(f []string) bool { return len(f) > 2 && f[2] == "D" }))
	fmt.Fprintln(w, "virama", scripts("UnicodeData.txt", func(f []string) bool { return len(f) > 3 && f[3] == "9" }))
	fmt.Fprintln(w, "unspaced", scripts("LineBreak.txt", func(f []string) bool { return f[1] == "SA" }))
	look := lookalikes()
	for _, target := range slices.Sorted(keys(look)) {
		slices.Sort(look[target])
		fmt.Fprintln(w, "look", target, string(look[target]))
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
}

func keys(m map[string][]rune) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// lines yields the fields of each line of a data file, comments left out.
func lines(name string, do func(fields []string)) {
	data, err := os.ReadFile(filepath.Join(os.Args[1], name))
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Split(line, ";")
		if len(fields) < 2 {
			continue
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		do(fields)
	}
}

func hex(s string) rune {
	n, err := strconv.ParseInt(s, 16, 32)
	if err != nil {
		log.Fatal(err)
	}
	return rune(n)
}

// each yields the code points of the chosen lines.
func each(name string, want func([]string) bool, do func(rune)) {
	lines(name, func(f []string) {
		if !want(f) {
			return
		}
		if a, _, ok := strings.Cut(f[0], " "); ok {
			f[0] = a // a variation sequence: its base
		}
		lo, hi, ok := strings.Cut(f[0], "..")
		if !ok {
			hi = lo
		}
		for r := hex(lo); r <= hex(hi); r++ {
			do(r)
		}
	})
}

func ranges(name string, want func([]string) bool) string {
	var rs []rune
	each(name, want, func(r rune) { rs = append(rs, r) })
	slices.Sort(rs)
	rs = slices.Compact(rs)
	var out []string
	for i := 0; i < len(rs); {
		j := i
		for j+1 < len(rs) && rs[j+1] == rs[j]+1 {
			j++
		}
		out = append(out, string(rs[i])+string(rs[j]))
		i = j + 1
	}
	return strings.Join(out, "")
}

func scripts(name string, want func([]string) bool) string {
	found := map[string][]rune{}
	each(name, want, func(r rune) {
		for script, table := range unicode.Scripts {
			if script != "Common" && script != "Inherited" && unicode.Is(table, r) {
				found[script] = nil
			}
		}
	})
	return strings.Join(slices.Sorted(keys(found)), " ")
}

var latinName = regexp.MustCompile(`LATIN (?:SMALL |CAPITAL |LETTER |SMALL CAPITAL )+(?:LETTER )?(?:TURNED |REVERSED |INVERTED |SCRIPT |OPEN |DOTLESS |BARRED )*([A-Z])(?: WITH .*)?$|(?:REGIONAL INDICATOR SYMBOL|NEGATIVE CIRCLED LATIN CAPITAL|NEGATIVE SQUARED LATIN CAPITAL) LETTER ([A-Z])$`)

// lookalikes groups characters by the ASCII text or the ideograph that they
// can be taken for. A small letter that is like nothing itself stands for what
// its capital is like.
func lookalikes() map[string][]rune {
	to, lowered := map[rune]string{}, map[rune]string{}
	add := func(r rune, target string) {
		if r < 0x80 || r >= 0xe0000 || unicode.IsMark(r) || norm.NFKD.String(string(r)) != string(r) {
			return // the canonical view has already replaced or dropped it
		}
		target = strings.ToLower(target)
		to[r] = target
		if low := unicode.ToLower(r); low != r && to[low] == "" {
			lowered[low] = target
		}
	}
	lines("confusables.txt", func(f []string) {
		var target []rune
		for _, h := range strings.Fields(f[1]) {
			target = append(target, hex(h))
		}
		t := norm.NFKD.String(string(target))
		ascii := strings.IndexFunc(t, func(r rune) bool { return r > 0x7e || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0
		han := len(target) == 1 && unicode.Is(unicode.Han, target[0])
		if ascii && len(t) <= 2 || han {
			add(hex(f[0]), t)
		}
	})
	lines("UnicodeData.txt", func(f []string) {
		if m := latinName.FindStringSubmatch(f[1]); m != nil {
			add(hex(f[0]), m[1]+m[2])
		}
	})
	for r, target := range map[rune]string{'η': "n", 'μ': "u", 'ω': "w", 'γ': "y"} {
		to[r] = target // as people write them, where the data sees the capital
	}
	for r, target := range lowered {
		if to[r] == "" {
			to[r] = target
		}
	}
	out := map[string][]rune{}
	for r, target := range to {
		out[target] = append(out[target], r)
	}
	return out
}
