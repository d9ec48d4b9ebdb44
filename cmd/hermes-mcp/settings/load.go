package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"
)

// A Problem is something in a configuration that was not taken.
type Problem struct {
	Where   string `json:"where"` // a file, a flag or a variable
	Line    int    `json:"line,omitempty"`
	Key     string `json:"key,omitempty"`
	Reason  string `json:"reason"`
	Foreign bool   `json:"-"` // in Hermes' own file, which is not ours to judge: never a reason to stop
}

// String is the problem on one line.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Where)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Reason)
	return b.String()
}

// Advice is the problem with what to do about it.
func (p Problem) Advice() string {
	if p.Key != "" {
		return p.String() // the reason says what it may be
	}
	return p.String() + ": mend the file, or move it aside to go by the defaults"
}

// mayAskForApproval tells whether what was not understood may have said that
// edits wait for a person: the whole file, or a word close to that setting. A
// server then holds edits back until it is mended.
func (p Problem) mayAskForApproval() bool {
	return !p.Foreign && (p.Key == "" || strings.Contains(p.Key, "approv") || strings.Contains(p.Reason, "write_approval"))
}

// Load returns the settings of home: flags holds the flags that were given, by
// flag name, and env looks a variable up. The Config is usable whatever the
// problems are.
func Load(home string, flags map[string]string, env func(string) string) (Config, []Problem) {
	c := Defaults()
	var problems []Problem
	problems = append(problems, c.fromHermes(filepath.Join(home, "config.yaml"))...)
	problems = append(problems, c.fromFile(filepath.Join(home, "mcp", "config.yaml"))...)
	for _, s := range All {
		if s.Env == "" {
			continue
		}
		if text := env(s.Env); text != "" {
			problems = append(problems, c.take(s, text, s.Env, 0)...)
		}
	}
	for _, s := range All {
		if text, given := flags[s.Flag]; given && s.Flag != "" {
			problems = append(problems, c.take(s, text, "--"+s.Flag, 0)...)
		}
	}
	if !c.WriteApproval && slices.ContainsFunc(problems, Problem.mayAskForApproval) {
		c.WriteApproval, c.Origins["memory.write_approval"] = true, "what could not be read"
	}
	if c.Auxiliary.UseHermes {
		problems = append(problems, c.borrow(home)...)
	}
	return c, problems
}

// take sets one value, or says why not.
func (c *Config) take(s Setting, text, where string, line int) []Problem {
	key := s.Key
	if err := s.put(c, text); err != nil {
		return []Problem{{Where: where, Line: line, Key: key, Reason: err.Error()}}
	}
	c.Origins[key] = where
	return nil
}

// A leaf is one value of a YAML file with its dotted key.
type leaf struct {
	key, text string
	line      int
	bad       string // why the value cannot be a setting
}

// leaves flattens the mappings of a YAML document. A missing file has none.
func leaves(path string) ([]leaf, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if where := (*fs.PathError)(nil); errors.As(err, &where) {
		return nil, where.Err // whoever asks names the file
	}
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if doc.Kind == 0 {
		return nil, nil
	}
	root := resolve(doc.Content[0])
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("is not a mapping of keys to values")
	}
	var out []leaf
	flatten("", root, 0, &out)
	return out, nil
}

// deepest bounds the nesting, for an alias may lead to itself.
const deepest = 8

func flatten(prefix string, n *yaml.Node, depth int, out *[]leaf) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], resolve(n.Content[i+1])
		l := leaf{key: prefix + name.Value, line: name.Line}
		row, _ := find(l.key)
		switch {
		case value.Kind == yaml.MappingNode && row.Type == typeObject:
			text, err := objectText(value)
			if l.text = text; err != nil {
				l.bad = err.Error()
			}
		case value.Kind == yaml.MappingNode && depth < deepest:
			if _, known := find(l.key); !known {
				flatten(l.key+".", value, depth+1, out)
				continue
			}
			l.bad = "is a block of keys, not a value"
		case value.Kind == yaml.MappingNode:
			l.bad = "is nested too deeply"
		case value.Kind == yaml.SequenceNode:
			l.text, l.bad = wordsText(value, row.Type == typeCommand)
		case value.Tag == "!!null":
			continue // a key without a value says nothing
		default:
			l.text = value.Value
		}
		*out = append(*out, l)
	}
}

// wordsText is a list as the text of a setting: words with commas between, or
// exactly, as JSON. bad says why it is no such list.
func wordsText(list *yaml.Node, exactly bool) (text, bad string) {
	words := make([]string, 0, len(list.Content))
	for _, item := range list.Content {
		item = resolve(item)
		if item.Kind != yaml.ScalarNode {
			bad = "is not a list of plain words"
		}
		words = append(words, item.Value)
	}
	if !exactly {
		return strings.Join(words, ","), bad
	}
	raw, err := json.Marshal(words)
	if err != nil {
		return "", err.Error()
	}
	return string(raw), bad
}

func resolve(n *yaml.Node) *yaml.Node {
	for range deepest {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

func (c *Config) fromFile(path string) []Problem {
	values, err := leaves(path)
	if err != nil {
		return []Problem{{Where: path, Reason: err.Error()}}
	}
	var problems []Problem
	for _, l := range values {
		s, known := find(l.key)
		switch {
		case !known:
			reason := "no such setting"
			if below := firstBelow(l.key); below != "" {
				reason += " by itself; below it are keys such as " + below
			} else if near := nearest(l.key); near != "" {
				reason += "; did you mean " + near + "?"
			}
			problems = append(problems, Problem{Where: path, Line: l.line, Key: l.key, Reason: reason})
		case l.bad != "":
			problems = append(problems, Problem{Where: path, Line: l.line, Key: l.key, Reason: l.bad})
		default:
			problems = append(problems, c.take(s, l.text, path, l.line)...)
		}
	}
	return problems
}

// fromHermes reads only the keys that both programs have; the rest of the file
// is none of our business.
func (c *Config) fromHermes(path string) []Problem {
	values, err := leaves(path)
	if err != nil {
		return []Problem{{Where: path, Reason: err.Error(), Foreign: true}}
	}
	var problems []Problem
	for _, l := range values {
		s, known := find(l.key)
		if !known || !s.Hermes {
			continue
		}
		if l.bad != "" {
			problems = append(problems, Problem{Where: path, Line: l.line, Key: l.key, Reason: l.bad})
			continue
		}
		problems = append(problems, c.take(s, l.text, path, l.line)...)
	}
	for i := range problems {
		problems[i].Foreign = true
	}
	return problems
}

// nearest returns the known key that key was probably meant to be, or "".
func nearest(key string) string {
	best, distance := "", len(key)/2+1
	for _, s := range All {
		for _, known := range s.names() {
			d := min(edits(key, known), edits(last(key), last(known))+1)
			if d < distance || d == distance && edits(key, known) < edits(key, best) {
				best, distance = known, d
			}
		}
	}
	return best
}

// firstBelow is the first known key below key, "" when it is no block.
func firstBelow(key string) string {
	for _, s := range All {
		for _, known := range s.names() {
			if strings.HasPrefix(known, key+".") {
				return known
			}
		}
	}
	return ""
}

// names are the keys that a row stands for.
func (s Setting) names() []string {
	if !strings.Contains(s.Key, anyTask) {
		return []string{s.Key}
	}
	var all []string
	for _, name := range Tasks {
		all = append(all, strings.Replace(s.Key, anyTask, name, 1))
	}
	return all
}

func last(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// edits is the Levenshtein distance of two short ASCII words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
