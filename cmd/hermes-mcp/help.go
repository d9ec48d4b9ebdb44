package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// shortenHelp keeps the settings, which are flags of every command, out of the
// help of all but the program and serve: two screens of them hide what a command
// has of its own. They go on being taken.
func (a *app) shortenHelp(root *cobra.Command) {
	whole := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root || cmd.Name() == "serve" {
			whole(cmd, args)
			return
		}
		for name := range a.settingFlags {
			root.PersistentFlags().Lookup(name).Hidden = true
		}
		whole(cmd, args)
		fmt.Fprintln(a.out, "\nSettings are flags of every command too, such as --memory-char-limit: hermes-mcp --help lists them.")
	})
}
