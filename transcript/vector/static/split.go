package static

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// splitters returns what cuts a text into words.
func splitters(p part, depth int) ([]func([]string) []string, error) {
	one := func(f func(string) []string) ([]func([]string) []string, error) {
		return []func([]string) []string{func(words []string) []string {
			var out []string
			for _, w := range words {
				out = append(out, f(w)...)
			}
			return out
		}}, nil
	}
	switch p.Type {
	case "Sequence":
		if depth >= deepest {
			return nil, fmt.Errorf("pre-tokenizers are nested too deep")
		}
		var all []func([]string) []string
		for _, q := range p.Steps {
			f, err := splitters(q, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, f...)
		}
		return all, nil
	case "BertPreTokenizer":
		return one(func(s string) []string {
			var out []string
			for _, w := range strings.Fields(s) {
				out = append(out, isolate(w, punctuation)...)
			}
			return out
		})
	case "Whitespace":
		return one(func(s string) []string { return wordOrNot.FindAllString(s, -1) })
	case "WhitespaceSplit":
		return one(strings.Fields)
	case "Punctuation":
		return one(func(s string) []string { return isolate(s, punctuation) })
	case "Digits":
		return one(func(s string) []string {
			if p.IndividualDigits {
				return isolate(s, unicode.IsNumber)
			}
			return digitsOrNot.FindAllString(s, -1)
		})
	case "Metaspace":
		return p.metaspace(), nil
	case "Split":
		return p.splitter(one)
	}
	return nil, fmt.Errorf("a pre-tokenizer of type %q is not understood", p.Type)
}

var (
	wordOrNot   = regexp.MustCompile(`[\p{L}\p{M}\p{N}_]+|[^\p{L}\p{M}\p{N}_\s]+`)
	digitsOrNot = regexp.MustCompile(`\p{N}+|\P{N}+`)
)

// punctuation is what BERT takes for it: all of ASCII's signs too.
func punctuation(r rune) bool {
	return r < 128 && (r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~') || unicode.IsPunct(r)
}

// isolate cuts s so that each rune that is one stands alone.
func isolate(s string, is func(rune) bool) []string {
	var out []string
	from := 0
	for i, r := range s {
		if !is(r) {
			continue
		}
		if from < i {
			out = append(out, s[from:i])
		}
		from = i + len(string(r))
		out = append(out, s[i:from])
	}
	if from < len(s) {
		out = append(out, s[from:])
	}
	return out
}

// metaspace marks where words begin, and cuts there.
func (p part) metaspace() []func([]string) []string {
	mark := p.Replacement
	if mark == "" {
		mark = "▁"
	}
	scheme := p.PrependScheme
	if scheme == "" {
		scheme = "always"
		if p.AddPrefixSpace != nil && !*p.AddPrefixSpace {
			scheme = "never"
		}
	}
	return []func([]string) []string{func(words []string) []string {
		var out []string
		for i, w := range words {
			w = strings.ReplaceAll(w, " ", mark)
			if !strings.HasPrefix(w, mark) && (scheme == "always" || scheme == "first" && i == 0) {
				w = mark + w
			}
			if p.Split != nil && !*p.Split {
				out = append(out, w)
				continue
			}
			for w != "" {
				n := strings.Index(w[min(len(w), len(mark)):], mark)
				if n < 0 {
					out = append(out, w)
					break
				}
				n += len(mark)
				out, w = append(out, w[:n]), w[n:]
			}
		}
		return out
	}}
}

// splitter cuts at a pattern.
func (p part) splitter(one func(func(string) []string) ([]func([]string) []string, error)) ([]func([]string) []string, error) {
	expr, err := p.Pattern.compile()
	if err != nil {
		return nil, err
	}
	if p.Invert || p.Behavior != "Removed" && p.Behavior != "Isolated" {
		return nil, fmt.Errorf("a split that is %q (inverted: %t) is not understood", p.Behavior, p.Invert)
	}
	return one(func(s string) []string {
		var out []string
		from := 0
		for _, at := range expr.FindAllStringIndex(s, -1) {
			out = append(out, s[from:at[0]])
			if p.Behavior == "Isolated" {
				out = append(out, s[at[0]:at[1]])
			}
			from = at[1]
		}
		return append(out, s[from:])
	})
}
