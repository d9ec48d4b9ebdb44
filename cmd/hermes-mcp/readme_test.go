package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/testbed"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

func TestREADMEHasTheTableOfSettings(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(testbed.Repository(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("| key | type | default | flag | environment | meaning |\n|---|---|---|---|---|---|\n")
	for _, s := range settings.All {
		meaning := s.Meaning
		if s.Hermes {
			meaning += " †"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s | %s | %s |\n", s.Key, s.Type, code("", s.Default), code("--", s.Flag), code("", s.Env), meaning)
	}
	if !strings.Contains(string(readme), want.String()) {
		t.Errorf("README.md does not hold this table:\n%s", want.String())
	}
}

func TestREADMENamesEverySource(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(testbed.Repository(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range source.All() {
		if !strings.Contains(string(readme), "| `"+src.Name()+"` |") {
			t.Errorf("README.md has no row for the source %s", src.Name())
		}
	}
}

func code(prefix, text string) string {
	if text == "" {
		return ""
	}
	return "`" + prefix + text + "`"
}

func TestREADMENamesEveryCommand(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(testbed.Repository(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	a := &app{}
	for _, c := range a.root().Commands() {
		if !c.Hidden && !strings.Contains(string(readme), "| `"+c.Name()) {
			t.Errorf("README.md has no row for the command %s", c.Name())
		}
	}
}
