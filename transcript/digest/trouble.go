package digest

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// maxApart is how many calls may lie between a failure and what fixed it.
const maxApart = 40

// harmless are programs whose status 1 says no more than "nothing found".
var harmless = map[string]bool{"grep": true, "rg": true, "diff": true, "test": true, "[": true, "cmp": true, "pgrep": true,
	"git diff": true, "git grep": true, "which": true, "command": true, "egrep": true, "ls": true}

// problems returns what failed, with what was done before it worked.
func (x *extractor) problems() []Problem {
	var out []Problem
	said := map[string]int{}
	for i, s := range x.steps {
		if s.result == nil || s.refused || s.result.OwnTrace || !s.failed {
			continue
		}
		if e := s.result.ExitCode; harmless[s.do] && (e == nil || *e == 1) {
			continue
		}
		text, telling := errorLine(s.result.Content)
		if text == "" || s.looks && !telling {
			continue // it looked for something that is not there
		}
		if e := s.result.ExitCode; !telling && e != nil {
			text = cut(s.say, errorChars-20) + ": exit status " + strconv.Itoa(*e)
		}
		p := Problem{Error: text, MessageID: id(*s.result)}
		p.Fix, p.FixMessageID = x.fix(i)
		if at, ok := said[text]; ok {
			if out[at].Fix == "" || p.Fix != "" {
				out[at].Fix, out[at].FixMessageID = p.Fix, p.FixMessageID
			}
			continue
		}
		said[text] = len(out)
		out = append(out, p)
	}
	return out
}

// checks are programs whose failure is mended by editing: they build or test.
var checks = map[string]bool{"go": true, "npm": true, "npx": true, "pnpm": true, "yarn": true, "bun": true, "cargo": true, "make": true,
	"mise": true, "python": true, "python3": true, "node": true, "pytest": true, "tsc": true, "eslint": true, "ruff": true, "mypy": true,
	"gcc": true, "g++": true, "clang": true, "rustc": true, "javac": true, "mvn": true, "gradle": true, "gradlew": true, "swift": true,
	"dotnet": true, "phpunit": true, "rspec": true, "ctest": true, "cmake": true, "jest": true, "vitest": true, "uv": true, "poetry": true,
	"deno": true, "task": true, "just": true, "bazel": true, "tox": true, "golangci-lint": true, "terraform": true, "php": true, "ruby": true}

// fix returns what was done between a failure and the next success of the same
// thing: for what builds or tests the last change, for another program what
// it, or its kin, was called with instead.
func (x *extractor) fix(i int) (text, message string) {
	failed := x.steps[i]
	if failed.do == "" || failed.looks {
		return "", ""
	}
	program, _, _ := strings.Cut(failed.do, " ")
	change, worked, named := -1, false, false
	for j := i + 1; j < len(x.steps) && j <= i+maxApart && !worked; j++ {
		s := x.steps[j]
		good := s.result != nil && !s.failed
		kin, _, _ := strings.Cut(s.do, " ")
		worked = good && s.do == failed.do
		switch {
		case worked && change < 0 && s.alters && !checks[program] && s.say != failed.say:
			change = j // done differently
		case worked || !good:
		case checks[program] && s.changes:
			// The file that the error names is the likelier place.
			if at := s.file != "" && strings.Contains(failed.result.Content, path.Base(s.file)); at || !named {
				change, named = j, named || at
			}
		case !checks[program] && kin == program && s.alters && s.say != failed.say:
			change = j
		}
	}
	if change < 0 || !worked {
		return "", ""
	}
	c := x.steps[change]
	text = cut(c.say, lineChars)
	if m := x.byID[c.msg]; m != nil && spoken(m) {
		if why := allSentences(cut(m.Content, lineChars)); len(why) > 0 {
			text = cut(why[0]+" — "+text, lineChars)
		}
	}
	return text, strconv.FormatInt(c.msg, 10)
}

var failing = regexp.MustCompile(`(?m)^(?:Traceback \(most recent call last\)|panic: |fatal: |error(?:\[E\d+\])?: |npm ERR! |--- FAIL|FAIL\t|FAILED )|: command not found$`)

// looksFailed tells whether a command failed of which no status is known.
func looksFailed(r *transcript.Message) bool {
	return r != nil && r.ExitCode == nil && !r.IsError && kindOf(r.ToolName) == shellTool && toldExit(r.Content) == nil && failing.MatchString(head(r.Content))
}

func head(s string) string {
	if len(s) > 8<<10 {
		return s[:8<<10]
	}
	return s
}

var (
	telling  = regexp.MustCompile(`(?i)\b(?:error|exception|panic|fatal|failed|failure|cannot|can't|not found|undefined|no such file|denied|refused|timed? ?out|invalid|unexpected|unrecognized|missing|issues? found)\b`)
	noError  = regexp.MustCompile(`(?i)\b(?:0|no) (?:errors?|failed|failures?)\b|\bpassed\b`)
	exitLine = regexp.MustCompile(`(?i)^(?:error: )?(?:exit code|exit status|process exited|command failed with exit|chunk id|wall time|total output lines|original token count|output:|warning: truncated)`)
	ansi     = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
)

// precise is how tools begin a line that names the place of an error.
var precise = regexp.MustCompile(`^\S+[:(]\d+[:,]\d+\)?:|^(?:panic|fatal|error(?:\[E\d+\])?): |^--- FAIL: |^E  +\S|^npm ERR! [a-z]`)

// noise is what stands around errors and says nothing.
var noise = regexp.MustCompile(`^(?:===|\[[^\]]*\] \$|[-=_*.]+$)|[{;,]$`)

// errorLine returns the line of an output that tells best what went wrong, and
// whether it has the words of an error.
func errorLine(output string) (line string, says bool) {
	output = ansi.ReplaceAllString(head(output), "")
	var first, told, exact, last string
	for _, l := range strings.Split(output, "\n") {
		l = strings.TrimSpace(l)
		if l == "" || exitLine.MatchString(l) {
			continue
		}
		last = l
		switch {
		case noise.MatchString(l) || len(l) < 8:
			continue
		case exact == "" && precise.MatchString(l):
			exact = l
		case told == "" && telling.MatchString(l) && !noError.MatchString(l):
			told = l
		}
		if first == "" {
			first = l
		}
	}
	switch {
	case strings.Contains(output, "Traceback (most recent call last)"):
		return cut(last, errorChars), true
	case exact != "":
		return cut(exact, errorChars), true
	case told != "":
		return cut(told, errorChars), true
	}
	return cut(first, errorChars), false
}

// maxDecisions is how many decisions are told of one session.
const maxDecisions = 20

// deciding are the words with which something is settled.
var deciding = regexp.MustCompile(`(?i)\b(?:(?:we|i)(?:'ve| have)? (?:decided|settled|chose|agreed)|decision:|decided (?:to|on|against)|let(?:'s|s| us) (?:go with|use|stick with|keep|switch to|do|drop|avoid)|(?:we|i)(?:'ll| will) (?:go with|use|stick with|keep|switch to)|go(?:ing)? with (?:option|approach|the)|from now on|always use|never use|don't use|do not use|(?:i|we|user) (?:would |'d )?prefer |agreed[:,. ])|决定|采用|改用|选择|选用|不要用|以后都|统一用|就用|に決め|を採用|にしましょう`)

// cues are what a sentence holds that deciding can match, to pass over the
// others quickly.
var cues = []string{"decid", "decision", "settled", "chose", "agreed", "let's", "lets ", "let us", "'ll ", " will ", "go with", "going with",
	"from now on", "always use", "never use", "n't use", "not use", "prefer",
	"决定", "采用", "改用", "选择", "选用", "不要用", "以后都", "统一用", "就用", "に決め", "を採用", "にしましょう"}

func cued(text string) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc(cues, func(c string) bool { return strings.Contains(lower, c) })
}

func settles(text string) bool { return cued(text) && deciding.MatchString(text) }

// decisions returns the sentences in which something was settled. What a
// person settles counts wherever it stands; of what an agent writes, plans
// and code are passed over by the length of a sentence.
func decisions(msgs []transcript.Message) []Line {
	var out []Line
	said := map[string]bool{}
	for i := range msgs {
		m := &msgs[i]
		if !spoken(m) || !cued(m.Content) {
			continue
		}
		for _, p := range split(m.Content) {
			if !cued(p) {
				continue
			}
			for _, one := range allSentences(p) {
				if n := runes(one); n < 5 || n < 18 && n == len(one) || n > lineChars || strings.HasSuffix(one, "?") || said[one] || !settles(one) {
					continue
				}
				said[one] = true
				out = append(out, Line{Text: one, Role: m.Role, MessageID: id(*m)})
			}
		}
	}
	if len(out) > maxDecisions { // the latest hold
		out = out[len(out)-maxDecisions:]
	}
	return out
}

// allSentences cuts a line after every sentence, however short.
func allSentences(line string) []string { return cutSentences(line, true) }

const maxURLs = 20

var address = regexp.MustCompile("https?://[^\\s<>\"'`)\\]}，。、）]+")

// urls returns the addresses that were named, once each.
func urls(msgs []transcript.Message) []Line {
	var out []Line
	seen := map[string]bool{}
	add := func(m *transcript.Message, text string) {
		for _, u := range address.FindAllString(text, -1) {
			if u = strings.TrimRight(u, ".,;:!?\\"); !seen[u] && len(out) < maxURLs {
				seen[u] = true
				out = append(out, Line{Text: u, Role: m.Role, MessageID: id(*m)})
			}
		}
	}
	for i := range msgs {
		m := &msgs[i]
		if spoken(m) || m.Role == transcript.System && m.Kind == "" {
			add(m, m.Content)
		}
		for _, c := range m.ToolCalls {
			if u := readArgs(c.Args).text("url"); u != "" {
				add(m, u)
			}
		}
	}
	return out
}

var leftOpen = regexp.MustCompile(`(?i)\b(?:next steps?|todo|remaining|not yet|still (?:need|have) to|left to do|follow[- ]up|would you like|should i|shall i|do you want me)\b|下一步|还需要|待办`)

// open returns what the end of a session leaves to do: the questions and next
// steps of the agent's last words, and a prompt that nobody answered.
func open(msgs []transcript.Message) []Line {
	var out []Line
	for i := len(msgs) - 1; i >= 0; i-- {
		m := &msgs[i]
		if !spoken(m) {
			continue
		}
		if m.Role == transcript.UserRole {
			return append(out, Line{Text: cut(m.Content, lineChars), Role: m.Role, MessageID: id(*m)})
		}
		for _, p := range split(m.Content) {
			if leftOpen.MatchString(p) && len(out) < 3 {
				out = append(out, Line{Text: cut(p, lineChars), Role: m.Role, MessageID: id(*m)})
			}
		}
		return out
	}
	return out
}
