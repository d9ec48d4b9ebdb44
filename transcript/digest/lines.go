package digest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
)

// passageChars is how long a piece of a message may get: enough for one
// thought with its reason, short enough that several fit into an answer.
const passageChars = 320

// toolBytes is how much of a tool's output is searched for lines.
const toolBytes = 16 << 10

// A passage is some sentences of one message.
type passage struct {
	msg   int // index of the message
	text  string
	score float64
}

// bearing returns the passages of what was said, or when nothing in them bears
// on the focus, of what tools and summaries say; none when nothing does.
func (f *focus) bearing(msgs []transcript.Message) []passage {
	if len(f.terms) == 0 {
		return nil
	}
	ps := f.passages(msgs, spoken)
	if !anyHit(ps) {
		ps = f.passages(msgs, func(m *transcript.Message) bool {
			return !m.OwnTrace && m.Content != "" && (m.Role == transcript.Tool || m.Role == transcript.Summary)
		})
		if !anyHit(ps) {
			return nil
		}
	}
	return ps
}

func anyHit(ps []passage) bool {
	return slices.ContainsFunc(ps, func(p passage) bool { return p.score > 0 })
}

// How much of a passage's weight its neighbours get: an answer stands after
// its question, and shares no word with it as often as not.
const (
	toNext     = .5
	toPrevious = .3
	toSecond   = .2
)

// pick takes the heaviest passages while there is room.
func pick(msgs []transcript.Message, ps []passage, budget int) []Line {
	weight := make([]float64, len(ps))
	for i, p := range ps {
		weight[i] += p.score
		if i+1 < len(ps) {
			weight[i+1] += toNext * p.score
		}
		if i+2 < len(ps) {
			weight[i+2] += toSecond * p.score
		}
		if i > 0 {
			weight[i-1] += toPrevious * p.score
		}
	}
	order := make([]int, 0, len(ps))
	for i := range ps {
		if weight[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
	var taken []int
	said, texts := map[string]bool{}, map[int]string{}
	for _, i := range order {
		text := ps[i].text
		n := runes(text)
		if key := strings.ToLower(text); said[key] {
			continue
		} else if n <= budget {
			said[key] = true
		} else if len(taken) == 0 {
			text = cut(text, budget)
			n = runes(text)
		} else {
			continue
		}
		taken, texts[i] = append(taken, i), text
		if budget -= n; budget < 40 {
			break
		}
	}
	slices.Sort(taken)
	var out []Line
	for _, i := range taken {
		m := &msgs[ps[i].msg]
		out = append(out, Line{Text: texts[i], Role: m.Role, MessageID: id(*m)})
	}
	return out
}

// A focus is what a query looks for.
type focus struct {
	terms  []focusTerm
	byText map[string]int
	hints  []string // lower-case beginnings of which a message with a match holds one
	blind  bool     // a term that hints do not show
}

type focusTerm struct {
	tokens []string
	at     int // position among the query's words, -1 for none
}

func newFocus(query string) focus {
	f := focus{byText: map[string]int{}}
	q := analysis.Parse(query)
	for _, t := range append(q.Must, q.Terms...) {
		if len(t.Tokens) == 0 {
			continue
		}
		f.terms = append(f.terms, focusTerm{tokens: t.Tokens, at: t.At})
		for _, tok := range t.Tokens {
			if _, ok := f.byText[tok]; !ok {
				f.byText[tok] = len(f.terms) - 1
			}
			f.hint(tok)
		}
	}
	return f
}

// hint remembers how a token begins, to pass over messages cheaply.
func (f *focus) hint(tok string) {
	n := 0
	for i := range tok {
		if n == 3 {
			tok = tok[:i]
			break
		}
		n++
	}
	for _, r := range tok {
		if r > unicode.MaxASCII {
			f.blind = true // folded: it may be written otherwise
		}
	}
	f.hints = append(f.hints, tok)
}

// mayHit tells, quickly, whether a text can hold a term.
func (f *focus) mayHit(text string) bool {
	if f.blind {
		return true
	}
	lower := strings.ToLower(text)
	return slices.ContainsFunc(f.hints, func(h string) bool { return strings.Contains(lower, h) })
}

// hits tells whether a text holds a term.
func (f *focus) hits(text string) bool {
	if len(f.terms) == 0 || !f.mayHit(text) {
		return false
	}
	for _, t := range analysis.Tokens(text) {
		if _, ok := f.byText[t.Text]; ok {
			return true
		}
	}
	return false
}

// passages cuts the messages that may be shown into passages and weighs them.
func (f *focus) passages(msgs []transcript.Message, may func(*transcript.Message) bool) []passage {
	var ps []passage
	var found [][]int // of each passage: the term of each of its tokens, -1 for none
	df := make([]int, len(f.terms))
	var tokens []analysis.Token
	for i := range msgs {
		m := &msgs[i]
		if !may(m) {
			continue
		}
		text := m.Content
		if m.Role == transcript.Tool && len(text) > toolBytes {
			text = strings.ToValidUTF8(text[:toolBytes], "")
		}
		if !f.mayHit(text) { // it may stand beside an answer, with its first words
			if first := split(beginning(text)); len(first) > 0 {
				ps = append(ps, passage{msg: i, text: first[0]})
				found = append(found, nil)
			}
			continue
		}
		for _, piece := range split(text) {
			ps = append(ps, passage{msg: i, text: piece})
			if !f.mayHit(piece) {
				found = append(found, nil)
				continue
			}
			tokens = analysis.AppendTokens(tokens[:0], piece)
			terms := make([]int, len(tokens))
			seen := map[int]bool{}
			for j, t := range tokens {
				terms[j] = -1
				if k, ok := f.byText[t.Text]; ok {
					terms[j] = k
					if !seen[k] {
						seen[k] = true
						df[k]++
					}
				}
			}
			found = append(found, terms)
		}
	}
	for i := range ps {
		ps[i].score = f.score(found[i], df, len(ps)) * roleWeight(msgs[ps[i].msg].Role)
	}
	return ps
}

// beginning returns as much of a text as holds its first passage.
func beginning(text string) string {
	if len(text) <= 4*passageChars {
		return text
	}
	return strings.ToValidUTF8(text[:4*passageChars], "")
}

// roleWeight prefers what people say a little.
func roleWeight(r transcript.Role) float64 {
	if r == transcript.UserRole {
		return 1
	}
	return .9
}

// score weighs a passage by the terms it holds: rare ones more, often ones
// little more than once, neighbours in the query that stand close by more.
func (f *focus) score(terms []int, df []int, n int) float64 {
	tf := map[int]int{}
	last := map[int]int{}
	score := 0.
	idf := func(k int) float64 { return math.Log(1 + (float64(n-df[k])+.5)/(float64(df[k])+.5)) }
	for j, k := range terms {
		if k < 0 {
			continue
		}
		tf[k]++
		for other, at := range last {
			a, b := f.terms[other].at, f.terms[k].at
			if a >= 0 && b == a+1 && j-at <= 8 {
				score += min(idf(other), idf(k)) / float64(j-at)
			}
		}
		last[k] = j
	}
	keys := make([]int, 0, len(tf))
	for k := range tf {
		keys = append(keys, k)
	}
	slices.Sort(keys) // sums of floats depend on the order
	for _, k := range keys {
		t := float64(tf[k])
		score += idf(k) * t * 2.2 / (t + 1.2*(.6+.4*float64(len(terms))/40))
	}
	return score
}

// split cuts a text into passages: whole sentences of one paragraph, up to
// passageChars. Blank lines and fences end a passage, as does a list's item
// once the passage is long.
func split(text string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if s := strings.TrimSpace(b.String()); s != "" {
			out = append(out, s)
		}
		b.Reset()
	}
	n := 0
	for _, line := range strings.Split(text, "\n") {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" || strings.HasPrefix(line, "```") {
			flush()
			n = 0
			continue
		}
		for _, s := range sentences(line) {
			c := runes(s)
			if n > 0 && n+c+1 > passageChars {
				flush()
				n = 0
			}
			for c > passageChars {
				head := cut(s, passageChars)
				out = append(out, head)
				s = strings.TrimSpace(strings.TrimPrefix(s, strings.TrimSuffix(head, "…")))
				c = runes(s)
			}
			if n > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(s)
			n += c + 1
		}
	}
	flush()
	return out
}

// sentences cuts a line that is too long for a passage after the marks that end
// a sentence.
func sentences(line string) []string { return cutSentences(line, false) }

func cutSentences(line string, short bool) []string {
	if !short && len(line) <= passageChars {
		return []string{line}
	}
	var out []string
	start := 0
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		switch r {
		case '.', '!', '?', ';':
			if end >= len(line) || line[end] != ' ' {
				continue
			}
		case '。', '！', '？', '；':
		default:
			continue
		}
		out = append(out, strings.TrimSpace(line[start:end]))
		start = end
	}
	if rest := strings.TrimSpace(line[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}
