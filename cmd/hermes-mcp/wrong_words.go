package main

import (
	"fmt"
	"regexp"
	"slices"
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

// emptyMeans are the commands to which an empty argument says something, or which
// say themselves what is missing.
var emptyMeans = []string{"search", "hook", "find", "add", "replace", "remove", "call", "install", "uninstall", "print-config"}

// refuseEmpty has every command refuse an empty argument, as an unset variable of
// a shell gives it: undo "" would undo the last edit, and backup "" go elsewhere.
func refuseEmpty(c *cobra.Command) {
	for _, below := range c.Commands() {
		refuseEmpty(below)
		check := below.Args
		if below.HasSubCommands() || slices.Contains(emptyMeans, below.Name()) {
			continue
		}
		below.Args = func(cmd *cobra.Command, args []string) error {
			if check != nil {
				if err := check(cmd, args); err != nil {
					return err
				}
			}
			for i, word := range args {
				if strings.TrimSpace(word) == "" {
					return fmt.Errorf("argument %d of %s is empty", i+1, cmd.CommandPath())
				}
			}
			return nil
		}
	}
}

var (
	// superfluous are cobra's words about an argument where none is taken.
	superfluous = regexp.MustCompile(`^unknown command (".*") for "`)
	// unread are cobra's words about the value of a flag.
	unread = regexp.MustCompile(`^invalid argument (".*") for "(.*)" flag: `)
)

// counts are cobra's words about the number of arguments.
var counts = regexp.MustCompile(`^(?:accepts|requires) (at least |at most |between \d+ and )?(\d+) arg\(s\),(?: only)? received (\d+)$`)

// plainly is what cobra says of a wrong command line, for people.
func plainly(used *cobra.Command, err error) string {
	if m := superfluous.FindStringSubmatch(err.Error()); m != nil && !used.HasSubCommands() {
		return fmt.Sprintf("%s takes no argument, and not %s", used.CommandPath(), m[1])
	}
	if m := unread.FindStringSubmatch(err.Error()); m != nil && strings.Contains(err.Error(), "strconv.Parse") {
		kind := "is no number"
		if strings.Contains(err.Error(), "strconv.ParseBool") {
			kind = "is neither true nor false"
		}
		return fmt.Sprintf("%s %s %s", m[2], m[1], kind)
	}
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
			if near := used.SuggestionsFor(word); len(near) > 0 && word != "" && !strings.HasPrefix(word, "-") {
				return fmt.Sprintf("did you mean %s?\n", strings.Join(near, " or "))
			}
		}
		return fmt.Sprintf("%s --help lists the commands\n", used.CommandPath())
	}
	return fmt.Sprintf("usage: %s\n", used.UseLine())
}
