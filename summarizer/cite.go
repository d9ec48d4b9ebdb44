package summarizer

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
)

// citation is [m:12], also [m:12, m:13] and [m:12, 13].
var citation = regexp.MustCompile(`\[\s*m:\s*\d+(?:\s*[,;]\s*(?:m:\s*)?\d+)*\s*\]`)

var digits = regexp.MustCompile(`\d+`)

// supported returns the sentences of text that cite only messages which were
// sent, say what stands in those, and give no orders: a model that repeats what a
// session quotes would say it in its own voice. The others are dropped.
func supported(text string, sent []piece) string {
	texts := make(map[int64]string, len(sent))
	for _, p := range sent {
		texts[p.id] = p.text
	}
	var kept []string
	for _, s := range sentences(text) {
		var cited strings.Builder
		ids := citations(s)
		for _, id := range ids {
			said, ok := texts[id]
			if !ok {
				cited.Reset()
				break
			}
			cited.WriteString(said)
		}
		claim := citation.ReplaceAllString(s, " ")
		if cited.Len() > 0 && Supported(claim, cited.String()) && scanner.Scan(claim, scanner.Context) == nil {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, " ")
}

// citations lists the ids that a sentence cites.
func citations(sentence string) []int64 {
	var ids []int64
	for _, c := range citation.FindAllString(sentence, -1) {
		for _, d := range digits.FindAllString(c, -1) {
			id, err := strconv.ParseInt(d, 10, 64)
			if err != nil {
				id = -1 // too large: never sent
			}
			ids = append(ids, id)
		}
	}
	return ids
}

// support is the least share of a claim's words that must stand in what it
// cites. Words about the conversation itself do not count.
const support = 0.4

// Supported tells whether a claim can have come out of text: every number, path
// and identifier of it is there, and enough of its other words.
func Supported(claim, text string) bool {
	there := terms(text)
	all, found := 0, 0
	for _, t := range analysis.Tokens(claim) {
		word := strings.ToLower(claim[t.Start:t.End])
		if analysis.Stop(word) || aboutTalk[word] {
			continue
		}
		held := there[t.Text]
		if strings.ContainsFunc(word, unicode.IsDigit) && !held {
			return false
		}
		all++
		if held {
			found++
		}
	}
	if all == 0 || float64(found) < support*float64(all) {
		return false
	}
	low := strings.ToLower(text)
	for w := range strings.FieldsSeq(claim) {
		w = strings.ToLower(strings.Trim(w, ".,;:!?()[]\"'`*’“”…"))
		if named(w) && !strings.Contains(low, w) {
			return false
		}
	}
	return true
}

// named tells whether a word is a path, a command's option or an identifier,
// which a summary must not make up.
func named(w string) bool {
	return utf8.RuneCountInString(w) > 3 && (strings.ContainsAny(w, "/_\\@=") || strings.HasPrefix(w, "--") || strings.Contains(w, "."))
}

// aboutTalk are words in which a summary speaks of the conversation.
var aboutTalk = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`user users assistant agent session conversation asked asks wanted wants said told
		prefers preferred prefer likes expects uses
		reported explained suggested proposed decided agreed chose found noted then finally later first after because
		which that this was were had resolved unresolved remains outcome result cause`) {
		m[w] = true
	}
	return m
}()

func terms(text string) map[string]bool {
	all := map[string]bool{}
	for _, t := range analysis.Tokens(text) {
		all[t.Text] = true
	}
	return all
}

// shortened are words whose full stop ends no sentence.
var shortened = []string{"e.g", "i.e", "etc", "vs", "cf", "no", "nr", "approx", "z.b", "d.h", "bzw", "ca"}

// sentences parts a text, each with the citations that follow it.
func sentences(text string) []string {
	var out []string
	for l := range strings.Lines(strings.ToValidUTF8(text, "")) {
		l = strings.TrimSpace(l)
		l = strings.TrimSpace(strings.TrimLeft(l, "-*•#> "))
		for l != "" {
			n := sentenceEnd(l)
			out = append(out, strings.TrimSpace(l[:n]))
			l = strings.TrimSpace(l[n:])
		}
	}
	return out
}

// sentenceEnd is the length of the first sentence of a line.
func sentenceEnd(l string) int {
	for i, r := range l {
		after := l[i+utf8.RuneLen(r):]
		switch r {
		case '.', '!', '?':
			next, _ := utf8.DecodeRuneInString(after)
			if after != "" && !unicode.IsSpace(next) && next != '[' || r == '.' && isShortened(l[:i]) {
				continue
			}
		case '。', '！', '？':
		default:
			continue
		}
		end := i + utf8.RuneLen(r)
		for {
			rest := l[end:]
			at := citation.FindStringIndex(rest)
			if at == nil || strings.Trim(rest[:at[0]], " .") != "" {
				return end
			}
			end += at[1]
			if strings.HasPrefix(l[end:], ".") {
				end++
			}
		}
	}
	return len(l)
}

func isShortened(before string) bool {
	word := strings.ToLower(before[strings.LastIndexAny(before, " (")+1:])
	for _, s := range shortened {
		if word == s {
			return true
		}
	}
	return word != "" && strings.Trim(word, "0123456789") == "" && len(before) == len(word) // "1." begins a list
}
