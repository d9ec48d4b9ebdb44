package main

import (
	"slices"
	"time"
)

// percentile returns the p-th percentile (0 to 100) of samples by nearest
// rank, 0 when there are none.
func percentile(samples []time.Duration, p float64) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	s := slices.Clone(samples)
	slices.Sort(s)
	i := int(p/100*float64(len(s))+0.5) - 1
	return s[min(max(i, 0), len(s)-1)]
}

// ms is d in milliseconds, rounded to a hundredth.
func ms(d time.Duration) float64 { return float64(d.Round(10*time.Microsecond)) / 1e6 }

// us is d in microseconds.
func us(d time.Duration) float64 { return float64(d) / 1e3 }

// ratio is a/b rounded to a thousandth, 0 when b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return round3(a / b)
}

func round3(x float64) float64 { return float64(int64(x*1000+0.5)) / 1000 }
