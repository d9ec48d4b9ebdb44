// Command hermes-bench measures what hermes-mcp claims, through the code path
// that a client's tool call takes. It is not shipped.
//
//	hermes-bench recall  --data FILE [--form question|content|rare2] [--one-db] [--limit 10] [--embed DIR|URL]
//	hermes-bench queries --dir DIR [--table FILE]
//	hermes-bench speed   --messages N [--keep DIR] [--class NAME] [--profile FILE]
//	hermes-bench ingest  --dir DIR | --generate 2GB|files=50000 [--profile FILE]
//	hermes-bench soak    [--messages N] [--rate N] [--length 20s]
//	hermes-bench memory  [--writes N]
//	hermes-bench clients [--clients 50] [--calls 200] [--drop 10] [--messages N]
//	hermes-bench scanner --attack FILE ... --benign FILE ...
//	hermes-bench conflicts [--pairs FILE ...]
//	hermes-bench wordvectors --data FILE ... --out DIR
//
// Each prints a table, or with --json one JSON object on standard output.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one subcommand and returns the exit code: 0 measured, 1 failed,
// 2 wrong words.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var asJSON, measured bool
	root := &cobra.Command{
		Use:           "hermes-bench",
		Short:         "Measures hermes-mcp",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(*cobra.Command, []string) {
			measured = true // from here on an error is a failed measurement
		},
	}
	root.PersistentFlags().BoolVar(&asJSON, "json", false, "print one JSON object instead of a table")
	show := func(r report) error {
		if asJSON {
			return json.NewEncoder(stdout).Encode(r)
		}
		return r.table(stdout)
	}
	root.AddCommand(recallCommand(show), queriesCommand(show), speedCommand(show, stderr), ingestCommand(show), memoryCommand(show),
		soakCommand(show, stderr), clientsCommand(show, stderr), scannerCommand(show), conflictsCommand(show), wordVectorsCommand(show))
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(stderr, "hermes-bench:", err)
		if measured {
			return 1
		}
		return 2
	}
	return 0
}

// A report is the outcome of one subcommand: its JSON form is the struct
// itself, its table is for people.
type report interface{ table(w io.Writer) error }
