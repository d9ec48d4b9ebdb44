package curator

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Human tells whether m is a prompt that a person wrote.
func Human(m transcript.Message) bool {
	return m.Role == transcript.UserRole && m.Kind == "" && !m.OwnTrace && !m.Rewound && !m.OffPath &&
		strings.TrimSpace(scanner.StripFences(m.Content)) != ""
}

// newest is the time of the newest human prompt among msgs.
func newest(msgs []transcript.Message) time.Time {
	var t time.Time
	for _, m := range msgs {
		if Human(m) && m.At.After(t) {
			t = m.At
		}
	}
	return t
}

const (
	// longParagraph is from how many characters on a paragraph is taken for
	// pasted: people who type are brief.
	longParagraph = 700
	// longQuote is from how many characters on quoted words are somebody else's.
	longQuote = 40
)

const reporting = `says?|said|reads?|wrote|writes|states?|stated|tells?|told|claims?|claimed|quotes?|recommends?|suggests?|sagt|schreibt|steht|lautet|dit|dice`

var (
	fencedBlock = regexp.MustCompile("(?s)```.*?(?:```|$)|~~~.*?(?:~~~|$)")
	element     = regexp.MustCompile(`(?s)<([A-Za-z][\w-]*)[^<>]*>.*?</[A-Za-z][\w-]*>`)
	quoted      = regexp.MustCompile(`(?s)"[^"]*"|“[^”]*”|«[^»]*»|「[^」]*」|„[^“”]*[“”]`)
	// reported is a line in which the user announces somebody else's words, or
	// says in own words what a text or a third person says.
	reported = regexp.MustCompile(`(?i)\b(?:` + reporting + `)\b[^.!?]{0,30}[:,]|` +
		`\b(?:it|he|she|they|page|site|website|web|readme|docs?|documentation|document|article|file|issue|ticket|comment|author|manual|guide|post|blog|text|log|message|mail|e-?mail|output|error|answer|agent|assistant|model|tool)s?\b[^.!?,;]{0,30}\b(?:` + reporting + `)\b|` +
		`(?:写道|说|称)[:：]`)
	wanted = regexp.MustCompile(`(?i)\b(?:remember|memori[sz]e|save|note|keep in mind|merk|notier|retiens|recuerda|guarda)|记住|记下|保存|覚えて`)
)

// ownWords is what of a prompt its writer said, without what was pasted or
// quoted: code, quoted lines and long quotations, markup, long paragraphs, and
// whatever follows a line that ends by announcing it. It errs on the side of
// leaving words out, since what is left out only waits for a person.
func ownWords(prompt string) string {
	text := scanner.StripFences(strings.ReplaceAll(prompt, "\r\n", "\n"))
	text = fencedBlock.ReplaceAllString(text, "\n")
	text = element.ReplaceAllString(text, " ")
	text = quoted.ReplaceAllStringFunc(text, func(q string) string {
		if utf8.RuneCountInString(q) > longQuote {
			return " "
		}
		return q
	})
	var own []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if utf8.RuneCountInString(paragraph) > longParagraph {
			continue
		}
		kept, whole := ownLines(paragraph)
		own = append(own, kept...)
		if !whole {
			break
		}
	}
	return strings.Join(own, "\n")
}

// ownLines are the lines of a paragraph up to one that announces other words;
// whole is false when there was one.
func ownLines(paragraph string) (own []string, whole bool) {
	for line := range strings.SplitSeq(paragraph, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, ">") || strings.HasPrefix(line, "|") {
			continue
		}
		if rule := strings.Trim(line, "-=_*# "); rule == "" && len(line) >= 3 {
			return own, false // a rule sets off what was pasted
		}
		if at := reported.FindStringIndex(line); at != nil {
			return append(own, line[:at[0]]), false
		}
		own = append(own, line)
		if (strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")) && !wanted.MatchString(line) {
			return own, false
		}
	}
	return own, true
}
