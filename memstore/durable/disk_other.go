//go:build !linux && !darwin

package durable

import "os"

// Boot is "": whether the machine was started anew cannot be told here.
func Boot() string { return "" }

// Start is a hint that this system has no use for.
func Start(*os.File) {}
