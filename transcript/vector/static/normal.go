package static

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// deepest bounds sequences of sequences.
const deepest = 8

// normalizers returns what a text goes through before it is split.
func normalizers(p part, depth int) ([]func(string) string, error) {
	one := func(f func(string) string) ([]func(string) string, error) { return []func(string) string{f}, nil }
	switch p.Type {
	case "Sequence":
		if depth >= deepest {
			return nil, fmt.Errorf("normalizers are nested too deep")
		}
		var all []func(string) string
		for _, q := range p.Parts {
			f, err := normalizers(q, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, f...)
		}
		return all, nil
	case "BertNormalizer":
		return one(p.bert())
	case "NFC":
		return one(norm.NFC.String)
	case "NFD":
		return one(norm.NFD.String)
	case "NFKC", "Precompiled": // SentencePiece's own map is NFKC, a few characters aside
		return one(norm.NFKC.String)
	case "NFKD":
		return one(norm.NFKD.String)
	case "Lowercase":
		return one(strings.ToLower)
	case "StripAccents":
		return one(dropMarks)
	case "Nmt":
		return one(clean)
	case "Strip":
		return one(func(s string) string {
			if p.Left {
				s = strings.TrimLeftFunc(s, unicode.IsSpace)
			}
			if p.Right {
				s = strings.TrimRightFunc(s, unicode.IsSpace)
			}
			return s
		})
	case "Prepend":
		return one(func(s string) string {
			if s == "" {
				return s
			}
			return p.Prepend + s
		})
	case "Replace":
		expr, err := p.Pattern.compile()
		if err != nil {
			return nil, err
		}
		return one(func(s string) string { return expr.ReplaceAllLiteralString(s, p.Content) })
	}
	return nil, fmt.Errorf("a normalizer of type %q is not understood", p.Type)
}

func (p pattern) compile() (*regexp.Regexp, error) {
	if p.Regex == "" {
		if p.String == "" {
			return nil, fmt.Errorf("a pattern of nothing")
		}
		return regexp.MustCompile(regexp.QuoteMeta(p.String)), nil
	}
	expr, err := regexp.Compile(p.Regex)
	if err != nil {
		return nil, fmt.Errorf("a pattern is not understood: %w", err)
	}
	return expr, nil
}

// bert is what BERT's texts go through.
func (p part) bert() func(string) string {
	accents := p.Lowercase
	if p.StripAccents != nil {
		accents = *p.StripAccents
	}
	return func(s string) string {
		if p.CleanText {
			s = clean(s)
		}
		if p.Chinese {
			s = apartHan(s)
		}
		if accents {
			s = dropMarks(norm.NFD.String(s))
		}
		if p.Lowercase {
			s = strings.ToLower(s)
		}
		return s
	}
}

// clean drops control characters and makes every space a plain one.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || unicode.IsSpace(r):
			return ' '
		case r == 0 || r == 0xfffd || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
			return -1
		}
		return r
	}, s)
}

func dropMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

// apartHan puts spaces around every Chinese character.
func apartHan(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.Is(unicode.Han, r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
