package static

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript/vector"
)

const wordPieces = `{"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
	"pre_tokenizer":{"type":"BertPreTokenizer"},
	"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,
	"vocab":{"[UNK]":0,"cafe":1,"play":2,"##ing":3,"##ed":4,"天":5,"!":6,"a":7}}}`

const pieces = `{"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Lowercase"},{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "}]},
	"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"},
	"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["▁play",-2],["ing",-3],["▁",-4],["p",-6],["lay",-5],["▁pl",-9]]}}`

func TestTextsBecomeTheTokensThatTheFileSays(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             []int
	}{
		{"words in pieces", wordPieces, "Playing played", []int{2, 3, 2, 4}},
		{"accents and capitals", wordPieces, "CAFÉ", []int{1}},
		{"a Chinese character stands alone", wordPieces, "play天play", []int{2, 5, 2}},
		{"a sign stands alone", wordPieces, "play!", []int{2, 6}},
		{"unknown words are left out", wordPieces, "play zebra a", []int{2, 7}},
		{"a word unknown in part is unknown", wordPieces, "playzebra", nil},
		{"control characters", wordPieces, "pl\u200bay\x00\n a", []int{2, 7}},
		{"nothing", wordPieces, " \t ", nil},
		{"no UTF-8", wordPieces, "play\xff\xfea", []int{2, 7}},
		{"the likeliest pieces", pieces, "PLAYING", []int{1, 2}},
		{"wide letters and many spaces", pieces, "ｐｌａｙ   play", []int{1, 1}},
		{"unknown characters are left out", pieces, "playzing", []int{1, 2}},
	} {
		tok, err := readTokenizer([]byte(c.file))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := tok.encode(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
}

func TestATokenizerThatIsNotUnderstoodIsRefused(t *testing.T) {
	for says, file := range map[string]string{
		"BPE":           `{"model":{"type":"BPE","vocab":{"a":0},"merges":[]}}`,
		"ByteLevel":     `{"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"WordPiece","vocab":{"a":0}}}`,
		"Strange":       `{"normalizer":{"type":"Sequence","normalizers":[{"type":"Strange"}]},"model":{"type":"WordPiece","vocab":{"a":0}}}`,
		"number":        `{"model":{"type":"WordPiece","vocab":{"a":-1}}}`,
		"empty":         `{"model":{"type":"Unigram","vocab":[]}}`,
		"pattern":       `{"normalizer":{"type":"Replace","pattern":{"Regex":"(?<=a)b"},"content":""},"model":{"type":"WordPiece","vocab":{"a":0}}}`,
		"too deep":      `{"normalizer":` + nested(12) + `,"model":{"type":"WordPiece","vocab":{"a":0}}}`,
		"inverted":      `{"pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":"Removed","invert":true},"model":{"type":"WordPiece","vocab":{"a":0}}}`,
		"unexpected":    `{"model":`,
		"token 1: json": `{"model":{"type":"Unigram","vocab":[["a",-1],["b","x"]]}}`,
	} {
		if _, err := readTokenizer([]byte(file)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func nested(n int) string {
	if n == 0 {
		return `{"type":"NFC"}`
	}
	return `{"type":"Sequence","normalizers":[` + nested(n-1) + `]}`
}

// A part of a file of tensors.
type lump struct {
	name, kind string
	shape      []int
	raw        []byte
}

func tensors(lumps ...lump) []byte {
	head, body := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte{}
	for _, l := range lumps {
		head[l.name] = map[string]any{"dtype": l.kind, "shape": l.shape, "data_offsets": []int{len(body), len(body) + len(l.raw)}}
		body = append(body, l.raw...)
	}
	text, err := json.Marshal(head)
	if err != nil {
		panic(err)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, body)
}

func f32(v ...float32) []byte {
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// folder writes a model.
func folder(t *testing.T, tokenizer string, file []byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, raw := range map[string][]byte{"tokenizer.json": []byte(tokenizer), "model.safetensors": file} {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// eight is a table of eight rows of two numbers.
func eight() []float32 {
	return []float32{9, 9, 1, 0, 0, 1, 1, 1, -1, 0, 0, -1, 2, 0, 3, 4}
}

func near(v []float32, want ...float64) bool {
	if len(v) != len(want) {
		return false
	}
	for i := range v {
		if math.Abs(float64(v[i])-want[i]) > 1e-3 {
			return false
		}
	}
	return true
}

func TestTheVectorOfATextIsTheMeanOfItsTokens(t *testing.T) {
	half := []byte{}
	for _, x := range eight() {
		half = binary.LittleEndian.AppendUint16(half, map[float32]uint16{9: 0x4880, 1: 0x3c00, 0: 0, -1: 0xbc00, 2: 0x4000, 3: 0x4200, 4: 0x4400}[x])
	}
	bytesOf := make([]byte, 16)
	for i, x := range eight() {
		bytesOf[i] = byte(int8(x))
	}
	tables := map[string]lump{
		"F32": {"embeddings", "F32", []int{8, 2}, f32(eight()...)},
		"F16": {"embeddings", "F16", []int{8, 2}, half},
		"I8":  {"embedding.weight", "I8", []int{8, 2}, bytesOf},
	}
	for kind, l := range tables {
		m, err := Open(folder(t, wordPieces, tensors(l)), 0)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		v, err := m.Query(t.Context(), "café playing") // (1,0) + (0,1) + (1,1)
		if err != nil || !near(v, math.Sqrt2/2, math.Sqrt2/2) {
			t.Errorf("%s: %v, %v", kind, v, err)
		}
		all, err := m.Documents(t.Context(), []string{"a", "zebra"}) // (3,4)
		if err != nil || !near(all[0], 0.6, 0.8) || all[1] != nil {
			t.Errorf("%s: %v, %v", kind, all, err)
		}
		if _, err := m.Query(t.Context(), "zebra"); !errors.Is(err, vector.ErrNone) {
			t.Errorf("%s: %v", kind, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWeightsAndAMappingAreMinded(t *testing.T) {
	mapping := []byte{}
	for _, row := range []int64{0, 1, 1, 0, 0, 0, 0, 0} {
		mapping = binary.LittleEndian.AppendUint64(mapping, uint64(row))
	}
	dir := folder(t, wordPieces, tensors(
		lump{"embeddings", "F32", []int{2, 3}, f32(1, 0, 5, 0, 1, 5)},
		lump{"mapping", "I64", []int{8}, mapping},
		lump{"weights", "F32", []int{8}, f32(1, 3, 1, 1, 1, 1, 1, 4)}))
	m, err := Open(dir, 2) // the third number is cut off
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	v, err := m.Query(t.Context(), "cafe a") // 3·(0,1) + 4·(1,0)
	if err != nil || !near(v, 0.8, 0.6) {
		t.Errorf("%v, %v", v, err)
	}
	whole, err := Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	if whole.Name() == m.Name() || !strings.HasPrefix(m.Name(), "model2vec:") {
		t.Errorf("%s, %s", whole.Name(), m.Name())
	}
}

func TestAFolderThatDoesNotFitTogetherIsRefused(t *testing.T) {
	table := lump{"embeddings", "F32", []int{8, 2}, f32(eight()...)}
	for says, file := range map[string][]byte{
		"no tensor":           tensors(lump{"other", "F32", []int{1}, f32(1)}),
		"7 rows":              tensors(lump{"embeddings", "F32", []int{7, 2}, f32(eight()[:14]...)}),
		"no table":            tensors(lump{"embeddings", "F32", []int{16}, f32(eight()...)}),
		"for a shape":         tensors(lump{"embeddings", "F32", []int{8, 3}, f32(eight()...)}),
		`kind "Q4"`:           tensors(lump{"embeddings", "Q4", []int{8, 2}, f32(eight()...)}),
		"row 99":              tensors(table, lump{"mapping", "I32", []int{8}, binary.LittleEndian.AppendUint32(make([]byte, 28), 99)}),
		"1 weights":           tensors(table, lump{"weights", "F32", []int{1}, f32(1)}),
		"no safetensors file": []byte("hello"),
		"a header of":         binary.LittleEndian.AppendUint64(nil, 1<<40),
		"lies at":             slices.Concat(binary.LittleEndian.AppendUint64(nil, 69), []byte(`{"embeddings":{"dtype":"F32","shape":[8,2],"data_offsets":[0,9999]}}`+" ")),
	} {
		if m, err := Open(folder(t, wordPieces, file), 0); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v", says, m, err)
		}
	}
	if _, err := Open(t.TempDir(), 0); err == nil || !strings.Contains(err.Error(), "no model2vec folder") {
		t.Errorf("%v", err)
	}
	if _, err := Open(folder(t, wordPieces, tensors(table)), 3); err == nil || !strings.Contains(err.Error(), "2 numbers, not 3") {
		t.Errorf("%v", err)
	}
}

func FuzzSafetensors(f *testing.F) {
	f.Add(tensors(lump{"embeddings", "F32", []int{8, 2}, f32(eight()...)}))
	f.Add(tensors(lump{"embeddings", "I8", []int{8, 1}, make([]byte, 8)}, lump{"mapping", "I64", []int{1}, make([]byte, 8)}, lump{"weights", "F16", []int{4}, make([]byte, 8)}))
	f.Add(slices.Concat(binary.LittleEndian.AppendUint64(nil, 70), []byte(`{"embeddings":{"dtype":"F32","shape":[9223372036854775807,2],"data_offsets":[0,8]}}`)))
	tok, err := readTokenizer([]byte(wordPieces))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := &Model{tokens: tok}
		if m.read(bytes.NewReader(raw), int64(len(raw)), 0) != nil {
			return
		}
		v, err := m.vector("café playing a!")
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if v != nil && !(math.Abs(sum-1) < 1e-3) {
			t.Fatalf("length %v", sum)
		}
	})
}

func FuzzTokenizer(f *testing.F) {
	f.Add(wordPieces, "Playing café 天!")
	f.Add(pieces, "playing  a lot")
	f.Add(`{"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Whitespace"},{"type":"Digits","individual_digits":true},{"type":"Punctuation"},{"type":"Split","pattern":{"String":"-"},"behavior":"Isolated"}]},"normalizer":{"type":"Prepend","prepend":"x"},"model":{"type":"WordPiece","vocab":{"a":0}}}`, "a-1a")
	f.Add(`{"pre_tokenizer":{"type":"Metaspace","split":false,"add_prefix_space":false},"normalizer":{"type":"Strip","strip_left":true},"model":{"type":"Unigram","vocab":[["a",1e308],["aa",-1e308]]}}`, " aaa")
	f.Fuzz(func(t *testing.T, file, text string) {
		tok, err := readTokenizer([]byte(file))
		if err != nil || len(text) > 1000 {
			return
		}
		for _, id := range tok.encode(text) {
			if id < 0 || id > tok.last {
				t.Fatalf("token %d of %d", id, tok.last)
			}
		}
	})
}

func BenchmarkSentence(b *testing.B) {
	tok, err := readTokenizer([]byte(wordPieces))
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("playing café a played! ", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tok.encode(text)
	}
}
