package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/testbed"
)

const module = "github.com/hermes-mcp/hermes-mcp/"

// rooms says which rooms each room may import, itself aside. cmd may import
// them all; nothing may import cmd.
var rooms = map[string][]string{
	"scanner":    {},
	"memstore":   {"scanner"},
	"transcript": {"scanner"},
	"provider":   {"memstore", "transcript", "scanner"},
	"summarizer": {"memstore", "transcript", "scanner"},
	"curator":    {"summarizer", "provider", "memstore", "transcript", "scanner"},
	"tools":      {"curator", "summarizer", "provider", "memstore", "transcript", "scanner"},
	"resources":  {"curator", "summarizer", "provider", "memstore", "transcript", "scanner"},
	"serve":      {"tools", "resources"},
}

// forTests is what no program may hold: what only tests may import.
const forTests = "testbed"

// kept says which folders alone may import a library; a subfolder counts with
// its room.
var kept = map[string][]string{
	"github.com/mark3labs/mcp-go":    {"serve", "tools", "resources", "cmd"},
	"github.com/rs/zerolog":          {"cmd"},
	"github.com/spf13/cobra":         {"cmd"},
	"github.com/schollz/progressbar": {"cmd"},
	"database/sql":                   {"transcript", "provider"},
	"modernc.org/sqlite":             {"transcript", "provider"},
}

// badNames say nothing about what a package is for.
var badNames = []string{"util", "utils", "common", "helpers", "types", "errors", "internal", "misc"}

func TestRoomsImportDownwardOnly(t *testing.T) {
	for path, text := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		room, _, _ := strings.Cut(path, "/")
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if ours, ok := strings.CutPrefix(imported, module); ok {
				other, _, _ := strings.Cut(ours, "/")
				if other == forTests {
					t.Errorf("%s: %s is for tests", path, other)
					continue
				}
				if other != room && room != "cmd" && !slices.Contains(rooms[room], other) {
					t.Errorf("%s: %s must not import %s", path, room, other)
				}
				if _, known := rooms[other]; !known && other != "cmd" {
					t.Errorf("%s: %s is no room; a new one needs a reason in README and a line here", path, other)
				}
			}
			for library, may := range kept {
				if (imported == library || strings.HasPrefix(imported, library+"/")) && !slices.Contains(may, room) {
					t.Errorf("%s: only %v may import %s", path, may, library)
				}
			}
		}
	}
}

func TestOnlyCmdReadsTheEnvironment(t *testing.T) {
	for path, text := range goFiles(t) {
		if strings.HasPrefix(path, "cmd/") || strings.HasPrefix(path, forTests+"/") || strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, call := range []string{"os.Getenv(", "os.LookupEnv(", "os.Environ(", "os.UserHomeDir("} {
			if bytes.Contains(text, []byte(call)) {
				t.Errorf("%s calls %s...)", path, call)
			}
		}
	}
}

func TestFilesStaySmallAndPackagesWellNamed(t *testing.T) {
	for path, text := range goFiles(t) {
		generated := bytes.Contains(text[:min(len(text), 200)], []byte("DO NOT EDIT"))
		if n := bytes.Count(text, []byte("\n")); n > 400 && !strings.HasSuffix(path, "_test.go") && !generated {
			t.Errorf("%s has %d lines, more than 400", path, n)
		}
		for dir := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(path)), "/") {
			if slices.Contains(badNames, dir) {
				t.Errorf("%s: a package named %s", path, dir)
			}
		}
	}
}

func TestFunctionsStayShort(t *testing.T) {
	for path, text := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, 0)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if n := set.Position(f.Body.Rbrace).Line - set.Position(f.Body.Lbrace).Line - 1; n > 70 {
				t.Errorf("%s: %s has %d lines, more than 70", path, f.Name.Name, n)
			}
		}
	}
}

// goFiles reads every Go file of the repository, by path from its root.
func goFiles(t *testing.T) map[string][]byte {
	t.Helper()
	root := testbed.Repository(t)
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") && path != root {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		files[filepath.ToSlash(relative)] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go files found")
	}
	return files
}
