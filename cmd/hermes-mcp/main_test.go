package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hermes-mcp": main})
}

// Every promise to a user is a script over the program itself.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home)
			e.Setenv("HERMES_HOME", filepath.Join(home, ".hermes"))
			e.Setenv("PATH", e.Getenv("PATH"))
			// Where the program stands is part of what install writes.
			program, err := exec.LookPath("hermes-mcp")
			if err != nil {
				return err
			}
			// The folder for temporary files may be behind a link.
			if program, err = filepath.EvalSymlinks(program); err != nil {
				return err
			}
			e.Setenv("PROGRAM", program)
			return os.MkdirAll(home, 0o700)
		},
		Condition: func(name string) (bool, error) {
			if name != "race" {
				return false, fmt.Errorf("no condition %q", name)
			}
			return racing, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"many": many, "servers": servers, "rpc": rpc, "deaf": deaf, "await": await, "hold": hold, "exits": exits, "foreign": foreign,
			"json": inJSON, "atmost": atMost, "repeat": repeat, "raw": raw, "concat": concat, "setenv": setenv,
			"model": model, "embedder": embedderAt, "until": until, "expand": expand, "day": dayOfRecalls, "killings": killings,
			"stands": stands, "beside": beside, "pinned": pinned,
		},
	})
}
