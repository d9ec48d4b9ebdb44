package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"

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

// beside REQUEST CODE ARGS... runs a program while a server has the archive open:
// the server is asked before and after, its answers go into the files before and
// after, what the program says into said.
func beside(ts *testscript.TestScript, _ bool, args []string) {
	request := strings.TrimSpace(ts.ReadFile(args[0])) + "\n"
	server := program(ts, []string{"hermes-mcp", "serve"})
	in, err := server.StdinPipe()
	ts.Check(err)
	out, err := server.StdoutPipe()
	ts.Check(err)
	ts.Check(server.Start())
	answers := bufio.NewReader(out)
	ask := func() string {
		_, err := io.WriteString(in, request)
		ts.Check(err)
		line, err := answers.ReadString('\n')
		ts.Check(err)
		return line
	}
	before := ask()
	cmd := program(ts, args[2:])
	said, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); strconv.Itoa(code) != args[1] {
		ts.Fatalf("exit code %d: %v\n%s", code, err, said)
	}
	after := ask()
	ts.Check(in.Close())
	ts.Check(server.Wait())
	for name, text := range map[string]string{"before": before, "after": after, "said": string(said)} {
		write(ts, name, text)
	}
}

// pinned CODE ARGS... runs a program while somebody reads what the archive was.
func pinned(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", filepath.Join(ts.Getenv("HERMES_HOME"), "mcp", "archive.db"))
	ts.Check(err)
	defer db.Close()
	tx, err := db.Begin()
	ts.Check(err)
	defer tx.Rollback() //nolint:errcheck // it only read
	var n int
	ts.Check(tx.QueryRow("SELECT count(*) FROM message").Scan(&n))
	cmd := program(ts, args[1:])
	said, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d: %v\n%s", code, err, said)
	}
	write(ts, "said", string(said))
}

func write(ts *testscript.TestScript, name, text string) {
	ts.Check(writeNew(ts.MkAbs(name), func(w io.Writer) error {
		_, err := fmt.Fprint(w, text)
		return err
	}))
}
