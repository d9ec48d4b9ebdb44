package main

import (
	"bytes"
	"debug/macho"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// built is a program for macOS on a processor.
func built(t *testing.T, dir, arch string) []byte {
	t.Helper()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, arch)
	cmd := exec.Command("go", "build", "-o", out, source)
	cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH="+arch, "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTheJoinedProgramHoldsBothAsTheyWere(t *testing.T) {
	dir := t.TempDir()
	parts := map[macho.Cpu][]byte{macho.CpuAmd64: built(t, dir, "amd64"), macho.CpuArm64: built(t, dir, "arm64")}
	out := filepath.Join(dir, "both")
	if err := run(out, []string{filepath.Join(dir, "amd64"), filepath.Join(dir, "arm64")}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	fat, err := macho.NewFatFile(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(fat.Arches) != len(parts) {
		t.Errorf("%d programs in it", len(fat.Arches))
	}
	for _, a := range fat.Arches {
		part := make([]byte, a.Size)
		if _, err := bytes.NewReader(text).ReadAt(part, int64(a.Offset)); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if !bytes.Equal(part, parts[a.Cpu]) || a.Offset%(1<<14) != 0 || a.Align != 14 {
			t.Errorf("%v stands at %d, aligned to 2^%d, and is its own: %v", a.Cpu, a.Offset, a.Align, bytes.Equal(part, parts[a.Cpu]))
		}
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestWhatCannotBeJoinedIsRefused(t *testing.T) {
	program := built(t, t.TempDir(), "arm64")
	for want, programs := range map[string][][]byte{
		"program 2: another is for CpuArm64": {program, program},
		"program 1: ":                        {[]byte("#!/bin/sh\n"), program},
	} {
		if _, err := join(programs); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
