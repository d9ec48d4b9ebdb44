//go:build !unix

package main

import "time"

// peakRSS is 0: this system does not tell it the way we ask.
func peakRSS() float64 { return 0 }

// cpuTime is 0, as peakRSS.
func cpuTime() time.Duration { return 0 }

// cpuSeconds is 0: the system does not say.
func cpuSeconds() float64 { return 0 }
