// Command universal joins programs for macOS, one for each kind of processor,
// into one that runs on all of them. It is used when packages are made:
//
//	go run ./packaging/universal OUT PROGRAM PROGRAM...
//
// The programs stay as they are, signatures included: a fat file is a table of
// contents with whole programs behind it.
package main

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: universal OUT PROGRAM PROGRAM...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "universal:", err)
		os.Exit(1)
	}
}

func run(out string, paths []string) error {
	var programs [][]byte
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		programs = append(programs, text)
	}
	text, err := join(programs)
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o755)
}

// pageBits is the size of a page of the newer processors, as a power of two.
// Every program begins on a page of its own.
const pageBits = 14

// An entry of the table of contents, in the order of its bytes.
type entry struct {
	Processor, Variant, Offset, Size, Align uint32
}

// join returns the fat file of programs, which must be for different
// processors.
func join(programs [][]byte) ([]byte, error) {
	var table []entry
	seen := map[macho.Cpu]bool{}
	end := uint32(8 + binary.Size(entry{})*len(programs))
	for i, text := range programs {
		f, err := macho.NewFile(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("program %d: %w", i+1, err)
		}
		if seen[f.Cpu] {
			return nil, fmt.Errorf("program %d: another is for %v, too", i+1, f.Cpu)
		}
		seen[f.Cpu] = true
		offset := (end + 1<<pageBits - 1) &^ (1<<pageBits - 1)
		table = append(table, entry{uint32(f.Cpu), f.SubCpu, offset, uint32(len(text)), pageBits})
		end = offset + uint32(len(text))
	}
	out := binary.BigEndian.AppendUint32(nil, macho.MagicFat)
	out = binary.BigEndian.AppendUint32(out, uint32(len(table)))
	for _, e := range table {
		for _, n := range []uint32{e.Processor, e.Variant, e.Offset, e.Size, e.Align} {
			out = binary.BigEndian.AppendUint32(out, n)
		}
	}
	for i, e := range table {
		out = append(out, make([]byte, int(e.Offset)-len(out))...)
		out = append(out, programs[i]...)
	}
	return out, nil
}
