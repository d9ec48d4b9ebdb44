package static

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// A tokenizer turns a text into numbers of tokens, as tokenizer.json says.
// Unknown ones are left out.
type tokenizer struct {
	normal []func(string) string
	split  []func([]string) []string
	word   func(dst []int, word string) []int // appends the tokens of a word
	last   int                                // the largest number of a token
}

func (t *tokenizer) encode(text string) []int {
	text = strings.ToValidUTF8(text, " ")
	for _, f := range t.normal {
		text = f(text)
	}
	words := []string{text}
	for _, f := range t.split {
		words = f(words)
	}
	var out []int
	for _, w := range words {
		if w != "" {
			out = t.word(out, w)
		}
		if len(out) > maxTokens {
			break
		}
	}
	return out
}

// A part is one step of a tokenizer: its type, and all fields that any has.
type part struct {
	Type  string `json:"type"`
	Parts []part `json:"normalizers"`
	Steps []part `json:"pretokenizers"`
	steps
}

// steps are the fields of the steps.
type steps struct {
	CleanText        bool    `json:"clean_text"`
	Chinese          bool    `json:"handle_chinese_chars"`
	StripAccents     *bool   `json:"strip_accents"`
	Lowercase        bool    `json:"lowercase"`
	Left             bool    `json:"strip_left"`
	Right            bool    `json:"strip_right"`
	Prepend          string  `json:"prepend"`
	Pattern          pattern `json:"pattern"`
	Content          string  `json:"content"`
	Behavior         string  `json:"behavior"`
	Invert           bool    `json:"invert"`
	Replacement      string  `json:"replacement"`
	PrependScheme    string  `json:"prepend_scheme"`
	AddPrefixSpace   *bool   `json:"add_prefix_space"`
	Split            *bool   `json:"split"`
	IndividualDigits bool    `json:"individual_digits"`
}

// A pattern is a string, or a regular expression.
type pattern struct {
	String string `json:"String"`
	Regex  string `json:"Regex"`
}

// readTokenizer understands the text of a tokenizer.json.
func readTokenizer(raw []byte) (*tokenizer, error) {
	var file struct {
		Normalizer   *part `json:"normalizer"`
		PreTokenizer *part `json:"pre_tokenizer"`
		Model        struct {
			Type     string          `json:"type"`
			Vocab    json.RawMessage `json:"vocab"`
			Prefix   *string         `json:"continuing_subword_prefix"`
			MaxChars int             `json:"max_input_chars_per_word"`
			UnkID    *int            `json:"unk_id"`
		} `json:"model"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	t := &tokenizer{}
	var err error
	if file.Normalizer != nil {
		if t.normal, err = normalizers(*file.Normalizer, 0); err != nil {
			return nil, err
		}
	}
	if file.PreTokenizer != nil {
		if t.split, err = splitters(*file.PreTokenizer, 0); err != nil {
			return nil, err
		}
	}
	m := file.Model
	switch {
	case m.Type == "WordPiece", m.Type == "" && len(m.Vocab) > 0 && m.Vocab[0] == '{':
		var w wordPiece
		if err := json.Unmarshal(m.Vocab, &w.vocab); err != nil {
			return nil, fmt.Errorf("vocab: %w", err)
		}
		w.prefix, w.maxChars = "##", 100
		if m.Prefix != nil {
			w.prefix = *m.Prefix
		}
		if m.MaxChars > 0 {
			w.maxChars = m.MaxChars
		}
		for piece, id := range w.vocab {
			if id < 0 || id > math.MaxInt32 {
				return nil, fmt.Errorf("token %q has the number %d", piece, id)
			}
			w.longest, t.last = max(w.longest, len(piece)), max(t.last, id)
		}
		t.word = w.word
		return t, nil
	case m.Type == "Unigram":
		u, err := readUnigram(m.Vocab, m.UnkID)
		if err != nil {
			return nil, err
		}
		t.word, t.last = u.word, len(u.scores)-1
		return t, nil
	}
	return nil, fmt.Errorf("a tokenizer of type %q is not understood; WordPiece and Unigram are", m.Type)
}

// A wordPiece cuts a word into the longest pieces that it knows, from its start.
type wordPiece struct {
	vocab    map[string]int
	prefix   string // of pieces that do not begin a word
	maxChars int
	longest  int // bytes
}

func (w wordPiece) word(dst []int, word string) []int {
	if utf8.RuneCountInString(word) > w.maxChars {
		return dst
	}
	before := len(dst)
	for at := 0; at < len(word); {
		prefix := ""
		if at > 0 {
			prefix = w.prefix
		}
		end := min(len(word), at+w.longest)
		for ; end > at; end-- {
			if end < len(word) && !utf8.RuneStart(word[end]) {
				continue
			}
			if id, ok := w.vocab[prefix+word[at:end]]; ok {
				dst = append(dst, id)
				break
			}
		}
		if end == at { // one unknown piece makes the word unknown
			return dst[:before]
		}
		at = end
	}
	return dst
}

// A unigram cuts a word into the pieces that are most likely together.
type unigram struct {
	ids     map[string]int
	scores  []float64
	unknown float64 // score of a character that is in no piece
	unkID   int
	longest int // bytes
}

func readUnigram(raw json.RawMessage, unk *int) (*unigram, error) {
	var list [][2]json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("vocab: %w", err)
	}
	if len(list) == 0 {
		return nil, errors.New("vocab: it is empty")
	}
	u := &unigram{ids: make(map[string]int, len(list)), scores: make([]float64, len(list)), unkID: -1}
	if unk != nil {
		u.unkID = *unk
	}
	for i, pair := range list {
		var piece string
		if err := errors.Join(json.Unmarshal(pair[0], &piece), json.Unmarshal(pair[1], &u.scores[i])); err != nil {
			return nil, fmt.Errorf("vocab: token %d: %w", i, err)
		}
		u.ids[piece] = i
		u.longest = max(u.longest, len(piece))
		u.unknown = min(u.unknown, u.scores[i])
	}
	u.unknown -= 10 // rather any pieces than none
	return u, nil
}

// word finds the best cut from left to right, remembering for every place the
// best way to it.
func (u *unigram) word(dst []int, word string) []int {
	type step struct {
		score float64
		from  int
		id    int // -1 for unknown
	}
	best := make([]step, len(word)+1)
	for i := range best {
		best[i] = step{math.Inf(-1), -1, -1}
	}
	best[0].score = 0
	for at, r := range word {
		here := best[at].score
		if math.IsInf(here, -1) {
			continue
		}
		one := at + utf8.RuneLen(r)
		for end := one; end <= min(len(word), at+u.longest); end++ {
			if end < len(word) && !utf8.RuneStart(word[end]) {
				continue
			}
			if id, ok := u.ids[word[at:end]]; ok && here+u.scores[id] > best[end].score {
				best[end] = step{here + u.scores[id], at, id}
			}
		}
		if here+u.unknown > best[one].score {
			best[one] = step{here + u.unknown, at, -1}
		}
	}
	var back []int
	for at := len(word); at > 0; at = best[at].from {
		if id := best[at].id; id >= 0 && id != u.unkID {
			back = append(back, id)
		}
	}
	for i := len(back) - 1; i >= 0; i-- {
		dst = append(dst, back[i])
	}
	return dst
}
