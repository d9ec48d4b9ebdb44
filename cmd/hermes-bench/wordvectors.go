package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// wordVectors are what `wordvectors` makes: vectors of words by what stands
// beside them (positive pointwise mutual information, reduced by a few rounds of
// subspace iteration), in the folder that model2vec saves. They are a stand-in
// for a real model where none is at hand: they know the words of the sets they
// are made from and nothing else.
type wordVectors struct {
	Folder  string `json:"folder"`
	Words   int    `json:"words"`
	Pairs   int    `json:"pairs"`
	Numbers int    `json:"dimensions"`
}

func (r wordVectors) table(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %d words, %d pairs, %d dimensions\n", r.Folder, r.Words, r.Pairs, r.Numbers)
	return err
}

func wordVectorsCommand(show func(report) error) *cobra.Command {
	var data []string
	var out string
	var dimensions int
	c := &cobra.Command{
		Use: "wordvectors", Short: "Make a small static embedding model of the text of recall sets", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var texts []string
			for _, path := range data {
				hs, err := readHistories(path)
				if err != nil {
					return err
				}
				for _, h := range hs {
					texts = append(texts, h.texts()...)
				}
			}
			r, err := makeWordVectors(texts, dimensions, out)
			if err != nil {
				return err
			}
			return show(r)
		},
	}
	c.Flags().StringSliceVar(&data, "data", nil, "files of histories, of which only what was said is read")
	c.Flags().StringVar(&out, "out", "", "folder to make")
	c.Flags().IntVar(&dimensions, "dimensions", 256, "numbers of a vector")
	_ = c.MarkFlagRequired("data") // the flags exist: they were defined above
	_ = c.MarkFlagRequired("out")
	return c
}

// texts is what was said, one conversation after another.
func (h history) texts() []string {
	var out []string
	for _, s := range h.Sessions {
		_, msgs := h.session(s)
		for _, m := range msgs {
			out = append(out, m.Content)
		}
	}
	return out
}

const (
	contextWords = 6 // to either side
	leastSeen    = 2 // of a word
	mostWords    = 40_000
	rounds       = 4
	rareWord     = 1e-4 // words that are rarer than this share count almost fully
)

// A row is one word's neighbours.
type row struct {
	at    []int32
	value []float32
}

func makeWordVectors(texts []string, dimensions int, out string) (wordVectors, error) {
	var words [][]string
	counts := map[string]int{}
	total := 0.0
	for _, t := range texts {
		w := strings.FieldsFunc(strings.ToLower(t), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		words = append(words, w)
		for _, x := range w {
			counts[x]++
			total++
		}
	}
	var vocab []string
	for w, n := range counts {
		if n >= leastSeen {
			vocab = append(vocab, w)
		}
	}
	slices.SortFunc(vocab, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	vocab = vocab[:min(len(vocab), mostWords)]
	if len(vocab) < dimensions {
		return wordVectors{}, fmt.Errorf("%d words are too few for %d dimensions", len(vocab), dimensions)
	}
	rows, pairs := neighbours(words, vocab)
	vectors := reduce(rows, dimensions)
	for i, w := range vocab {
		weight := rareWord / (rareWord + float64(counts[w])/total)
		scale(vectors[i], weight/math.Max(length(vectors[i]), 1e-12))
	}
	return wordVectors{out, len(vocab), pairs, dimensions}, saveModel(out, vocab, vectors)
}

// neighbours counts what stands beside what, and how much more often than
// chance would have it.
func neighbours(texts [][]string, vocab []string) ([]row, int) {
	id := map[string]int32{}
	for i, w := range vocab {
		id[w] = int32(i)
	}
	seen := make([]map[int32]float32, len(vocab))
	for i := range seen {
		seen[i] = map[int32]float32{}
	}
	for _, text := range texts {
		for i, w := range text {
			a, ok := id[w]
			if !ok {
				continue
			}
			for d := 1; d <= contextWords && i+d < len(text); d++ {
				if b, ok := id[text[i+d]]; ok {
					seen[a][b] += 1 / float32(d)
					seen[b][a] += 1 / float32(d)
				}
			}
		}
	}
	sums, smooth, all, allSmooth := make([]float64, len(vocab)), make([]float64, len(vocab)), 0.0, 0.0
	for i, m := range seen {
		for _, n := range m {
			sums[i] += float64(n)
		}
		smooth[i] = math.Pow(sums[i], 0.75)
		all += sums[i]
		allSmooth += smooth[i]
	}
	rows, pairs := make([]row, len(vocab)), 0
	for i, m := range seen {
		for j, n := range m {
			if v := math.Log(float64(n) * allSmooth / (sums[i] * smooth[j])); v > 0 {
				rows[i].at = append(rows[i].at, j)
				rows[i].value = append(rows[i].value, float32(v))
				pairs++
			}
		}
	}
	return rows, pairs
}

// reduce finds the directions in which the rows differ most: it multiplies a
// random start with the rows again and again.
func reduce(rows []row, dimensions int) [][]float64 {
	rnd := rand.New(rand.NewPCG(1, 2))
	q := make([][]float64, len(rows))
	for i := range q {
		q[i] = make([]float64, dimensions)
		for j := range q[i] {
			q[i][j] = rnd.NormFloat64()
		}
	}
	for range rounds {
		q = times(rows, q, dimensions)
		orthogonal(q, dimensions)
	}
	return times(rows, q, dimensions)
}

func times(rows []row, q [][]float64, dimensions int) [][]float64 {
	out := make([][]float64, len(rows))
	for i, r := range rows {
		sum := make([]float64, dimensions)
		for k, j := range r.at {
			v := float64(r.value[k])
			for d, x := range q[j] {
				sum[d] += v * x
			}
		}
		out[i] = sum
	}
	return out
}

// orthogonal makes the columns of q stand at right angles, each of length one.
func orthogonal(q [][]float64, dimensions int) {
	for c := range dimensions {
		dots := make([]float64, c)
		for _, r := range q {
			for d := range dots {
				dots[d] += r[c] * r[d]
			}
		}
		norm := 0.0
		for _, r := range q {
			for d, dot := range dots {
				r[c] -= dot * r[d]
			}
			norm += r[c] * r[c]
		}
		norm = 1 / math.Max(math.Sqrt(norm), 1e-12)
		for _, r := range q {
			r[c] *= norm
		}
	}
}

func length(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}

// saveModel writes the folder as model2vec does.
func saveModel(dir string, vocab []string, vectors [][]float64) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	numbers := map[string]int{}
	for i, w := range vocab {
		numbers[w] = i
	}
	tokenizer, err := json.Marshal(map[string]any{
		"version": "1.0", "normalizer": map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model":         map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": numbers},
	})
	if err != nil {
		return err
	}
	columns := len(vectors[0])
	head, err := json.Marshal(map[string]any{"embeddings": map[string]any{
		"dtype": "F32", "shape": []int{len(vectors), columns}, "data_offsets": []int{0, 4 * columns * len(vectors)}}})
	if err != nil {
		return err
	}
	raw := append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...)
	for _, v := range vectors {
		for _, x := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), tokenizer, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "model.safetensors"), raw, 0o644)
}
