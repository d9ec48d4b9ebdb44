package shell

import "strings"

// A simple command of a command line: its words, and the files that its
// output goes to.
type simple struct {
	words   []string
	outputs []FileAction
}

// A FileAction is a file and what is done to it.
type FileAction struct {
	Path   string
	Action string // Read, Edit, Write or Delete
}

// lex cuts a command line into simple commands. It knows quotes, pipes and
// lists, redirections, and here-documents, whose text it passes over; what it
// does not understand stays a word.
func lex(line string) []simple {
	var l lexer
	l.rest = line
	l.run()
	return l.done
}

type lexer struct {
	rest     string
	done     []simple
	cur      simple
	word     strings.Builder
	inWord   bool
	redirect string // the operator whose target comes next
	heredocs []string
}

func (l *lexer) endWord() {
	if !l.inWord {
		return
	}
	w := l.word.String()
	l.word.Reset()
	l.inWord = false
	switch l.redirect {
	case ">", ">|":
		l.cur.outputs = append(l.cur.outputs, FileAction{w, Write})
	case ">>":
		l.cur.outputs = append(l.cur.outputs, FileAction{w, Edit})
	case "<<":
		l.heredocs = append(l.heredocs, w)
	case "":
		l.cur.words = append(l.cur.words, w)
	}
	l.redirect = ""
}

func (l *lexer) endCommand() {
	l.endWord()
	if len(l.cur.words)+len(l.cur.outputs) > 0 {
		l.done = append(l.done, l.cur)
	}
	l.cur = simple{}
}

func (l *lexer) run() {
	for len(l.rest) > 0 {
		c := l.rest[0]
		switch {
		case c == '\\' && len(l.rest) > 1:
			if l.rest[1] != '\n' {
				l.put(l.rest[1:2])
			}
			l.rest = l.rest[2:]
		case c == '\'':
			l.quoted('\'')
		case c == '"':
			l.quoted('"')
		case c == '#' && !l.inWord:
			l.skipLine()
		case c == '\n':
			l.endCommand()
			l.rest = l.rest[1:]
			l.skipHeredocs()
		case c == ';', c == '|', c == '(', c == ')':
			if c == '(' && l.inWord { // $( or a function
				l.put("(")
				l.rest = l.rest[1:]
				break
			}
			l.endCommand()
			l.rest = strings.TrimLeft(l.rest, ";|()")
		case c == '&' && !strings.HasPrefix(l.rest, "&>"):
			l.endCommand()
			l.rest = strings.TrimLeft(l.rest, "&")
		case c == '>' || c == '<' || c == '&':
			l.redirection()
		case c == ' ' || c == '\t' || c == '\r':
			l.endWord()
			l.rest = l.rest[1:]
		default:
			l.put(l.rest[:1])
			l.rest = l.rest[1:]
		}
	}
	l.endCommand()
}

func (l *lexer) put(s string) {
	l.word.WriteString(s)
	l.inWord = true
}

func (l *lexer) skipLine() {
	if i := strings.IndexByte(l.rest, '\n'); i >= 0 {
		l.rest = l.rest[i:]
	} else {
		l.rest = ""
	}
}

// quoted takes in a quoted piece of a word.
func (l *lexer) quoted(q byte) {
	l.inWord = true
	for i := 1; i < len(l.rest); i++ {
		switch c := l.rest[i]; {
		case c == q:
			l.rest = l.rest[i+1:]
			return
		case c == '\\' && q == '"' && i+1 < len(l.rest):
			i++
			l.word.WriteByte(l.rest[i])
		default:
			l.word.WriteByte(c)
		}
	}
	l.rest = ""
}

// redirection reads >, >>, <, << and the forms with a number or & in front.
func (l *lexer) redirection() {
	if w := l.word.String(); l.inWord && (w == "1" || w == "2") {
		l.word.Reset()
		l.inWord = false
		if w == "2" {
			defer func() {
				if l.redirect == ">" || l.redirect == ">>" {
					l.redirect = "err"
				}
			}()
		}
	}
	l.endWord()
	l.rest = strings.TrimPrefix(l.rest, "&")
	n := 1
	for n < len(l.rest) && n < 3 && strings.IndexByte("><|-&", l.rest[n]) >= 0 {
		n++
	}
	op := l.rest[:n]
	l.rest = l.rest[n:]
	switch {
	case strings.HasPrefix(op, "<<<"):
		l.redirect = "string"
	case strings.HasPrefix(op, "<<"):
		l.redirect = "<<"
	case strings.HasPrefix(op, "<"):
		l.redirect = "<"
	case strings.HasSuffix(op, "&"):
		l.redirect = "fd"
	case strings.HasPrefix(op, ">>"):
		l.redirect = ">>"
	default:
		l.redirect = ">"
	}
}

// skipHeredocs passes over the texts announced on the line just ended.
func (l *lexer) skipHeredocs() {
	for _, end := range l.heredocs {
		for len(l.rest) > 0 {
			line, rest, _ := strings.Cut(l.rest, "\n")
			l.rest = rest
			if strings.TrimLeft(line, "\t") == end {
				break
			}
		}
	}
	l.heredocs = nil
}
