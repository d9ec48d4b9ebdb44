package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
)

// An install is one run of install or uninstall.
type install struct {
	hooks, dryRun, noArchive, all bool
	asked                         bool  // --hooks was given: for other agents than Claude Code they are no matter of course
	record                        *bool // --record; nil when it was not given
	asJSON                        bool
	scope                         string
	words                         io.Writer // for a person; nobody with asJSON
}

func (a *app) installCommand() *cobra.Command {
	var how install
	var record bool
	c := &cobra.Command{
		Use: "install CLIENT...", Short: "Set a client up: server, and hook where it has hooks",
		Long: `Writes the server into a client's configuration, starts what was written and
asks it for the memory. The old file is kept beside; all else in it stays as it
was. --all sets up every client that is on this machine.

Clients: ` + strings.Join(clients.Names(), ", ") + ".",
		Example: "  hermes-mcp install claude-code\n  hermes-mcp install --all --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error {
				how.asked = cmd.Flags().Changed("hooks")
				if cmd.Flags().Changed("record") {
					how.record = &record
				}
				chosen, err := a.chosen(args, how)
				if err != nil {
					return err
				}
				return a.install(ctx, chosen, a.speaking(how))
			})
		},
		ValidArgs: clients.Names(),
	}
	how.bind(c)
	c.Flags().BoolVar(&how.hooks, "hooks", true, "have the agent run our hook at its events; Claude Code does unless this is false, Codex, Gemini CLI and Cursor only when this is given")
	c.Flags().Lookup("hooks").DefValue = "" // what it is depends on the client, so help names no default
	c.Flags().BoolVar(&record, "record", false, "let the model keep turns in the archive by itself (serve --record), for clients whose conversations are in no file, such as Claude Desktop")
	c.Flags().BoolVar(&how.noArchive, "no-archive", false, "let the server archive nothing by itself")
	return c
}

func (a *app) uninstallCommand() *cobra.Command {
	var how install
	c := &cobra.Command{
		Use: "uninstall CLIENT...", Short: "Take server and hook out of a client again",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error {
				chosen, err := a.chosen(args, how)
				if err != nil {
					return err
				}
				return a.uninstall(chosen, a.speaking(how))
			})
		},
		ValidArgs: clients.Names(),
	}
	how.bind(c)
	return c
}

func (i *install) bind(c *cobra.Command) {
	c.Flags().BoolVar(&i.all, "all", false, "every client that is on this machine")
	c.Flags().BoolVar(&i.dryRun, "dry-run", false, "only say what would be done")
	c.Flags().BoolVar(&i.asJSON, "json", false, "print what was done as JSON")
	c.Flags().StringVar(&i.scope, "scope", "user", "user (everywhere) or project (the client's file in this folder)")
}

// chosen are the clients that a command line means.
func (a *app) chosen(names []string, how install) ([]clients.Client, error) {
	if how.scope != "user" && how.scope != "project" {
		return nil, usage("--scope %q is neither user nor project", how.scope)
	}
	var out []clients.Client
	switch {
	case how.all && len(names) > 0:
		return nil, usage("name clients or say --all, not both")
	case how.all:
		out = slices.DeleteFunc(slices.Clone(clients.All), func(c clients.Client) bool {
			return !c.Present(a.clientPlace()) || how.scope == "project" && c.Project == ""
		})
		if len(out) == 0 {
			return nil, fmt.Errorf("no client found on this machine; name one that will be: %s", strings.Join(clients.Names(), ", "))
		}
	case len(names) == 0:
		return nil, usage("name a client (%s), or say --all", strings.Join(clients.Names(), ", "))
	}
	for _, name := range names {
		c, err := clients.Find(name)
		if err != nil {
			return nil, failure{codeUsage, err}
		}
		if how.scope == "project" && c.Project == "" {
			return nil, usage("%s has no configuration for one project; leave --scope out", c.Title)
		}
		out = append(out, c)
	}
	return out, nil
}
