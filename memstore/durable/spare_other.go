//go:build !linux

package durable

import (
	"errors"
	"os"
)

// NewSpare is none: this system has no files without a name.
func NewSpare(string) Spare { return Spare{} }

func link(*os.File, string) error { return errors.ErrUnsupported }
