package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// askForOne has a command that only holds others refuse a word that names none
// of them: it would show its help and say that all is well.
func askForOne(c *cobra.Command) {
	for _, below := range c.Commands() {
		askForOne(below)
		if !below.HasSubCommands() || below.Runnable() {
			continue
		}
		below.Args, below.SuggestionsMinimumDistance = cobra.ArbitraryArgs, 2
		below.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
		}
	}
}

// counts are cobra's words about the number of arguments.
var counts = regexp.MustCompile(`^(?:accepts|requires) (at least |at most |between \d+ and )?(\d+) arg\(s\),(?: only)? received (\d+)$`)

// plainly is what cobra says of a wrong command line, for people.
func plainly(used *cobra.Command, err error) string {
	m := counts.FindStringSubmatch(err.Error())
	if m == nil {
		return err.Error()
	}
	argument := "arguments"
	if m[2] == "1" {
		argument = "argument"
	}
	got := fmt.Sprintf("%s takes %s%s %s, not %s", used.CommandPath(), m[1], m[2], argument, m[3])
	if m[3] > m[2] && !strings.HasPrefix(m[1], "at least") && m[2] != "0" {
		got += "; put what belongs together between quotes"
	}
	return got
}

// advice is what may have been meant by a command line that does not parse.
func advice(used *cobra.Command, args []string) string {
	if used.HasSubCommands() {
		for _, word := range args {
			if near := used.SuggestionsFor(word); len(near) > 0 && !strings.HasPrefix(word, "-") {
				return fmt.Sprintf("did you mean %s?\n", strings.Join(near, " or "))
			}
		}
		return fmt.Sprintf("%s --help lists the commands\n", used.CommandPath())
	}
	return fmt.Sprintf("usage: %s\n", used.UseLine())
}
