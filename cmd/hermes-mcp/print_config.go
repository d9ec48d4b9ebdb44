package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
)

func (a *app) printConfigCommand() *cobra.Command {
	return &cobra.Command{
		Use: "print-config CLIENT", Short: "Print what to put into a client's configuration",
		Long:      "Prints what to put into the configuration of a client, and on standard error\nthe file that it belongs into. Clients: " + strings.Join(clients.Names(), ", ") + ".",
		Args:      cobra.ExactArgs(1),
		ValidArgs: clients.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, true, func(context.Context) error {
				client, err := clients.Find(args[0])
				if err != nil {
					return failure{codeUsage, err}
				}
				command, err := a.self()
				if err != nil {
					return err
				}
				if a.userHome() != "" {
					fmt.Fprintf(a.err, "%s reads %s\n", client.Title, client.File(a.clientPlace()))
				}
				_, err = fmt.Fprint(a.out, client.Snippet(clients.Server{Command: command, Args: a.serveArgs()}))
				return err
			})
		},
	}
}

// self is the path of this program as a client may start it later. The program
// that go run made is gone by then: where the install puts it is named instead.
func (a *app) self() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if passing(path) {
		return a.lasting()
	}
	return path, nil
}

// passing tells whether path is go run's own copy.
func passing(path string) bool {
	return strings.Contains(filepath.ToSlash(path), "/go-build") && filepath.Base(filepath.Dir(path)) == "exe"
}

// lasting is where the program is kept when it was started by go run.
func (a *app) lasting() (string, error) {
	home := a.userHome()
	if home == "" {
		return "", fmt.Errorf("no home folder to put the program into: build it with go build, then run it from there")
	}
	name := "hermes-mcp"
	if os.PathSeparator == '\\' {
		name += ".exe"
	}
	return filepath.Join(home, ".local", "bin", name), nil
}
