package vector

import (
	"math"
	"slices"
	"sort"
)

// A Ranked is one thing in a ranking, with its score.
type Ranked struct {
	Key   int64
	Score float64
}

const (
	// outstanding is how many standard deviations above the mean of what is
	// near something must lie to count, at most outstandingShare of what one
	// among so few can deviate; promotedShare of that is given a place.
	outstanding                     = 2
	outstandingShare, promotedShare = 0.6, 0.55
	// place is where what stands out most is put at the latest, from 0.
	place = 2
	// alone is how many are kept when words find nothing.
	alone = 3
)

// Fuse merges what was found by words with what was found by meaning, each the
// best first and without doubles. Scores of words and of angles cannot be
// compared, and how much the nearest is to be trusted differs from model to
// model; what can be told of any model is whether something stands out from the
// rest of what is near. So the scores of words are kept, relative to their best;
// what stands out gains weight for each deviation beyond two; and the one thing
// that stands out most clearly has the third place if it has none before. What is
// near without standing out adds nothing. When words found nothing, the nearest
// few are all there is.
//
// The scores returned fall, and are those of words wherever words alone decided.
func Fuse(words, meaning []Ranked, weight float64) []Ranked {
	if len(words) == 0 {
		return slices.Clone(meaning[:min(alone, len(meaning))])
	}
	z := deviations(meaning)
	reach := math.Sqrt(float64(max(1, len(z)-1))) // the most that one of so many can deviate
	top := max(words[0].Score, math.SmallestNonzeroFloat64)
	out := slices.Clone(words)
	at := make(map[int64]int, len(words))
	for i, w := range words {
		at[w.Key] = i
	}
	for i, m := range meaning {
		gain := z[i] - min(outstanding, outstandingShare*reach)
		if gain <= 0 {
			break
		}
		j, both := at[m.Key]
		if !both {
			j = len(out)
			out = append(out, Ranked{m.Key, 0})
		}
		out[j].Score += weight * gain * top
	}
	sort.SliceStable(out, func(i, j int) bool { return out[j].Score < out[i].Score })
	if len(z) > 0 && z[0] >= promotedShare*reach {
		from := slices.IndexFunc(out, func(r Ranked) bool { return r.Key == meaning[0].Key })
		if from > place {
			r := out[from]
			r.Score = out[place].Score
			out = slices.Insert(slices.Delete(out, from, from+1), place, r)
		}
	}
	return out
}

// deviations says how far each score lies above the mean of all, in standard
// deviations; 0 for all when they are equal.
func deviations(all []Ranked) []float64 {
	n, sum, squares := float64(len(all)), 0.0, 0.0
	for _, r := range all {
		sum += r.Score
	}
	for _, r := range all {
		squares += (r.Score - sum/n) * (r.Score - sum/n)
	}
	out := make([]float64, len(all))
	sd := math.Sqrt(squares / n)
	if !(sd > 1e-9) {
		return out
	}
	for i, r := range all {
		out[i] = (r.Score - sum/n) / sd
	}
	return out
}
