package main

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hermes-mcp/hermes-mcp/transcript/residue"
)

// stands FOLDER WORD fails unless the word is somewhere in the bytes of the
// folder's files, packed or not; ! stands fails when it is.
func stands(ts *testscript.TestScript, neg bool, args []string) {
	found, err := residue.Find(ts.MkAbs(args[0]), strings.ToLower(args[1]))
	ts.Check(err)
	if neg && len(found) > 0 {
		ts.Fatalf("%q stands in %s", args[1], strings.Join(found, "; "))
	}
	if !neg && len(found) == 0 {
		ts.Fatalf("%q stands nowhere in %s", args[1], args[0])
	}
}
